"""`kzoo generate` and `kzoo evaluate`: what a preset writes, and how often that is right."""

import argparse
import sys
import warnings
from typing import Any

import kzoo
from kzoo.cli.arguments import lengths, preset_argument, words
from kzoo.cli.output import print_json, show_progress
from kzoo.errors import InputError, OutsideTaskWarning
from kzoo.saving import catalogue
from kzoo.saving.preset import Preset

TOLD = 5  # bad texts at most


def generate_parser(sub: argparse.ArgumentParser) -> None:
    """Adds the arguments of `kzoo generate`."""
    preset_argument(sub)
    sub.add_argument(
        "texts", nargs="+", metavar="TEXT", help='as "4 7 9 8"; - reads lines from standard input, blank ones left out'
    )
    sub.add_argument("--max-length", type=int, help="stop after so many tokens")
    sub.add_argument("--strict", action="store_true", help="refuse what is no input of the preset's task")


def evaluate_parser(sub: argparse.ArgumentParser) -> None:
    """Adds the arguments of `kzoo evaluate`."""
    preset_argument(sub)
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


def generate(options: argparse.Namespace) -> None:
    texts = {f"argument {i}": text for i, text in enumerate(options.texts, 1) if text != "-"}
    if "-" in options.texts:
        lines = enumerate(sys.stdin.read().splitlines(), 1)
        texts |= {f"line {number}": line for number, line in lines if line.strip()}
    if not texts:
        raise InputError("there is no text to read")
    model = kzoo.from_preset(options.preset, budget=options.budget)
    _check_texts(model, texts)
    given = list(texts.values())
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", OutsideTaskWarning)
        outputs = model.generate(given, max_length=options.max_length, strict=options.strict)
    for warning in said:
        print(f"kzoo: {warning.message}", file=sys.stderr)
    if options.json:
        return print_json([{"input": text, "output": output} for text, output in zip(given, outputs, strict=True)])
    print("\n".join(outputs))


def _check_texts(model: Any, texts: dict[str, str]) -> None:
    """Raises `InputError` if there are texts that the model cannot read, with the lines of those from a file."""
    bad = {}
    for place, text in texts.items():
        try:
            model.text_preprocessor().encode_source(text)
        except InputError as error:
            bad[place] = error
    told = [str(error) if place.startswith("argument") else f"{place}: {error}" for place, error in bad.items()]
    if bad:
        raise InputError("; ".join(told[:TOLD]) + (f"; and {len(told) - TOLD} more" if len(told) > TOLD else ""))


def evaluate(options: argparse.Namespace) -> None:
    _check(options)
    folder = Preset.find_own(options.preset).folder if options.write else None
    model = kzoo.from_preset(options.preset, dtype=options.dtype or None, budget=options.budget)
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


def _check(options: argparse.Namespace) -> None:
    """Raises `InputError` for options that do not go together."""
    if options.write and (options.steps is not None or options.split != "test" or options.dtype):
        raise InputError("results are kept for a preset as it is: --write does not go with --steps, --split or --dtype")
    if options.write and catalogue.bundled(options.preset, catalogue.PRESET):
        raise InputError(
            f"{options.preset} is bundled and not written by its name: give --write a folder, as a copy of it"
        )
    if options.stress and (options.metrics or options.split != "test"):
        raise InputError("--stress measures sequence accuracy on strata, so it does not go with --metrics or --split")
    if options.strata and not options.stress:
        raise InputError("--strata goes with --stress")
