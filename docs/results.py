"""The pages of results and of the leaderboard: all rows as data that the browser sorts and draws."""

import functools
import itertools
import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from docs.choosing import curves, heat_map
from docs.places import ROOT
from docs.tables import explanations, fresh, mechanisms, relink, tables, unit_of
from kzoo import tasks
from kzoo.cards import leaderboard
from kzoo.cards.results_page import cells
from kzoo.saving import catalogue
from kzoo.saving.preset import Preset

LEADERBOARD = ROOT / "hub_cards" / "leaderboard.md"
FIRST = "copy"  # the task whose curves are there when the leaderboard is opened
REACH = 0.95
PAGE = """# Results

<div class="kzoo-results"></div>

*Reach* is the largest measured length with at least 95 % of the sequences right, all shorter measured ones included;
only measured lengths count. Hollow points are the paper's. Choose rows to compare their curves; the address keeps
what is chosen.

## How often the published numbers are reached

{}
"""


BOARD = """# Leaderboard

{}

## All tasks

{}

## Runs by task

<div class="kzoo-results" data-from="leaderboard" data-first="{}"></div>

Shaded around a curve: from the worst seed to the best. Choose another task, or rows, to compare their curves; the
address keeps what is chosen.

## Accuracy by length

{}
"""


def results_pages() -> dict[str, str]:
    """Returns the pages of the results and of the leaderboard, and the data that they and the tasks' pages load.

    Raises:
        BuildError: the leaderboard is not what the recorded results give.
    """
    text = fresh(LEADERBOARD, leaderboard.markdown(), "--leaderboard --markdown")
    legend = text.split("\n\n## ")[0].split("\n\n", 1)[1]  # all before the tables
    board = board_data()
    sizes = Counter(line["task"] for line in board["lines"])
    first = max(sizes, key=lambda task: (task == FIRST, sizes[task]))
    return {
        "results.md": PAGE.format(relink(explanations(), "")),
        "leaderboard.md": BOARD.format(legend, heat_map(), first, curves()),
        "assets/results.json": json.dumps(data()),
        "assets/leaderboard.json": json.dumps(board),
    }


def board_data() -> dict[str, Any]:
    """Returns the entries of the leaderboard, with means over seeds, and from the worst to the best of them."""
    lines = []
    for entry in leaderboard.entries():
        found = {n: [own["accuracy"][n] for own in entry["seeds"].values()] for n in entry["lengths"]}
        score, name, mechanism = entry["score"], entry["name"], entry["mechanism"] or ""
        line = {key: entry[key] for key in ("task", "name", "rank", "parameters")}
        line |= {"mechanism": mechanism, "known": mechanism in mechanisms(), "preset": _is_preset(name)}
        line |= {"supervision": entry["tags"], "seeds": len(entry["seeds"]), "reach": entry["reach"]["mean"]}
        line |= {"score": score["mean"], "worst": score["min"], "sd": score["sd"] if len(entry["seeds"]) > 1 else None}
        line |= {"points": [[n, sum(own) / len(own), None] for n, own in found.items()]}
        lines.append(line | {"bands": {str(n): [min(own), max(own)] for n, own in found.items()}})
    return {"lines": lines, **_trained({line["task"] for line in lines})}


def _trained(names: Iterable[str]) -> dict[str, Any]:
    """Returns the trained lengths of tasks, and what their lengths count."""
    return {
        "trained": {name: tasks.get(name).splits["train"].lengths for name in sorted(names)},
        "units": {name: unit_of(name) for name in sorted(names)},
    }


@functools.cache
def data() -> dict[str, Any]:
    """Returns what was measured and published, a line a preset, recorded run or published mechanism."""
    lines: dict[tuple[str, str, str | None], dict[str, Any]] = {}
    for cell in cells():
        key = (cell["task"], cell["mechanism"], cell["name"])
        line = lines.setdefault(key, {"task": cell["task"], "mechanism": cell["mechanism"], "name": cell["name"]})
        line |= {"supervision": cell["supervision"], "preset": _is_preset(cell["name"]), "known": bool(cell["name"])}
        paper = cell["published"] if cell["ours"] is None else cell["paper"]
        line.setdefault("points", []).append([cell["length"], cell["ours"], paper])
        line["seeds"] = max(line.get("seeds", 0), len(cell["seeds"]))
    for line in lines.values():
        line["points"].sort(key=lambda point: point[0] or 0)
        line |= {"reach": reach(line["points"]), "bands": _bands(line["name"])}
    measured = {line["task"] for line in lines.values() if line["name"]}
    found = {"lines": list(lines.values()), **_trained(measured)}
    return found | {"units": {name: unit_of(name) for name in tables()}}


def reach(points: list[list[Any]]) -> int | None:
    """Returns the largest length up to which all measured accuracies are high; None if there is none."""
    good = list(itertools.takewhile(lambda point: point[1] >= REACH, measured(points)))
    return good[-1][0] if good else None


def first_broken(points: list[list[Any]]) -> list[Any] | None:
    """Returns the first point whose measured accuracy is not high, or None."""
    return next((point for point in measured(points) if point[1] < REACH), None)


def measured(points: list[list[Any]]) -> list[list[Any]]:
    """Returns the points that have a length and an accuracy of ours."""
    return [point for point in points if point[0] is not None and point[1] is not None]


def verdict(mechanism: str, up: str) -> str:
    """Returns on which tasks a mechanism goes on beyond the trained lengths, and on which it breaks and where.

    Of each task it is the run with the longest reach; only measured lengths count.
    """
    found: dict[str, dict[str, Any]] = {}
    trained = data()["trained"]
    for line in data()["lines"]:
        own = measured(line["points"]) if line["name"] else []
        beyond = [point for point in own if point[0] > trained[line["task"]][1]]
        if line["mechanism"] == mechanism and beyond:
            other = found.setdefault(line["task"], line)
            found[line["task"]] = max(other, line, key=lambda one: (one["reach"] or 0, one["preset"]))
    holds, breaks = [], []
    for task, line in sorted(found.items()):
        broken = first_broken(line["points"])
        extra = "".join(f"; {word}" for word in line["supervision"] or [])
        where = f"up to {line['reach']:,}" if broken is None else f"{100 * broken[1]:.3g} % at {broken[0]:,}"
        (breaks if broken else holds).append(f"[{task}]({up}tasks/{task}.md) ({where}{extra})")
    said = [f"It **goes on** to the longest length measured on {', '.join(holds)}."] if holds else []
    said += [f"It **breaks** on {', '.join(breaks)}."] if breaks else []
    return "\n\n".join(said)


def _is_preset(name: str | None) -> bool:
    return name is not None and catalogue.bundled(name, catalogue.PRESET) is not None


def _bands(name: str | None) -> dict[str, list[float]]:
    """Returns the 95 % intervals of a preset by length, over its examples."""
    if not _is_preset(name):
        return {}
    rows = [row for row in Preset.find(str(name)).rows if row["metric"] == "sequence_accuracy" and row["length"]]
    return {str(row["length"]): [row["low"], row["high"]] for row in rows}
