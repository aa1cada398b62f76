"""The command `kzoo`.

Results go to stdout, as tables or with --json as JSON; progress and messages go to stderr. The exit code is 0 when all
went well, 1 when something failed on the way, 2 when what was asked for cannot be done.
"""

import argparse
import importlib.metadata
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import kzoo
from kzoo.cli.arguments import PRESET, lengths, words
from kzoo.cli.output import by_share, print_json, show_preset, show_progress
from kzoo.cli.plots import plot_parsers
from kzoo.cli.training import results, results_parser, train, train_parser
from kzoo.errors import InputError, KzooError, UnreachableError
from kzoo.evaluation.report import text_table
from kzoo.saving import catalogue


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code."""
    options = _parser().parse_args(arguments)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow's start-up notes are no message of ours
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # PyTorch: the models are small, and threads wait for each other
    try:
        return int(options.run(options) or 0)
    except KzooError as error:
        print(f"kzoo: {error}", file=sys.stderr)
        return 1 if isinstance(error, UnreachableError) else 2
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except OSError as error:
        print(f"kzoo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("kzoo: interrupted", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("kzoo", description="A Keras model zoo for length generalisation.")
    parser.add_argument("--version", action="version", version=f"kzoo {kzoo.__version__}")
    verbs = parser.add_subparsers(title="verbs", required=True, metavar="VERB")

    def verb(name: str, run: Any, about: str, *, has_json: bool = True) -> argparse.ArgumentParser:
        sub = verbs.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".")
        sub.set_defaults(run=run)
        if has_json:
            sub.add_argument("--json", action="store_true", help="print JSON")
        return sub

    sub = verb("list", _list, "list the presets")
    sub.add_argument("pattern", nargs="?", default="*", help='as "onestep*"')
    sub = verb("info", _info, "tell what is known of a preset")
    sub.add_argument("preset", help=PRESET)
    sub = verb("generate", _generate, "write a preset's output for texts")
    sub.add_argument("preset", help=PRESET)
    sub.add_argument("texts", nargs="+", metavar="TEXT", help='as "4 7 9 8"; - reads lines from standard input')
    sub.add_argument("--max-length", type=int, help="stop after so many tokens")
    sub = verb("evaluate", _evaluate, "measure a preset's accuracy by length")
    sub.add_argument("preset", help=PRESET)
    sub.add_argument("--task", help="another task than the preset's own")
    sub.add_argument("--lengths", type=lengths, help="as 15,30,100 or 10:100:10 (default: the paper's)")
    sub.add_argument("--examples", type=int, help="examples a length (default: 2000, of a stratum 500)")
    sub.add_argument("--seed", type=int, default=0, help="seed of the examples (default: 0)")
    sub.add_argument(
        "--stress", action="store_true", help="measure the strata of the task, as numbers that end with 9s"
    )
    sub.add_argument("--strata", type=words, help="with --stress: only these, as carry_chain,nines")
    sub.add_argument("--metrics", type=lambda text: text.split(","), help="as edit_distance,accuracy_before_end")
    sub.add_argument("--steps", type=int, help="of a model with shared depth (default: the preset's)")
    sub.add_argument("--split", default="test", help='another split of the task, as "rep3" (default: test)')
    sub.add_argument("--dtype", help="compute in it, as mixed_bfloat16 (default: float32)")
    sub.add_argument("--write", action="store_true", help="add the rows to the preset's results.json")
    train_parser(verb("train", train, "train a preset from a recipe, or many from a grid of them"))
    sub = verb("export", _export, "write a preset as a file that runs without kzoo")
    sub.add_argument("preset", help=PRESET)
    sub.add_argument("--format", required=True, help="keras, safetensors, saved_model, onnx or torch")
    sub.add_argument("--output", required=True, type=Path, help="the file, or the folder of a saved_model, to write")
    sub = verb("card", _card, "write a preset's card and picture", has_json=False)
    sub.add_argument("presets", nargs="*", metavar="PRESET", help="names or folders (default: all)")
    sub.add_argument("--output", type=Path, help="the folder to write to (default: print the card)")
    sub = verb("download", _download, "fetch a preset from the Hub into the cache")
    sub.add_argument("preset", help="a name, or hf://owner/name[@revision]")
    sub.add_argument("--force", action="store_true", help="download again what is cached")
    sub = verb("publish", _publish, "put a preset on the Hub")
    sub.add_argument("preset", help="a folder, or a bundled name")
    sub.add_argument("address", help="hf://owner/name")
    sub.add_argument("--tag", help='a tag for the commit, as "v1"')
    sub.add_argument("--private", action="store_true", help="make the repository private")
    sub.add_argument("--dry-run", action="store_true", help="check and show what would be sent, and send nothing")
    results_parser(verb("results", results, "show our results beside the papers'"))
    plot_parsers(verbs.add_parser("plot", help="draw attention or accuracy by length"))
    verb("doctor", _doctor, "tell about backends, versions, devices and the cache")
    return parser


def _list(options: argparse.Namespace) -> None:
    rows = []
    for name in catalogue.list_presets(options.pattern):
        info = catalogue.preset_info(name)
        accuracies = {
            row["length"]: row["value"]
            for row in info.get("results", {}).get("rows", [])
            if row["metric"] == "sequence_accuracy" and row["weights_sha256"] == _digest(info) and "stratum" not in row
        }
        meta = info.get("metadata", {})
        row = {"preset": name, "task": meta.get("task"), "parameters": meta.get("parameters")}
        rows.append({**row, "sequence_accuracy": accuracies})
    for name in catalogue.list_pinned(options.pattern):
        rows.append({"preset": name, "task": None, "parameters": None, "sequence_accuracy": {}})
    if options.json:
        return print_json(rows)
    lines = [
        [
            row["preset"],
            row["task"] or "",
            "" if row["parameters"] is None else f"{row['parameters']:,}",
            by_share(row["sequence_accuracy"]) or f"see: kzoo info {row['preset']}",
        ]
        for row in rows
    ]
    print(text_table(["preset", "task", "parameters", "sequence accuracy by length"], lines) if lines else "no presets")


def _info(options: argparse.Namespace) -> None:
    if options.json:
        return print_json(catalogue.preset_info(options.preset))
    show_preset(options.preset)


def _generate(options: argparse.Namespace) -> None:
    texts = [line for text in options.texts for line in (sys.stdin.read().splitlines() if text == "-" else [text])]
    if not texts:
        raise InputError("there is no text to read")
    outputs = kzoo.from_preset(options.preset).generate(texts, max_length=options.max_length)
    if options.json:
        return print_json([{"input": text, "output": output} for text, output in zip(texts, outputs, strict=True)])
    print("\n".join(outputs))


def _evaluate(options: argparse.Namespace) -> None:
    if options.write and (options.steps is not None or options.split != "test" or options.dtype):
        raise InputError("results are kept for a preset as it is: --write does not go with --steps, --split or --dtype")
    if options.write and options.preset in catalogue.list_presets():
        raise InputError(
            f"{options.preset} is bundled and not written by its name: give --write a folder, as a copy of it"
        )
    if options.stress and (options.metrics or options.split != "test"):
        raise InputError("--stress measures sequence accuracy on strata, so it does not go with --metrics or --split")
    if options.strata and not options.stress:
        raise InputError("--strata goes with --stress")
    folder = catalogue.own_folder(options.preset) if options.write else None
    model = kzoo.from_preset(options.preset, dtype=options.dtype) if options.dtype else options.preset
    common: dict[str, Any] = {"seed": options.seed, "progress": show_progress(), "steps": options.steps}
    if options.examples is not None:
        common["examples"] = options.examples
    if options.stress:
        from kzoo.evaluation.stress import stress

        report = stress(model, options.task, options.lengths, strata=options.strata, **common)
    else:
        own = {"metrics": options.metrics, "split": options.split}
        report = kzoo.evaluate(model, options.task, options.lengths, **own, **common)
    if folder is not None:
        from kzoo.evaluation.results import add_report

        left_out = add_report(folder, report)
        if left_out:
            print(f"kzoo: {len(left_out)} rows that are there are of more examples and stay", file=sys.stderr)
    print(report.to_json() if options.json else report)


def _export(options: argparse.Namespace) -> None:
    path = kzoo.export(kzoo.from_preset(options.preset), options.output, format=options.format)
    print(path) if not options.json else print_json(
        {"preset": options.preset, "format": options.format, "path": str(path)}
    )


def _card(options: argparse.Namespace) -> None:
    from kzoo.cards.card import render_card, write_card

    for preset in options.presets or catalogue.list_presets():
        print(render_card(preset) if options.output is None else write_card(preset, options.output))


def _download(options: argparse.Namespace) -> None:
    folder = catalogue.preset_folder(options.preset, force=options.force)
    if options.json:
        return print_json({"preset": catalogue.preset_name(options.preset, folder), "folder": str(folder)})
    print(folder)


def _publish(options: argparse.Namespace) -> None:
    plan = {"tag": options.tag, "private": options.private, "dry_run": options.dry_run}
    done = kzoo.upload_preset(options.address, options.preset, **plan)
    if options.json:
        return print(done.to_json())
    if options.dry_run:
        print("nothing was sent; this would be:")
    elif not done.changed:
        print("nothing was sent, all of it is there:")
    print(done)


def _doctor(options: argparse.Namespace) -> int:
    from kzoo.backend import configured, ensure_backend, installed

    packages = ("keras", "numpy", "safetensors", "huggingface-hub", "jax", "torch", "tensorflow", "tensorflow-cpu")
    found: dict[str, Any] = {"kzoo": kzoo.__version__, "python": sys.version.split()[0], "versions": {}}
    for package in packages:
        try:
            found["versions"][package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found["versions"][package] = None
    cache = os.environ.get("HF_HUB_CACHE") or Path(os.environ.get("HF_HOME") or "~/.cache/huggingface") / "hub"
    found |= {"backends": installed(), "configured": configured(), "presets": len(catalogue.list_presets())}
    found |= {"cache": str(Path(cache).expanduser()), "backend": None, "devices": []}
    try:
        found["backend"] = ensure_backend()
        found["devices"] = _devices(found["backend"])
    except KzooError as error:
        found["problem"] = str(error)
    if options.json:
        print_json(found)
    else:
        for key, value in found.items():
            shown = (
                ", ".join(f"{k} {v or 'not installed'}" for k, v in value.items()) if isinstance(value, dict) else value
            )
            print(f"{key:>10}: {', '.join(shown) if isinstance(shown, list) else shown}")
    return 1 if "problem" in found else 0


def _devices(backend: str) -> list[str]:
    if backend == "jax":
        import jax

        return [str(device) for device in jax.devices()]
    if backend == "torch":
        import torch

        count = torch.cuda.device_count()
        return [f"cuda:{i} {torch.cuda.get_device_name(i)}" for i in range(count)] or ["cpu"]
    import tensorflow as tf

    return [device.name for device in tf.config.list_physical_devices()]


def _digest(info: dict[str, Any]) -> str | None:
    files = info.get("metadata", {}).get("files", {})
    return files.get("model.safetensors", {}).get("sha256")


if __name__ == "__main__":
    sys.exit(main())
