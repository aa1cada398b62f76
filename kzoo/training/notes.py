"""What a run notes of itself in its checkpoint, and the check of what was noted."""

import math
from typing import Any

from kzoo import checks
from kzoo.errors import InputError
from kzoo.training.part import LARGEST_COUNT
from kzoo.training.recipe import Recipe

Notes = dict[str, Any]
ENTRY = ("epoch", "steps", "examples_seen", "best_epoch")
PLATEAU = 5  # epochs after which the rate is halved


def begin_notes(recipe: Recipe, index: int, finished: list[dict[str, Any]]) -> Notes:
    """Returns the notes of a stage that begins.

    Args:
        recipe: Recipe.
        index: int. The stage.
        finished: list of dict. What results.json will say of the stages before.
    """
    own = {"stage": index, "finished": finished, "epoch": 0, "seconds": 0.0, "best": -1.0, "best_epoch": 0}
    return {"recipe": recipe.to_config(), **own, "plateau_best": -1.0, "plateau_epochs": 0, "history": []}


def check_notes(notes: Notes, recipe: Recipe) -> Notes:
    """Returns the notes of a checkpoint.

    Raises:
        InputError: something is missing or out of range.
    """
    missing = {*begin_notes(recipe, 0, []), "backend", "digests"} - set(notes)
    if missing:
        raise InputError(f"its notes lack {', '.join(sorted(missing))}")
    index = checks.integer("stage", notes["stage"], 0, len(recipe.stages) - 1)
    epoch = checks.integer("epoch", notes["epoch"], 0, recipe.stages[index].budget.epochs)
    checks.integer("best_epoch", notes["best_epoch"], 0, epoch)
    checks.integer("plateau_epochs", notes["plateau_epochs"], 0, PLATEAU)
    for name, low, high in (("seconds", 0.0, math.inf), ("best", -1.0, 1.0), ("plateau_best", -1.0, 1.0)):
        checks.number(name, notes[name], low, high)
    _check_history(notes["history"], epoch)
    finished = notes["finished"]
    if not isinstance(finished, list) or len(finished) != index:
        raise InputError(f"finished must hold the {index} stages before")
    for entry in finished:
        _check_entry(entry)
    for name in ("backend", "digests"):
        if not isinstance(notes[name], str if name == "backend" else dict):
            raise InputError(f"{name} is none")
    return notes


def _check_entry(entry: Any) -> None:
    if not isinstance(entry, dict) or not {*ENTRY, "seconds", "history", "backend", "seed", "stage"} <= set(entry):
        raise InputError("finished must hold a mapping for each stage")
    for name in ENTRY:
        checks.integer(f"{name} of a finished stage", entry[name], 0, LARGEST_COUNT**2)
    checks.number("seconds of a finished stage", entry["seconds"], 0.0, math.inf)
    _check_history(entry["history"], entry["epoch"])


def _check_history(history: Any, epoch: int) -> None:
    if not isinstance(history, list) or not all(isinstance(row, dict) for row in history):
        raise InputError("history must be a list of mappings")
    if [row.get("epoch") for row in history[-1:]] != ([epoch] if epoch else []):
        raise InputError(f"history must end with epoch {epoch}")
