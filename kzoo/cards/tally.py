"""How many published numbers our runs reproduce."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from kzoo.cards.markdown import table_of

MARGIN = 0.01
OUTCOMES = ("reproduced", "higher", "lower", "not comparable", "not run")


def outcome(cell: dict[str, Any]) -> str | None:
    """Returns what became of the published number of a cell, one of `OUTCOMES`; None if it has none.

    Args:
        cell: dict, from `kzoo.cards.results_page.cells`.
    """
    if cell["published"] is None:
        return None
    if cell["ours"] is None:
        return "not run"
    if cell["paper"] is None:
        return "not comparable"
    difference = cell["ours"] - cell["paper"]
    return "reproduced" if abs(difference) <= MARGIN + 1e-9 else "higher" if difference > 0 else "lower"


def tally(cells: Iterable[dict[str, Any]]) -> dict[str, Counter[str]]:
    """Returns how many published numbers of each task have which outcome; of several runs the best outcome counts."""
    best: dict[tuple[str, str, Any], str] = {}
    for cell in cells:
        found = outcome(cell)
        if found is not None:
            key = (cell["task"], cell["mechanism"], cell["length"])
            best[key] = min(best.get(key, found), found, key=OUTCOMES.index)
    counts: dict[str, Counter[str]] = {}
    for (task, _, _), found in best.items():
        counts.setdefault(task, Counter())[found] += 1
    return counts


def tally_table(counts: dict[str, Counter[str]]) -> str:
    """Returns the counts as Markdown, a line a task and one for all, the tasks linked to their tables."""
    header = ["task", "published", *OUTCOMES]
    total = sum(counts.values(), Counter[str]())
    named = [("all", total), *((f"[{task}](#{task})", own) for task, own in counts.items())]
    return table_of(header, [[name, str(own.total()), *(str(own[word]) for word in OUTCOMES)] for name, own in named])
