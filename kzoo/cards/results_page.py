"""The papers' tables beside ours: mechanism x task x length."""

from statistics import median
from typing import Any

from kzoo import tasks
from kzoo.evaluation.report import percent
from kzoo.evaluation.results import run_document
from kzoo.saving import catalogue

NOT_RUN = "not run"


def cells() -> list[dict[str, Any]]:
    """Returns a cell for every mechanism, task and length that a paper reports or that was run.

    Each has `mechanism`, `task`, `length`, `ours` (the median over training seeds, or None), `seeds` (the value by
    training seed), and `paper` (or None).
    """
    names = [*catalogue.list_presets(), *catalogue.list_runs()]
    found = []
    for name in tasks.names():
        task = tasks.get(name)
        run = {n.removesuffix(f"_{name}"): run_document(n) for n in names if n.endswith(f"_{name}")}
        for mechanism in sorted({*task.paper_accuracy, *run}):
            values: dict[Any, dict[int, float]] = {}
            for row in run.get(mechanism, {}).get("rows", []):
                if row["metric"] == "sequence_accuracy" and row["task"] == name and not {"stratum", "stage"} & set(row):
                    values.setdefault(row["length"], {})[row["training_seed"]] = row["value"]
            published = task.paper_accuracy.get(mechanism, {})
            for length in sorted({*values, *published}, key=lambda x: x or 0):
                seeds = values.get(length, {})
                cell = {"mechanism": mechanism, "task": name, "length": length, "seeds": seeds}
                cell |= {"ours": median(seeds.values()) if seeds else None, "paper": published.get(length)}
                found.append(cell)
    return found


def markdown() -> str:
    """Returns the tables as Markdown: a table a task, a row a mechanism, a column a length, ours over the paper's."""
    parts = [
        "# Results by mechanism, task and length",
        "Sequence accuracy, end symbol included: ours (the median over training seeds) / the paper's. Rendered by "
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
        parts.append(f"## {task}\n\n{tasks.get(task).paper}\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _both(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return ""
    ours = NOT_RUN if cell["ours"] is None else percent(cell["ours"])
    return f"{ours} / {percent(cell['paper']) or '-'}"
