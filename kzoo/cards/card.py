"""The card of a preset, rendered from its files alone."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kzoo import tasks
from kzoo.cards.explain import explain
from kzoo.cards.front_matter import front_matter
from kzoo.cards.training import span, training
from kzoo.errors import PresetError
from kzoo.evaluation.report import Row, percent, table
from kzoo.evaluation.results import other_rows, preset_rows
from kzoo.hub.address import Address
from kzoo.saving.catalogue import preset_info
from kzoo.saving.files import sha256, write_bytes
from kzoo.tasks.classification import ClassificationTask
from kzoo.training.recipe import Recipe

OWN = "A mechanism of our own"  # says the docstring of one that no paper has


def render_card(preset: str | Path, address: Address | None = None) -> str:
    """Returns the card of a preset as Markdown with YAML front matter.

    Args:
        preset: str or Path. A name, a folder, or an address on the Hub.
        address: Address. Where on the Hub the card will be; None is the card of a preset that kzoo has by name.

    Raises:
        PresetError: the preset has no results for its weights.
    """
    info = _info(preset, address)
    folder = Path(info["folder"])
    for part in ("results", "recipe", "metadata", "tokenizer"):
        if part not in info:
            raise PresetError(f"{folder} has no {part}.json, so no card can be written")
    rows = preset_rows(folder, info["results"])
    if not any(row["metric"] == "sequence_accuracy" for row in rows):
        raise PresetError(f"the results in {folder} belong to other weights: evaluate the preset again")
    try:
        return "\n\n".join(_parts(info, folder, rows, str(address or info["preset"]))) + "\n"
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        said = " ".join(str(error).split())
        raise PresetError(
            f"no card can be made of the files in {folder} ({type(error).__name__}: {said:.200})"
        ) from error


def _parts(info: dict[str, Any], folder: Path, rows: list[Row], name: str) -> list[str]:
    task = tasks.get(info["metadata"]["task"])
    trained = _trained(info, task)
    return [
        front_matter(info, rows, task),
        f"# {info['preset']}\n\n{claim(rows, task, trained)}",
        _usage(name, task),
        _task(task),
        _mechanism(info),
        training(name, info, task),
        _results(info, folder, rows, task, trained),
        _limits(rows, task),
        _files(folder),
        _citation(info, task),
    ]


def write_card(preset: str | Path, folder: Path, address: Address | None = None) -> Path:
    """Writes `<preset>.md` and its picture `<preset>.svg` into a folder; returns the card's path."""
    from kzoo.inspection.plots import plot_lengths

    info = _info(preset, address)
    text = render_card(preset, address)
    source = Path(info["folder"])
    rows = preset_rows(source, info["results"])
    task = tasks.get(info["metadata"]["task"])
    folder.mkdir(parents=True, exist_ok=True)
    plot_lengths(
        {info["preset"]: rows},
        folder / f"{info['preset']}.svg",
        _trained(info, task),
        note=f"results {sha256(source / 'results.json')}",
        unit=task.length_unit,
    )
    write_bytes(folder / f"{info['preset']}.md", text.encode())
    return folder / f"{info['preset']}.md"


def _info(preset: str | Path, address: Address | None) -> dict[str, Any]:
    info = preset_info(preset)
    return {**info, "preset": address.name} if address else info


def _trained(info: dict[str, Any], task: Any) -> tuple[int, int] | None:
    """Returns the lengths that a preset was trained on; None where its weights were set."""
    recipe = Recipe.from_config(info["recipe"])
    lengths = [task.splits[stage.data.split].lengths for stage in recipe.stages]
    return (min(low for low, _ in lengths), max(high for _, high in lengths)) if lengths else None


def claim(rows: list[Row], task: Any, trained: tuple[int, int] | None) -> str:
    """Returns the one sentence that a preset's results support."""
    accuracies = [row for row in rows if row["metric"] == "sequence_accuracy"]
    equal: dict[str, list[str]] = {}
    for row in accuracies:
        equal.setdefault(percent(row["value"]), []).append(_length(row))
    found = "; ".join(f"{share} at {_and(lengths)}" for share, lengths in equal.items())
    n = min(row["n"] for row in accuracies)
    right, how = "with every symbol right, the end symbol included,", "greedy decoding, "
    if task.target_steps is not None:
        right = "with every symbol right"
    if isinstance(task, ClassificationTask):
        right, how = "answered rightly,", ""
    origin = "Constructed, not trained, for"
    if trained is not None:
        origin = f"Trained on {span(*trained)} ({task.length_unit}) of"
    return (
        f"{origin} the task `{task.name}`; share of fresh examples {right} by length: {found} "
        f"({how}at least {n:,} examples each)."
    )


def _length(row: Row) -> str:
    return str(row["length"]) if row["length"] is not None else "the test split ({} to {})".format(*row["lengths"])


def _and(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _usage(name: str, task: Any) -> str:
    example = _written(task, _example(task).source)
    return f"""## Use

```bash
pip install "kzoo[jax]"        # or kzoo[torch], kzoo[tensorflow]
kzoo evaluate {name}
```

```python
import os
os.environ["KERAS_BACKEND"] = "jax"    # or "torch", "tensorflow": the same weights, the same outputs

import kzoo
model = kzoo.from_preset("{name}")
model.generate("{example}")
kzoo.evaluate(model, lengths={list(task.test_lengths)})
```"""


def _task(task: Any) -> str:
    example = _example(task)
    about = (type(task).__doc__ or "").split("\n\n    Example:")[0]
    text = "\n".join(line.removeprefix("    ") for line in about.strip().splitlines())
    symbols = "plus start, end and padding"
    vocabulary = " ".join(task.vocabulary) if len(task.vocabulary) <= 40 else f"{len(task.vocabulary)} tokens"
    return f"""## The task

{text}

| | |
|---|---|
| source | `{_written(task, example.source)}` |
| target | `{_written(task, example.target)}` |
| vocabulary | {vocabulary}, {symbols} |
| length | counts {task.length_unit} |"""


def _mechanism(info: dict[str, Any]) -> str:
    config = info["config"]["config"]
    lines = [f"| {key} | {_inline(value)} |" for key, value in config.items()]
    arguments = "\n".join(["| argument | value |", "|---|---|", *lines])
    parts = [f"### `{path}`\n\n{text}" for path, text in explain(info["config"])]
    parameters = info["metadata"]["parameters"]
    head = f"## The model\n\n`kzoo.models.{info['config']['class']}`, {parameters:,} parameters.\n\n{arguments}"
    return "\n\n".join([head, *parts])


def _inline(value: Any) -> str:
    if isinstance(value, dict) and "class" in value:
        inner = ", ".join(f"{k}={_inline(v)}" for k, v in value.get("config", {}).items() if v is not None)
        return f"`{value['class']}({inner})`".replace("``", "`") if "`" not in inner else f"{value['class']}({inner})"
    return f"`{value}`"


def _results(info: dict[str, Any], folder: Path, rows: list[Row], task: Any, trained: tuple[int, int] | None) -> str:
    low, high = trained or (0, 0)
    header, found = table(rows)
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    for cells in found:
        inside = cells[0].isdigit() and low <= int(cells[0]) <= high or cells[0] == f"{low}-{high}"
        cells = [cells[0] + (" (trained)" if inside else ""), *cells[1:]]
        lines.append("| " + " | ".join(cells) + " |")
    text = f"## Results\n\n![accuracy by length]({info['preset']}.svg)\n\n" + "\n".join(lines)
    others = other_rows(folder, info["results"])
    if others:
        text += "\n\nThe same recipe from other seeds:\n\n" + _other_seeds(others)
    source = f"The paper: {task.paper}." if task.paper else ""
    backends = ", ".join(sorted({row["backend"] for row in rows}))
    return f"{text}\n\nMeasured on {backends}, example seed {rows[0]['seed']}. {source}".strip()


def _other_seeds(rows: list[Row]) -> str:
    whole = [row for row in rows if row["metric"] == "sequence_accuracy"]
    lengths = sorted({row["length"] or 0 for row in whole})
    lines = [f"| seed | {' | '.join(map(str, lengths))} |", "|" + "---|" * (len(lengths) + 1)]
    for seed in sorted({row["training_seed"] for row in whole}):
        values = {row["length"] or 0: row["value"] for row in whole if row["training_seed"] == seed}
        lines.append(f"| {seed} | " + " | ".join(percent(values.get(length)) for length in lengths) + " |")
    return "\n".join(lines)


def _limits(rows: list[Row], task: Any) -> str:
    longest = max(row["length"] or row["lengths"][1] for row in rows)
    failing = [row for row in rows if row["metric"] == "sequence_accuracy" and row["value"] < 0.99]
    lines = [
        f"Nothing is known beyond length {longest}, the longest tested. The model knows the tokens above, no language."
    ]
    if failing:
        worst = min(failing, key=lambda row: row["value"])
        lines.insert(0, f"At length {_length(worst)} only {percent(worst['value'])} of the sequences are right.")
    return "## Limits\n\n" + " ".join(lines)


def _files(folder: Path) -> str:
    names = sorted(path.name for path in folder.iterdir() if path.suffix in (".json", ".safetensors"))
    lines = ["| file | bytes | SHA-256 |", "|---|---|---|"]
    lines += [f"| {name} | {(folder / name).stat().st_size:,} | `{sha256(folder / name)}` |" for name in names]
    return "## Files\n\n" + "\n".join(lines)


def _citation(info: dict[str, Any], task: Any) -> str:
    links = [f"<https://arxiv.org/abs/{number}>" for number in re.findall(r"arXiv:(\d{4}\.\d{4,5})", task.paper or "")]
    license = str(info["metadata"]["license"]).capitalize()
    own = [f"`{path}`" for path, text in explain(info["config"]) if OWN in text]
    what = "The task is" if own else "The method and the task are"
    source = f" {what} from {task.paper}; please cite it: {', '.join(links)}" if task.paper else ""
    ours = f".\n{' and '.join(own)} is of kzoo itself." if own and source else ""
    return f"## Licence and citation\n\n{license}.{source}{ours}"


def _example(task: Any) -> Any:
    return task.examples("train", size=1)[0]


def _written(task: Any, tokens: Sequence[str]) -> str:
    return ("" if task.characters else " ").join(tokens)
