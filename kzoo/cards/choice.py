"""Which mechanism for which task: the best of the leaderboard, and the bundled preset to take, by rule."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from kzoo import tasks
from kzoo.cards import protocol
from kzoo.cards.cross_table import cross_table, task_order
from kzoo.cards.leaderboard import by_seed, entries, recipe_of
from kzoo.saving import catalogue
from kzoo.saving.preset import Preset

ALIKE = 0.01  # scores that differ by no more than a point are not told apart


def choices() -> list[dict[str, Any]]:
    """Returns what to take for each task that a run of the leaderboard or a bundled preset is for.

    Each has `task`, `about`, `trained` (shortest and longest), `unit`, `lengths` (the scored ones), `alone` and `more`:
    the cells of the cross table, with `mechanism` and `tags`, that are the best on pairs alone and with more, alike
    ones too; `preset`, the recommended one, or None; and `ran` and `presets`, all that they are chosen from. A preset
    has `name`, `mechanism`, `tags`, `breaches` (of the budget of the leaderboard), `parameters`, `score` and `holds`,
    of its own weights, `learned` (whether they solve the longest trained length), and `seeds`, `solved` and `weakest`:
    how many training seeds there are, how many of them solve every scored length, and the score of the weakest.
    """
    rows = cross_table(entries())
    presets: dict[str, list[dict[str, Any]]] = {}
    for name in catalogue.names_of(catalogue.PRESET):
        candidate = candidate_of(Preset.find(name))
        if candidate is not None:
            presets.setdefault(candidate["task"], []).append(candidate)
    order = task_order(rows)
    found = []
    for name in [*order, *sorted(presets.keys() - set(order))]:
        task = tasks.get(name)
        cells = [
            {"mechanism": row["mechanism"], "tags": row["tags"], **row["cells"][name]}
            for row in rows
            if name in row["cells"]
        ]
        own: dict[str, Any] = {"task": name, "about": task.about(), "trained": list(task.splits["train"].lengths)}
        own |= {"unit": task.length_unit, "lengths": protocol.scored_lengths(task)}
        own["ran"] = [cell | {"name": cell["run"]} for cell in cells]
        own["presets"] = presets.get(name, [])
        for key, tagged in (("alone", False), ("more", True)):
            side = [cell for cell in cells if bool(cell["tags"]) is tagged]
            own[key] = best([cell for cell in side if not cell["last_token_alone"]]) or best(side)
        found.append(own | {"preset": recommended(own["presets"])})
    return found


def best(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the cells whose score is the highest or alike, and that go beyond the trained lengths at all: of these
    those with the fewest tags, the ones with the most seeds first.
    """
    near = [cell for cell in _highest(cells, "score") if cell["holds"] is not None]
    near.sort(key=lambda cell: (len(cell["tags"]), -cell["seeds"], -cell["score"], cell["mechanism"]))
    return [cell for cell in near if cell["tags"] == near[0]["tags"]]


def recommended(presets: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Returns the preset to take: of those whose score is the highest or alike, those with the fewest tags; of these,
    those whose weakest seed is the highest or alike; then the one with the higher score, and the one with fewer
    parameters.
    """
    near = _highest(presets, "score")
    fewest = min((len(preset["tags"]) for preset in near), default=0)
    steady = _highest([preset for preset in near if len(preset["tags"]) == fewest], "weakest")
    return min(steady, key=lambda x: (-x["score"], x["parameters"], x["name"]), default=None)


def _highest(found: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    """Returns those whose value under a key is the highest or alike."""
    top = max((one[key] for one in found), default=0.0)
    return [one for one in found if one[key] >= top - ALIKE]


def candidate_of(preset: Preset) -> dict[str, Any] | None:
    """Returns what is known of a preset to choose by; None of one that is constructed, has no recipe, or lacks a scored
    length.

    On a task without scored lengths the score is the accuracy on the test split.
    """
    recipe = recipe_of(preset)
    if recipe is None or recipe.constructed or preset.results is None:
        return None
    task = tasks.get(recipe.task)
    lengths, accuracies = protocol.scored_lengths(task), accuracies_of(preset, task.name)
    score = _score(accuracies, lengths)
    if score is None:
        return None
    found: dict[str, Any] = {"task": task.name, "name": preset.name, "mechanism": recipe.mechanism}
    found |= {"tags": list(protocol.tags(recipe)), "last_token_alone": protocol.last_token_alone(recipe)}
    training, parameters = preset.results.get("training") or [], preset.parameters or 0
    found |= {"breaches": protocol.breaches(recipe, parameters, training), "parameters": parameters}
    measured = [seed["accuracy"] for seed in by_seed(preset, task.name, whole=not lengths).values()]
    keys: list[int | None] = list(lengths) or [None]
    seeds = [[seed[n] for n in keys] for seed in measured if _score(seed, lengths) is not None]
    found |= {"seeds": len(seeds), "solved": sum(min(seed) >= protocol.SOLVED for seed in seeds)}
    found["weakest"] = min(map(mean, seeds))
    found["learned"] = protocol.learned(accuracies.get(task.splits["train"].lengths[1]))
    return found | {"score": score, "holds": protocol.holds([accuracies], lengths)}


def _score(accuracies: Mapping[Any, float], lengths: Sequence[int]) -> float | None:
    return protocol.chomsky_score(accuracies, lengths) if lengths else accuracies.get(None)


def accuracies_of(preset: Preset, task: str) -> dict[Any, float]:
    """Returns the sequence accuracy of a preset's own weights by length."""
    rows = [row for row in preset.rows if row["metric"] == "sequence_accuracy" and row["task"] == task]
    return {row["length"]: row["value"] for row in rows}
