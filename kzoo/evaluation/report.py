"""What an evaluation found: one row a length and metric."""

import html
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kzoo.errors import BackendError
from kzoo.tasks import get as get_task
from kzoo.tasks import names

Row = dict[str, Any]
SEQUENCE = "sequence_accuracy"


@dataclass(repr=False)
class Report:
    """The rows of one evaluation, keyed by length and metric.

    A row has `preset`, `task`, `length`, `metric`, `value` (accuracies in 0..1), `n` examples drawn with `seed`, the 95
    % Wilson interval `low`, `high`, `backend`, `version` of kzoo, `weights_sha256`, and `paper`, the published number
    for this mechanism, task and length, or None. The length None is the whole test split, with its range in
    `lengths`. `trained` is False where the weights were set. What was measured on a stratum says its name in `stratum`.
    """

    preset: str | None
    task: str
    backend: str
    rows: list[Row] = field(default_factory=list)
    trained: bool = True

    def accuracy(self, metric: str = "sequence_accuracy") -> dict[int | None, float]:
        """Returns the value at each length."""
        return {row["length"]: row["value"] for row in self.rows if row["metric"] == metric and "stratum" not in row}

    def __getitem__(self, length: int | None) -> float:
        return self.accuracy()[length]

    def to_json(self) -> str:
        """Returns one JSON object with preset, task, backend and rows."""
        return json.dumps(
            {"preset": self.preset, "task": self.task, "backend": self.backend, "rows": self.rows}, indent=1
        )

    def to_dataframe(self) -> Any:
        """Returns the rows as a pandas DataFrame.

        Raises:
            BackendError: pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise BackendError("a DataFrame needs pandas, which is not installed: pip install pandas") from None
        return pandas.DataFrame(self.rows)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Returns header and lines of cells, as they are shown."""
        strata = [row for row in self.rows if "stratum" in row]
        return stratum_table(strata) if strata else table(self.rows, self.trained)

    def __str__(self) -> str:
        return text_table(*self.table())

    def __repr__(self) -> str:
        accuracies = (f"{row_length(row)}: {percent(row['value'])}" for row in self.rows if row["metric"] == SEQUENCE)
        return f"<report of {self.preset or 'a model'} on {self.task}: {', '.join(accuracies)}>"

    def _repr_html_(self) -> str:
        return html_table(*self.table())


COLUMNS = {
    "token_accuracy": "token accuracy",
    "majority_accuracy": "most frequent label",
    "accuracy_before_end": "before the end",
    "last_token_accuracy": "last token",
    "edit_distance": "edit distance",
    "attention_loss": "attention loss",
}


def table(rows: Iterable[Mapping[str, Any]], trained: bool = True) -> tuple[list[str], list[list[str]]]:
    """Returns header and lines of cells, a line a length, from rows of one preset and seed, trained or constructed."""
    by_length: dict[int | None, dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        by_length.setdefault(row["length"], {})[row["metric"]] = row
    others = [metric for metric in COLUMNS if any(metric in found for found in by_length.values())]
    measured = any("sequence_accuracy" in found for found in by_length.values())
    whole_columns = ["sequence accuracy", "95 % interval"] if measured else []
    header = ["length", *whole_columns, *(COLUMNS[m] for m in others), "n", *(["the paper"] if measured else [])]
    lines = []
    for _, metrics in sorted(by_length.items(), key=lambda item: item[0] or 0):
        whole = metrics.get("sequence_accuracy")
        any_row = next(iter(metrics.values()))
        cells = [percent(whole["value"]), f"{percent(whole['low'])} to {percent(whole['high'])}"] if whole else ["", ""]
        lines.append(
            [
                length_label(any_row, trained),
                *cells[: len(whole_columns)],
                *(_shown(metric, metrics.get(metric)) for metric in others),
                f"{any_row['n']:,}",
                *([percent(whole.get("paper")) if whole else ""] if measured else []),
            ]
        )
    return header, lines


def row_length(row: Mapping[str, Any]) -> str:
    """Returns stratum and length of a row in short."""
    length = "-".join(map(str, row.get("lengths", []))) if row["length"] is None else str(row["length"])
    return f"{row['stratum']} {length}" if "stratum" in row else length


def length_label(row: Mapping[str, Any], trained: bool = True) -> str:
    """Returns the length of a row as it is shown: of a whole split its range; and whether its examples were seen in
    training, if there was one, since the task has no others.
    """
    if row["length"] is None:
        return "-".join(map(str, row["lengths"]))
    known = row.get("task") in names()
    seen = trained and known and row["length"] in get_task(row["task"]).seen_lengths
    return f"{row['length']}{' (seen in training)' if seen else ''}"


def stratum_table(rows: Iterable[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Returns header and lines of cells, a line a stratum, from rows of one preset and seed: the accuracy at each
    length, its 95 % interval and, behind a slash, the number of examples.
    """
    by_name: dict[str, dict[str, str]] = {}
    lengths: dict[str, int] = {}
    for row in rows:
        length = "test split" if row["length"] is None else str(row["length"])
        lengths[length] = row["length"] or 0
        cell = f"{percent(row['value'])} ({percent(row['low'])} to {percent(row['high'])}) / {row['n']:,}"
        by_name.setdefault(row["stratum"], {})[length] = cell
    shown = sorted(lengths, key=lambda length: lengths[length])
    return ["stratum", *shown], [[name, *(found.get(n, "") for n in shown)] for name, found in by_name.items()]


def _shown(metric: str, row: Mapping[str, Any] | None) -> str:
    if row is None:
        return ""
    return percent(row["value"], 2) if "accuracy" in metric else f"{row['value']:.4g}"


def percent(value: float | None, digits: int = 1) -> str:
    """Returns a share as a percentage, never rounded up to 100 or down to 0; an empty text for None."""
    if value is None:
        return ""
    scaled, limit = 100 * value, 10**-digits
    if scaled < 100:
        scaled = min(scaled, 100 - limit)
    if scaled > 0:
        scaled = max(scaled, limit)
    text = f"{scaled:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if value in (0, 1) else text) + " %"


def whole_percent(share: float) -> str:
    """Returns a share in whole percent, without the sign; what is not quite 0 or 100 is "<1" or ">99"."""
    near = round(100 * share)
    return "<1" if share > 0 and near < 1 else ">99" if share < 1 and near > 99 else str(near)


def score_of_seeds(share: float, seeds: int) -> str:
    """Returns the mean over seeds in whole percent, and how many there are, as "67 (3)"."""
    return f"{whole_percent(share)} ({seeds})"


def text_table(header: list[str], lines: list[list[str]]) -> str:
    """Returns a table for a terminal: columns of numbers are right-aligned, of words left-aligned."""
    columns = [list(column) for column in zip(header, *lines, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    right = [all(not any(map(str.isalpha, cell.replace(" to ", ""))) for cell in cells) for _, *cells in columns]
    rows = [header, ["-" * width for width in widths], *lines]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, right, strict=True)
        )
        for row in rows
    )


def html_table(header: list[str], lines: list[list[str]]) -> str:
    """Returns a table in HTML, for a notebook."""

    def row(cells: list[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    return f"<table>{row(header, 'th')}{''.join(row(cells, 'td') for cells in lines)}</table>"


def wilson(share: float, n: int, z: float = 1.959964) -> tuple[float, float]:
    """Returns the 95 % Wilson interval of a share measured on n examples.

    Args:
        share: float in 0..1.
        n: int, at least 1.
        z: float. The normal quantile.
    """
    center = share + z * z / (2 * n)
    margin = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At 0 and 1 the bounds are exact, which rounding would miss.
    low = 0.0 if share == 0 else max(0.0, (center - margin) / scale)
    return low, 1.0 if share == 1 else min(1.0, (center + margin) / scale)
