"""What a card says of the training."""

from typing import Any

from kzoo import tasks
from kzoo.cards.explain import explain
from kzoo.training.recipe import Recipe


def training(name: str, info: dict[str, Any], task: Any) -> str:
    """Returns the section on how a preset was trained, or that its weights were set."""
    recipe, runs = Recipe.from_config(info["recipe"]).to_config(), info["results"]["training"]
    train = task.splits[recipe["split"]]
    low, high = train.lengths
    keys: tuple[str, ...] = ("batch_size", "lengths", "learning_rate", "schedule", "weight_decay", "clip_norm", "seed")
    usual: dict[str, Any] = {"split": "train", "curriculum": [], "ema_momentum": None}
    keys = (*keys, *(key for key, value in usual.items() if recipe[key] != value))
    facts = ", ".join(f"{key} {recipe[key]}" for key in keys)
    if recipe["epochs"] == 0:
        ((path, text),) = explain(recipe["model"])
        return f"""## Training

None: `{path}` sets every weight, and `kzoo train {name} --output DIR` does it again.

{text}"""
    lines = ["| seed | epochs | steps | examples seen | seconds | backend |", "|---|---|---|---|---|---|"]
    for run in runs:
        cells = [run["seed"], run["epoch"], f"{run['steps']:,}", f"{run['examples_seen']:,}", round(run["seconds"])]
        lines.append("| " + " | ".join(str(cell) for cell in [*cells, run["backend"]]) + " |")
    runs_table = "\n".join(lines)
    notes = [f"Seed {run['seed']}: {run['note']}." for run in runs if "note" in run]
    runs_table = "\n\n".join([runs_table, *notes])
    number = "fresh examples" if recipe["fresh"] else f"{recipe['examples'] or train.size:,} examples"
    return f"""## Training

On {number} of {span(low, high)} (version {recipe["task_version"]} of the
task; the same on every machine), by `recipe.json` ({facts}).
{_selection(info["recipe"], info["metadata"]["task"])}{_preparation(recipe)}
`kzoo train {name} --output DIR` trains it again. Seconds are those of the training steps on a CPU with two cores,
compilation included, validation excluded.

{runs_table}"""


def _preparation(recipe: dict[str, Any]) -> str:
    """Returns where the weights start, what is added to the examples or done to them, and where biases come from."""
    text, layout = "", recipe["layout"]
    if recipe["start"]:
        text += f"\nIt starts from the weights of `{recipe['start']}`, whose steps are not counted here."
    if recipe["intermediate"]:
        text += "\nUnlike in the paper, the result of every operation within an expression is a target too."
    if recipe["attention_supervision"]:
        text += "\nUnlike in the paper, the attention is told where to look: how far it is from the gold attention,"
        text += f"\ntimes {recipe['attention_supervision']}, is part of the loss."
    if layout.get("digits"):
        text += f"\nOperands are filled with zeros to {layout['digits']} digits, longer ones by what the result needs."
    if layout.get("aligned"):
        text += "\nThe digits of the two operands are interleaved."
    if recipe["calibration"]:
        options = {**recipe["calibration"]}
        preset = options.pop("preset")
        told = ", ".join(f"{key} {value}" for key, value in options.items())
        text += f"\nIts biases were found by `kzoo.calibrate` in `{preset}` ({told}):"
        text += "\nthis is the second stage of attention bias calibration, which starts from new weights."
    return text


def span(low: int, high: int) -> str:
    """Returns how a text names the lengths from one to another."""
    return f"length {low}" if low == high else f"lengths {low} to {high}"


def _selection(recipe: dict[str, Any], task: str) -> str:
    """Returns which epoch's weights were kept, and by which lengths that was decided."""
    if recipe.get("selection") == "last":
        averaged = recipe.get("ema_momentum") is not None
        return "The moving average of the weights is kept." if averaged else "The last weights are kept."
    length = recipe.get("selection_length")
    lengths = span(length, length) if length else span(*tasks.get(task).splits["validation"].lengths)
    return f"The weights of the epoch with the best accuracy on validation examples of {lengths} are kept."
