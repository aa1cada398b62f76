"""The papers' tables beside ours: mechanism x task x length."""

from dataclasses import asdict
from typing import Any

from kzoo import tasks
from kzoo.cards.markdown import table_of
from kzoo.cards.tally import MARGIN, tally, tally_table
from kzoo.evaluation.report import percent
from kzoo.evaluation.seeds import aggregate
from kzoo.saving import catalogue
from kzoo.saving.preset import Preset

NOT_RUN = "not run"


def cells() -> list[dict[str, Any]]:
    """Returns a cell for every preset, recorded run and length, and for every published number that was not run.

    Each has `name` (of the preset or run, or None), `mechanism`, `task`, `supervision`, `length`, `ours` (the mean over
    training seeds where the paper has means, else the median; or None), `seeds` (the value by training seed), `spread`
    (an `Aggregate` of two seeds or more, as a dict, or None), `published` (or None), and `paper`: the same, or None
    where it cannot stand beside ours, as `why` then says.
    """
    runs: dict[str, list[Preset]] = {}
    for name in catalogue.names_of(catalogue.PRESET, catalogue.RUN):
        found = Preset.find(name)
        runs.setdefault(str(found.task), []).append(found)
    return [cell for name in tasks.names() for cell in _cells_of(name, runs.get(name, []))]


def _cells_of(name: str, runs: list[Preset]) -> list[dict[str, Any]]:
    """Returns the cells of a task: a line a preset or run, and a line a published mechanism that was not run."""
    published, found = tasks.get(name).published, []
    missing = set(published.accuracy) - {run.mechanism for run in runs}
    lines = [(str(run.mechanism), run.name, run) for run in runs] + [(mechanism, "", None) for mechanism in missing]
    for mechanism, own, run in sorted(lines, key=lambda line: line[:2]):
        values: dict[Any, dict[int, float]] = {}
        for row in [*run.rows, *run.other_rows] if run else []:
            if row["metric"] == "sequence_accuracy" and row["task"] == name:
                values.setdefault(row["length"], {}).setdefault(row["training_seed"] or 0, row["value"])
        why = published.why_not(mechanism, run.supervision) if values and run else None
        numbers = published.accuracy.get(mechanism, {})
        for length in sorted({*values, *numbers}, key=lambda x: x or 0):
            seeds = values.get(length, {})
            ours = aggregate(list(seeds.values()), published.statistic)
            cell: dict[str, Any] = {"name": own or None, "mechanism": mechanism, "task": name}
            cell |= {"supervision": run.supervision if run else [], "length": length, "seeds": seeds}
            cell |= {"ours": ours.value if ours else None, "spread": asdict(ours) if ours and ours.runs > 1 else None}
            cell |= {"published": numbers.get(length), "paper": None if why else numbers.get(length), "why": why}
            found.append(cell)
    return found


def markdown() -> str:
    """Returns a Markdown table a task, with a row a preset or run and a column a length: ours / the paper's."""
    parts = [
        "# Results by mechanism, task and length",
        "Sequence accuracy, end symbol included: ours / the paper's. A row is a preset or a recorded run; supervision "
        "is what its training had beyond pairs of source and target. Where the paper has means over its runs, ours is "
        "the mean, ± the standard deviation over seeds; else the median, and the lowest and the highest. Rendered by "
        "`kzoo results --markdown`; `kzoo results --run` makes the runs that are missing.",
    ]
    found = cells()
    parts.append(
        "A recorded run has its budget in its recipe. Those of the recurrent models follow one recipe, 8 epochs (12 on "
        "lookup) with a cosine rate, where the paper trains up to 100: what falls short may be for want of training."
    )
    parts.append(
        f"A published number is *reproduced* where ours differs by {100 * MARGIN:.0f} point or less, and *not "
        f"comparable* where our run was given something else, as the table says.\n\n{tally_table(tally(found))}"
    )
    by_task: dict[str, list[dict[str, Any]]] = {}
    for cell in found:
        by_task.setdefault(cell["task"], []).append(cell)
    for task, own in by_task.items():
        lengths = sorted({cell["length"] for cell in own}, key=lambda x: x or 0)
        header = ["mechanism", "run", "supervision", "seeds", *(str(length or "test split") for length in lengths)]
        lines = []
        for mechanism, name in dict.fromkeys((cell["mechanism"], cell["name"]) for cell in own):
            row = {cell["length"]: cell for cell in own if (cell["mechanism"], cell["name"]) == (mechanism, name)}
            first = next(iter(row.values()))
            words = "not stated" if first["supervision"] is None else ", ".join(first["supervision"]) or "none"
            seeds = ", ".join(map(str, sorted({seed for cell in row.values() for seed in cell["seeds"]})))
            facts = [mechanism, _link(name), words if name else "", seeds or NOT_RUN]
            lines.append([*facts, *(_both(row.get(length)) for length in lengths)])
        whys = {cell["mechanism"]: cell["why"] for cell in own if cell["why"]}
        notes = "".join(f"\n\n{mechanism}: no number of the paper, since {why}." for mechanism, why in whys.items())
        parts.append(f"## {task}\n\n{_source(task)}\n\n" + table_of(header, lines) + notes)
    return "\n\n".join(parts) + "\n"


def _link(name: str | None) -> str:
    if name is None:
        return ""
    return f"[{name}]({name}.md)" if catalogue.bundled(name, catalogue.PRESET) else f"[{name}](../presets/{name})"


def _both(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return ""
    ours, spread = NOT_RUN if cell["ours"] is None else percent(cell["ours"]), cell["spread"]
    if spread is not None:
        low, high = (percent(choose(cell["seeds"].values())) for choose in (min, max))
        if spread["statistic"] == "mean":
            ours += f" ± {100 * spread['sd']:.1f}"
        elif low != high:
            ours += f" ({low} to {high})"
    return f"{ours} / {percent(cell['paper']) or '-'}"


def _source(task: str) -> str:
    """Returns where the published numbers of a task are from, and what they are."""
    known = tasks.get(task)
    runs = f" of {known.published.runs} runs" if known.published.runs else ""
    return known.paper + (f": {known.published.statistic}s{runs}" if known.published.statistic else "")
