"""The card of a preset, rendered from its files alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kzoo import tasks
from kzoo.catalogue import preset_info
from kzoo.errors import PresetError
from kzoo.evaluation.report import Row, percent, table
from kzoo.evaluation.results import other_rows, preset_rows
from kzoo.files import sha256, write_bytes
from kzoo.hub import front_matter
from kzoo.tasks.classification import ClassificationTask
from kzoo.training.recipe import Recipe


def render_card(preset: str | Path) -> str:
    """Returns the card of a preset as Markdown with YAML front matter.

    Raises:
        PresetError: the preset has no results for its weights.
    """
    info = preset_info(preset)
    folder = Path(info["folder"])
    for part in ("results", "recipe", "metadata"):
        if part not in info:
            raise PresetError(f"{folder} has no {part}.json, so no card can be written")
    rows = preset_rows(folder, info["results"])
    if not rows:
        raise PresetError(f"the results in {folder} belong to other weights: evaluate the preset again")
    task = tasks.get(info["metadata"]["task"])
    trained = _trained(info, task)
    parts = [
        front_matter(info, rows, task),
        f"# {info['preset']}\n\n{claim(rows, task, trained)}",
        _usage(info["preset"], task),
        _task(task),
        _mechanism(info),
        _training(info),
        _results(info, folder, rows, task, trained),
        _limits(rows, task),
        _files(folder),
        _citation(task),
    ]
    return "\n\n".join(parts) + "\n"


def write_card(preset: str | Path, folder: Path) -> Path:
    """Writes `<preset>.md` and its picture `<preset>.svg` into a folder; returns the card's path."""
    from kzoo.evaluation.plots import plot_lengths

    info = preset_info(preset)
    text = render_card(preset)
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


def _trained(info: dict[str, Any], task: Any) -> tuple[int, int] | None:
    """Returns the lengths that a preset was trained on; None where its weights were set."""
    recipe = Recipe.from_config(info["recipe"])
    return None if recipe.constructed else task.splits[recipe.split].lengths


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
        origin = "Trained on lengths {} to {} ({}) of".format(*trained, task.length_unit)
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
    parameters = info["metadata"]["parameters"]
    return (
        f"## The model\n\n`kzoo.models.{info['config']['class']}`, {parameters:,} parameters. The equations and every "
        f"known difference from the paper are in the docstrings of the classes named here.\n\n{arguments}"
    )


def _inline(value: Any) -> str:
    if isinstance(value, dict) and "class" in value:
        inner = ", ".join(f"{k}={_inline(v)}" for k, v in value.get("config", {}).items() if v is not None)
        return f"`{value['class']}({inner})`".replace("``", "`") if "`" not in inner else f"{value['class']}({inner})"
    return f"`{value}`"


def _training(info: dict[str, Any]) -> str:
    recipe, runs = Recipe.from_config(info["recipe"]).to_config(), info["results"]["training"]
    keys: tuple[str, ...] = ("batch_size", "lengths", "learning_rate", "schedule", "weight_decay", "clip_norm", "seed")
    if recipe["split"] != "train":
        keys = (*keys, "split")
    facts = ", ".join(f"{key} {recipe[key]}" for key in keys)
    if recipe["epochs"] == 0:
        return f"""## Training

None. `kzoo.models.{recipe["model"]["class"]}` sets every weight, as its docstring says which by which equation:
`kzoo train {info["preset"]} --output DIR` does it again."""
    lines = ["| seed | epochs | steps | examples seen | seconds | backend |", "|---|---|---|---|---|---|"]
    for run in runs:
        cells = [run["seed"], run["epoch"], f"{run['steps']:,}", f"{run['examples_seen']:,}", round(run["seconds"])]
        lines.append("| " + " | ".join(str(cell) for cell in [*cells, run["backend"]]) + " |")
    runs_table = "\n".join(lines)
    return f"""## Training

By `recipe.json` ({facts}): `kzoo train {info["preset"]} --output DIR`
trains it again. {_selection(info["recipe"], info["metadata"]["task"])}
Seconds are those of the training steps on a CPU with two cores, compilation included, validation
excluded.

{runs_table}"""


def _selection(recipe: dict[str, Any], task: str) -> str:
    """Returns which epoch's weights were kept, and by which lengths that was decided."""
    if recipe.get("selection") == "last":
        return "The last weights are kept."
    lengths = recipe.get("selection_length") or "{} to {}".format(*tasks.get(task).splits["validation"].lengths)
    return f"The weights of the epoch with the best accuracy on validation examples of length {lengths} are kept."


def _results(
    info: dict[str, Any], folder: Path, rows: list[Row], task: Any, trained: tuple[int, int] | None
) -> str:
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


def _citation(task: Any) -> str:
    return f"## Licence and citation\n\nApache-2.0. The method and the task are from {task.paper}; please cite it."


def _example(task: Any) -> Any:
    return task.examples("train", size=1)[0]


def _written(task: Any, tokens: Sequence[str]) -> str:
    return ("" if task.characters else " ").join(tokens)
