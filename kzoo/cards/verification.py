"""A row of the leaderboard, measured anew."""

import math
from pathlib import Path
from typing import Any, NamedTuple

from kzoo import tasks
from kzoo.cards import protocol
from kzoo.cards.leaderboard import recipe_of
from kzoo.errors import InputError, PresetError
from kzoo.saving import catalogue
from kzoo.saving.preset import Preset

SAME = 2e-3  # what other backends may differ by: ties of likeliest tokens
ERRORS = 3.3  # standard errors between the public and the fresh examples


class Check(NamedTuple):
    """One thing that was looked at: what, whether it holds, and what was found."""

    about: str
    holds: bool
    found: str


def verify(name: str | Path, examples: int | None = None) -> list[Check]:
    """Checks a submission: a preset whose weights are at hand, by its name, folder or address on the Hub.

    In this order: the files are those that its metadata lists; its recipe keeps to the protocol; so do its parameters;
    the accuracies that its results claim are measured again, on the same examples; and on examples whose seed follows
    from the weights.

    Args:
        name: str or Path.
        examples: int. At most so many a length, for a quick look; the claims are then compared as two samples. Defaults
            to as many as the results have.

    Raises:
        PresetError: there are no weights, as of a recorded run; or no results of scored lengths; or a file is damaged.
        InputError: its recipe is missing or not valid.
    """
    from kzoo.evaluation.evaluate import evaluate

    preset = Preset.find(name)
    if preset.kind != catalogue.PRESET:
        raise PresetError(
            f"{preset.name} is a {preset.kind}, without weights: kzoo train {preset.name} --output DIR, then verify DIR"
        )
    recipe = recipe_of(preset)
    if recipe is None or preset.results is None:
        what = "valid recipe" if recipe is None else "results"
        raise InputError(f"{preset.name} has no {what}, which would be checked")
    task = tasks.get(recipe.task)
    model = preset.build()  # checks the files
    lengths = protocol.scored_lengths(task)
    claimed = {
        row["length"]: row
        for row in preset.rows
        if row["metric"] == "sequence_accuracy" and row["length"] in lengths and row["task"] == task.name
    }
    missing = [length for length in lengths if length not in claimed]
    if missing or not lengths:
        raise PresetError(
            f"{preset.name} has no results of its weights at {', '.join(map(str, missing)) or 'any length'}"
        )
    found = [Check("files", True, f"as listed; weights {str(preset.weights_sha256)[:12]}")]
    number = model.count_params()
    broken = protocol.breaches(recipe, number, preset.results.get("training") or [])
    few = [str(length) for length in lengths if claimed[length]["n"] < protocol.TESTED]
    broken += [f"fewer than {protocol.TESTED} examples were measured at {', '.join(few)}"] if few else []
    found.append(Check("protocol", not broken, "; ".join(broken) or f"{number:,} parameters, in the budget"))
    said = set(preset.metadata.get("supervision") or ())
    own = set(recipe.supervision or ())
    found.append(Check("tags", said == own, ", ".join(protocol.tags(recipe)) or "none"))
    fresh = protocol.fresh_seed(str(preset.weights_sha256), task)
    for length in sorted(claimed):
        row = claimed[length]
        n = row["n"] if examples is None else min(examples, row["n"])
        again = _accuracy(evaluate(model, task, [length], n, row["seed"], ["sequence_accuracy"]))
        tolerance = SAME if n == row["n"] else _margin(row["value"], again, row["n"], n)
        holds = abs(again - row["value"]) <= tolerance + 1e-9
        found.append(Check(f"length {length}", holds, f"claimed {row['value']:.4f}, measured {again:.4f} of {n}"))
        other = _accuracy(evaluate(model, task, [length], n, fresh, ["sequence_accuracy"]))
        holds = abs(other - row["value"]) <= _margin(row["value"], other, row["n"], n) + 1e-9
        found.append(Check(f"length {length}, fresh examples", holds, f"{other:.4f} of {n}, seed {fresh}"))
    return found


def _accuracy(report: Any) -> float:
    return float(report.rows[0]["value"])


def _margin(a: float, b: float, n: int, m: int) -> float:
    """Returns how far two measured shares of one model may be apart."""
    share = (a * n + b * m + 1) / (n + m + 2)  # a share of 0 or 1 is not certain either
    return ERRORS * math.sqrt(share * (1 - share) * (1 / n + 1 / m))
