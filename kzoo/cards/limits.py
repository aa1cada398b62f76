"""The limits of a preset, as its card says them."""

from kzoo.cards.markdown import plain
from kzoo.cards.row_tables import length_of, listed
from kzoo.evaluation.report import percent
from kzoo.saving.documents import Row
from kzoo.saving.preset import Preset

RIGHT = 0.99  # less is told
WORSE = 0.01  # of other seeds, too
FEW = 20  # examples whose share is told as a count


def limits(preset: Preset, constructed: bool) -> str:
    """Returns the section: what is not right, how the worst seed and stratum do, and what was not measured."""
    whole = [row for row in preset.rows if row["metric"] == "sequence_accuracy"]
    lines = [plain(line) for line in preset.metadata.get("limits", [])]
    failing = [row for row in whole if row["value"] < RIGHT]
    if failing:
        worst = min(failing, key=_value)
        share = f"Only {percent(worst['value'])}" if worst["value"] else "None"
        lines.insert(0, f"{share} of the sequences are right {length_of(worst)}.")
    lines += [] if constructed else _of_seeds(preset, whole)
    lines += _of_strata(preset.stratum_rows)
    least = _worst(preset.stratum_rows, preset.other_stratum_rows)
    if least:
        lines.append(f"With another training seed {percent(least['value'])} of {_named(least)} are right.")
    longest = max(row["length"] or row["lengths"][1] for row in preset.rows)
    lines.append(f"Nothing was measured beyond length {longest}.")
    return "## Limits\n\n" + "\n".join(f"- {line}" for line in lines)


def _of_seeds(preset: Preset, whole: list[Row]) -> list[str]:
    """Returns how much worse the worst training seed is than these weights, or that there is no other."""
    seeds = {row["training_seed"] for row in [*preset.rows, *preset.other_rows]}
    if len(seeds) < 2:
        return ["One training seed: another may do worse."]
    worst = _worst(whole, preset.other_rows)
    if worst is None:
        return []
    return [f"Of {len(seeds)} training seeds the worst has {percent(worst['value'])} {length_of(worst)}."]


def _worst(own: list[Row], others: list[Row]) -> Row | None:
    """Returns the row of another training seed that is the farthest below these weights, of those with `FEW`
    examples or more; None where none is far.
    """
    known = {_place(row): row["value"] for row in own if row["metric"] == "sequence_accuracy"}
    found = [r for r in others if r["metric"] == "sequence_accuracy" and _place(r) in known and r["n"] >= FEW]
    worst = min(found, key=lambda row: row["value"] - known[_place(row)], default=None)
    return worst if worst and worst["value"] < known[_place(worst)] - WORSE else None


def _of_strata(rows: list[Row]) -> list[str]:
    """Returns which stratum is the worst, and of how few examples of others not all are right."""
    failing = sorted((row for row in rows if row["value"] < RIGHT), key=_value)
    many = [row for row in failing if row["n"] >= FEW]
    few = [f"{round(row['value'] * row['n'])} of {row['n']} {_named(row)}" for row in failing if row["n"] < FEW]
    lines = []
    if many:
        lines.append(f"Of the strata {_named(many[0])} is the worst: only {percent(many[0]['value'])} are right.")
    if few:
        lines.append(f"Of strata with fewer than {FEW} examples only {listed(few)} are right.")
    return lines


def _named(row: Row) -> str:
    return f"{row['stratum']} at length {row['length']}" if row["length"] else str(row["stratum"])


def _place(row: Row) -> tuple[str | None, int | None]:
    return row.get("stratum"), row["length"]


def _value(row: Row) -> float:
    return float(row["value"])
