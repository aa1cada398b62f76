"""The page of results: all rows as data that the browser sorts and draws."""

import json
from typing import Any

from docs.tables import explanations, relink, tables, unit_of
from kzoo import tasks
from kzoo.cards.results_page import cells
from kzoo.saving import catalogue
from kzoo.saving.preset import Preset

REACH = 0.95
PAGE = """# Results

<div class="kzoo-results"></div>

*Reach* is the largest measured length with at least 95 % of the sequences right, all shorter measured ones included;
only measured lengths count. Hollow points are the paper's. Choose rows to compare their curves; the address keeps
what is chosen.

## How often the published numbers are reached

{}
"""


def results_pages() -> dict[str, str]:
    """Returns the page, and `assets/results.json`, which it and the pages of the tasks load."""
    return {"results.md": PAGE.format(relink(explanations(), "")), "assets/results.json": json.dumps(data())}


def data() -> dict[str, Any]:
    """Returns what was measured and published, a line a preset, recorded run or published mechanism."""
    lines: dict[tuple[str, str, str | None], dict[str, Any]] = {}
    for cell in cells():
        key = (cell["task"], cell["mechanism"], cell["name"])
        line = lines.setdefault(key, {"task": cell["task"], "mechanism": cell["mechanism"], "name": cell["name"]})
        line |= {"supervision": cell["supervision"], "preset": _is_preset(cell["name"])}
        paper = cell["published"] if cell["ours"] is None else cell["paper"]
        line.setdefault("points", []).append([cell["length"], cell["ours"], paper])
        line["seeds"] = max(line.get("seeds", 0), len(cell["seeds"]))
    for line in lines.values():
        line["points"].sort(key=lambda point: point[0] or 0)
        line |= {"reach": reach(line["points"]), "bands": _bands(line["name"])}
    measured = {line["task"] for line in lines.values() if line["name"]}
    trained = {name: tasks.get(name).splits["train"].lengths for name in sorted(measured)}
    return {"lines": list(lines.values()), "trained": trained, "units": {name: unit_of(name) for name in tables()}}


def reach(points: list[list[Any]]) -> int | None:
    """Returns the largest length up to which all measured accuracies are high; None if there is none."""
    found = None
    for length, ours, _ in points:
        if length is None or ours is None:
            continue
        if ours < REACH:
            break
        found = length
    return found


def _is_preset(name: str | None) -> bool:
    return name is not None and catalogue.bundled(name, catalogue.PRESET) is not None


def _bands(name: str | None) -> dict[str, list[float]]:
    """Returns the 95 % intervals of a preset by length, over its examples."""
    if not _is_preset(name):
        return {}
    rows = [row for row in Preset.find(str(name)).rows if row["metric"] == "sequence_accuracy" and row["length"]]
    return {str(row["length"]): [row["low"], row["high"]] for row in rows}
