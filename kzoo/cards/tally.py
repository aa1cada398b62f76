"""How many published numbers our runs reproduce, and which."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from kzoo.cards.markdown import table_of

MARGIN = 0.01
# In the order of preference, where several runs of a mechanism differ.
OUTCOMES = ("reproduced", "higher", "lower", "not comparable", "not run", "needs data")
Number = tuple[str, str, int | None]  # task, mechanism and length of a published number


def outcome(cell: dict[str, Any]) -> str | None:
    """Returns what became of the published number of a cell, one of `OUTCOMES`; None if it has none.

    Args:
        cell: dict, from `kzoo.cards.results_page.cells`.
    """
    if cell["published"] is None:
        return None
    if cell["ours"] is None:
        return "needs data" if cell["needs"] else "not run"
    if cell["paper"] is None:
        return "not comparable"
    difference = cell["ours"] - cell["paper"]
    return "reproduced" if abs(difference) <= MARGIN + 1e-9 else "higher" if difference > 0 else "lower"


def outcomes(cells: Iterable[dict[str, Any]]) -> dict[Number, str]:
    """Returns what became of every published number; of several runs the best outcome counts."""
    best: dict[Number, str] = {}
    for cell in cells:
        found = outcome(cell)
        if found is not None:
            key = (cell["task"], cell["mechanism"], cell["length"])
            best[key] = min(best.get(key, found), found, key=OUTCOMES.index)
    return best


def tally(found: dict[Number, str]) -> dict[str, Counter[str]]:
    """Returns how many published numbers of each task have which outcome."""
    counts: dict[str, Counter[str]] = {}
    for (task, _, _), word in found.items():
        counts.setdefault(task, Counter())[word] += 1
    return counts


def summary(found: dict[Number, str]) -> str:
    """Returns the sentence that says how many published numbers have which outcome, each linked to its list."""
    counts = Counter(found.values())
    parts = [f"[{counts[word]} {word}](#{_anchor(word)})" for word in OUTCOMES if counts[word]]
    return f"Of {len(found)} published numbers: {', '.join(parts)}."


def extremes(cells: Iterable[dict[str, Any]], found: dict[Number, str]) -> str:
    """Returns the sentence that says of how many reproduced numbers both fail, and of how many both succeed."""
    published = {(cell["task"], cell["mechanism"], cell["length"]): cell["published"] for cell in cells}
    shares = [published[key] for key, word in found.items() if word == "reproduced"]
    low, high = sum(share <= MARGIN for share in shares), sum(share >= 1 - MARGIN for share in shares)
    near = 100 * MARGIN
    return (
        f" Of those reproduced, {low} are {near:.0f} % or less, where both fail, {high} are {100 - near:.0f} % or "
        f"more, where both succeed, and {len(shares) - low - high} are between."
    )


def tally_table(counts: dict[str, Counter[str]]) -> str:
    """Returns the counts as Markdown, a line a task and one for all, the tasks linked to their tables."""
    header = ["task", "published", *OUTCOMES]
    total = sum(counts.values(), Counter[str]())
    named = [("all", total), *((f"[{task}](#{task})", own) for task, own in counts.items())]
    return table_of(header, [[name, str(own.total()), *(str(own[word]) for word in OUTCOMES)] for name, own in named])


def lists(found: dict[Number, str]) -> list[str]:
    """Returns a section an outcome: which mechanisms of which tasks, at which lengths."""
    parts = []
    for word in OUTCOMES:
        lines: dict[str, dict[str, list[str]]] = {}
        for (task, mechanism, length), own in found.items():
            if own == word:
                lines.setdefault(task, {}).setdefault(mechanism, []).append(str(length or "test split"))
        if lines:
            told = (
                f"- [{task}](#{task}): " + "; ".join(f"{name} {', '.join(own)}" for name, own in sorted(rows.items()))
                for task, rows in lines.items()
            )
            parts.append(f"## {word.capitalize()}\n\n" + "\n".join(told))
    return parts


def _anchor(word: str) -> str:
    return word.replace(" ", "-")
