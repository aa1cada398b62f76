"""Strata of the tasks whose splits are lists, by what their sources and targets have."""

from collections.abc import Callable, Sequence

from kzoo.tasks.base import Example
from kzoo.tasks.strata.stratum import Stratum, Tokens

Rows = Callable[[], Sequence[Example]]


def _stratum(rows: Rows, about: str, has: Callable[[Example], bool]) -> Stratum:
    def pool(length: int | None) -> list[Tokens]:
        return [row.source for row in rows() if has(row) and length in (None, len(row.target))]

    return Stratum(about, pool=pool)


def scan_strata(rows: Rows) -> dict[str, Stratum]:
    """Returns the strata of SCAN: the examples of the test split by the words that they have."""
    words = ("and", "after", "twice", "thrice", "opposite", "around", "turn")
    found = {word: _stratum(rows, f'commands with "{word}"', lambda row, w=word: w in row.source) for word in words}  # type: ignore[misc]
    return found | {
        "around_thrice": _stratum(
            rows,
            '"around" with "thrice"',
            lambda row: ("around", "thrice") in zip(row.source, row.source[2:], strict=False),
        ),
        "one_side": _stratum(rows, "one side only", lambda row: ("left" in row.source) != ("right" in row.source)),
        "same_phrases": _stratum(
            rows,
            "the same phrase twice",
            lambda row: row.source[: len(row.source) // 2] == row.source[len(row.source) // 2 + 1 :],
        ),
    }


def cfq_strata(rows: Rows) -> dict[str, Stratum]:
    """Returns the strata of CFQ: the examples of the test split by what their queries have."""
    return {
        "count": _stratum(rows, "questions for yes or no", lambda row: "count" in row.target),
        "select": _stratum(rows, "questions for entities", lambda row: "count" not in row.target),
        "filter": _stratum(rows, "queries with a filter", lambda row: "FILTER" in row.target),
        "variables": _stratum(rows, "queries with a second variable", lambda row: "?x1" in row.target),
    }
