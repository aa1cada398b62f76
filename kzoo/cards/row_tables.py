"""Tables of a preset's rows, those of other seeds and those of strata, and words for their lengths."""

from typing import Any

from kzoo.cards.markdown import table_of
from kzoo.evaluation.report import percent
from kzoo.evaluation.seeds import spoken_spread
from kzoo.saving.documents import Row


def other_seeds(own: list[Row], others: list[Row], statistic: str | None) -> str:
    """Returns a table of sequence accuracies, a line a training seed but the preset's own, and one for all of them:
    their mean and standard deviation, or their median, the lowest and the highest; empty without other seeds.
    """
    whole = [row for row in others if row["metric"] == "sequence_accuracy"]
    if not whole:
        return ""
    lengths = sorted({row["length"] or 0 for row in whole})
    lines = []
    for seed in sorted({row["training_seed"] or 0 for row in whole}):
        values = {row["length"] or 0: row["value"] for row in whole if row["training_seed"] == seed}
        lines.append([str(seed), *(percent(values.get(length)) for length in lengths)])
    all_seeds = [row for row in [*own, *others] if row["metric"] == "sequence_accuracy"]
    found = [[row["value"] for row in all_seeds if (row["length"] or 0) == length] for length in lengths]
    lines.append([f"all, {statistic or 'median'}", *(spoken_spread(values, statistic) for values in found)])
    return table_of(["seed", *(str(n or "test split") for n in lengths)], lines)


def strata_table(rows: list[Row], others: list[Row], task: Any) -> str:
    """Returns a table of sequence accuracies, a line a stratum and a column a length; empty without rows. Behind a
    stroke stands the least of all training seeds, where others were measured.
    """
    whole, measured = ([row for row in some if row["metric"] == "sequence_accuracy"] for some in (rows, others))
    if not whole:
        return ""
    least: dict[Any, float] = {}
    for row in measured:
        place = row["stratum"], row["length"] or 0
        least[place] = min(row["value"], least.get(place, 1.0))
    lengths = sorted({row["length"] or 0 for row in whole})
    lines = []
    for stratum in dict.fromkeys(row["stratum"] for row in whole):
        own = {row["length"] or 0: row for row in whole if row["stratum"] == stratum}
        cells = [_with_least(own[n]["value"], least.get((stratum, n))) if n in own else "" for n in lengths]
        counts = [f"{own[n]['n']:,}" for n in lengths if n in own]
        name = f"{stratum}: {task.strata[stratum].about}" if stratum in task.strata else stratum
        lines.append([name, *cells, ", ".join(dict.fromkeys(counts))])
    return table_of(["stratum", *(str(n or "test split") for n in lengths), "n"], lines)


def _with_least(value: float, others: float | None) -> str:
    return percent(value) if others is None else f"{percent(value)} / {percent(min(value, others))}"


def length_of(row: Row) -> str:
    """Returns how a text names the length of a row."""
    return (
        f"at {row['length']}" if row["length"] is not None else "on the test split ({} to {})".format(*row["lengths"])
    )


def listed(words: list[str]) -> str:
    """Returns words with commas and "and" between them, "at" before the first alone."""
    first, *others = words
    others = [word.removeprefix("at ") for word in others]
    return first if not others else f"{', '.join([first, *others[:-1]])} and {others[-1]}"
