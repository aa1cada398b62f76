"""The papers' tables beside ours: mechanism x task x length."""

from dataclasses import asdict
from typing import Any

from kzoo import tasks
from kzoo.evaluation.report import percent
from kzoo.evaluation.results import run_document
from kzoo.evaluation.seeds import aggregate
from kzoo.saving import catalogue

NOT_RUN = "not run"


def cells() -> list[dict[str, Any]]:
    """Returns a cell for every mechanism, task and length that a paper reports or that was run.

    Each has `mechanism`, `task`, `length`, `ours` (the mean over training seeds where the paper has means, else the
    median; or None), `seeds` (the value by training seed), `spread` (an `Aggregate` of two seeds or more, as a dict, or
    None), `published` (or None), and `paper`: the same, or None where it cannot stand beside ours, as `why` then says.
    """
    names = [*catalogue.list_presets(), *catalogue.list_runs()]
    found = []
    for name in tasks.names():
        task = tasks.get(name)
        run = {n.removesuffix(f"_{name}"): run_document(n) for n in names if n.endswith(f"_{name}")}
        for mechanism in sorted({*task.published.accuracy, *run}):
            values: dict[Any, dict[int, float]] = {}
            for row in run.get(mechanism, {}).get("rows", []):
                if row["metric"] == "sequence_accuracy" and row["task"] == name and not {"stratum", "stage"} & set(row):
                    values.setdefault(row["length"], {})[row["training_seed"]] = row["value"]
            published = task.published.accuracy.get(mechanism, {})
            why = task.published.why_not(mechanism) if values else None
            for length in sorted({*values, *published}, key=lambda x: x or 0):
                seeds = values.get(length, {})
                cell = {"mechanism": mechanism, "task": name, "length": length, "seeds": seeds}
                own = aggregate(list(seeds.values()), task.published.statistic)
                cell |= {"ours": own.value if own else None, "spread": asdict(own) if own and own.runs > 1 else None}
                cell |= {
                    "published": published.get(length),
                    "paper": None if why else published.get(length),
                    "why": why,
                }
                found.append(cell)
    return found


def markdown() -> str:
    """Returns the tables as Markdown: a table a task, a row a mechanism, a column a length, ours over the paper's."""
    parts = [
        "# Results by mechanism, task and length",
        "Sequence accuracy, end symbol included: ours / the paper's. Where the paper has means over its runs, ours is "
        "the mean, ± the standard deviation over seeds; else the median, and the lowest and the highest. Rendered by "
        "`kzoo results --markdown`; `kzoo results --run` makes the runs that are missing.",
    ]
    by_task: dict[str, list[dict[str, Any]]] = {}
    for cell in cells():
        by_task.setdefault(cell["task"], []).append(cell)
    for task, own in by_task.items():
        lengths = sorted({cell["length"] for cell in own}, key=lambda x: x or 0)
        header = ["mechanism", "seeds", *(str(length or "whole test split") for length in lengths)]
        lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
        for mechanism in dict.fromkeys(cell["mechanism"] for cell in own):
            row = {cell["length"]: cell for cell in own if cell["mechanism"] == mechanism}
            seeds = sorted({seed for cell in row.values() for seed in cell["seeds"]})
            shown = [_both(row.get(length)) for length in lengths]
            lines.append("| " + " | ".join([mechanism, ", ".join(map(str, seeds)) or NOT_RUN, *shown]) + " |")
        whys = {cell["mechanism"]: cell["why"] for cell in own if cell["why"]}
        notes = "".join(f"\n\n{mechanism}: no number of the paper, since {why}." for mechanism, why in whys.items())
        parts.append(f"## {task}\n\n{_source(task)}\n\n" + "\n".join(lines) + notes)
    return "\n\n".join(parts) + "\n"


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
