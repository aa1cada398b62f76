"""What the papers of newer mechanisms found, and what the runs here have, at small scale."""

import json
from pathlib import Path
from statistics import mean
from typing import Any

from kzoo.cards import protocol
from kzoo.cards.leaderboard import by_seed, recipe_of
from kzoo.cards.markdown import place_of, table_of
from kzoo.evaluation.report import percent
from kzoo.saving import catalogue
from kzoo.saving.preset import Preset
from kzoo.tasks import get as get_task

FILE = Path(__file__).parent / "claims.json"
BETTER = 0.1  # a mean this much above that of the control is more than seeds differ


def claims() -> list[dict[str, Any]]:
    """Returns what papers found, with our runs: those of claims.json that are bundled.

    Each has `paper`, `claim`, `run` and `control` (names of runs; the control lacks what the claim is about), `task`,
    `trained` (the longest trained length), `lengths` (the scored ones up to `times` as long), `scores` and
    `control_scores` (the mean accuracy at them, by seed), and `found`, see `found_again`.
    """
    found = []
    for entry in json.loads(FILE.read_text(encoding="utf-8")):
        if not all(catalogue.bundled(entry[key], catalogue.PRESET, catalogue.RUN) for key in ("run", "control")):
            continue
        run, control = (Preset.find(entry[key]) for key in ("run", "control"))
        task = get_task(str(run.task))
        trained = task.splits["train"].lengths[1]
        lengths = [n for n in protocol.scored_lengths(task) if n <= entry["times"] * trained]
        ours, theirs = ([own["accuracy"] for own in by_seed(one, task.name).values()] for one in (run, control))
        learned = any(protocol.learned(accuracy.get(trained)) for accuracy in ours)
        seeds, others = (_at(lengths, measured) for measured in (ours, theirs))
        entry |= {"task": task.name, "trained": trained, "lengths": lengths, "scores": [*map(mean, seeds)]}
        entry["control_scores"] = [*map(mean, others)]
        found.append(entry | {"found": found_again(seeds, mean(entry["control_scores"]), learned)})
    return found


def found_again(seeds: list[list[float]], control: float, learned: bool = True) -> str:
    """Returns whether a claim was found again: "yes" if every seed has 90 % at every length, "some seeds" if one has,
    "in part" if their mean is ten points above that of the control, else "no", or "not learned".

    Args:
        seeds: list of the accuracies by length of each seed.
        control: float. The mean accuracy of the control.
        learned: bool. Whether a seed has 90 % at the longest trained length.
    """
    solved = [min(seed) >= protocol.SOLVED for seed in seeds]
    if any(solved):
        return "yes" if all(solved) else "some seeds"
    if mean(map(mean, seeds)) >= control + BETTER:
        return "in part"
    return "no" if learned else "not learned"


def section() -> list[str]:
    """Returns the section of the page: what each paper found, and the runs here."""
    rows = []
    for entry in claims():
        first, last = entry["lengths"][0], entry["lengths"][-1]
        here = f"{entry['task']} of {first} to {last} after up to {entry['trained']}"
        rows.append([entry["claim"], entry["paper"], here])
        rows[-1] += [_cell(entry["run"], entry["scores"]), _cell(entry["control"], entry["control_scores"])]
        rows[-1].append(f"**{entry['found']}**")
    solved = f"{100 * protocol.SOLVED:.0f} %"
    return [
        "## What their papers found, and what these runs have",
        "The papers train larger models for longer. The runs here have at most "
        f"{protocol.PARAMETERS:,} parameters and mostly {protocol.STEPS:,} steps, and their tasks are the nearest of "
        "kzoo's, not the papers' own. The score is the mean sequence accuracy at the lengths of the row, up to as many "
        "times the trained ones as in the paper, or ten times; of the worst seed in brackets. *Found again*: yes if "
        f"every seed has {solved} at every length, some seeds if one has, in part if the mean is {100 * BETTER:.0f} "
        "points or more above the run it is compared with, else no; not learned if no seed has as much at the longest "
        "trained length either, so that the run does not tell.",
        table_of(["what the paper found", "paper", "here", "score", "compared with", "found again"], rows),
    ]


def _at(lengths: list[int], measured: list[dict[int, float]]) -> list[list[float]]:
    """Returns the accuracies at some lengths of each seed that was measured at all of them."""
    return [[accuracy[n] for n in lengths] for accuracy in measured if set(lengths) <= set(accuracy)]


def _cell(name: str, scores: list[float]) -> str:
    recipe = recipe_of(Preset.find(name))
    mechanism = name if recipe is None else recipe.mechanism
    worst = f" ({percent(min(scores))})" if percent(min(scores)) != percent(mean(scores)) else ""
    seeds = f"{len(scores)} seeds" if len(scores) > 1 else "1 seed"
    return f"[{mechanism}]({place_of(name)}): {percent(mean(scores))}{worst}, {seeds}"
