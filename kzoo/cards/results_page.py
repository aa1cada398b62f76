"""The papers' tables beside ours: mechanism x task x length."""

from collections import Counter
from dataclasses import asdict
from typing import Any

from kzoo import tasks
from kzoo.cards.markdown import plain, table_of
from kzoo.cards.tally import MARGIN, extremes, lists, outcomes, summary, tally, tally_table
from kzoo.evaluation.report import percent
from kzoo.evaluation.seeds import aggregate, spoken_spread
from kzoo.saving import catalogue
from kzoo.saving.preset import Preset

NOT_RUN, NEEDS_DATA = "not run", "needs data"
FEW = 500  # of so few examples or less, a number stands with how many there are


def cells() -> list[dict[str, Any]]:
    """Returns a cell for every preset, recorded run and length, and for every published number that was not run.

    Each has `name` (of the preset or run, or None), `mechanism`, `task`, `supervision`, `length`, `ours` (the mean over
    training seeds where the paper has means, else the median; or None), `seeds` (the value by training seed), `spread`
    (an `Aggregate` of two seeds or more, as a dict, or None), `n` (the fewest examples of a seed, or None), `steps`
    (of training, by seed), `published` (or None), and `paper`: the same, or None where it cannot stand beside ours, as
    `why` then says. `needs` says what must be fetched before the task can be run; `limits` are those of the preset.
    """
    runs: dict[str, list[Preset]] = {}
    for name in catalogue.names_of(catalogue.PRESET, catalogue.RUN):
        found = Preset.find(name)
        runs.setdefault(str(found.task), []).append(found)
    return [cell for name in tasks.names() for cell in _cells_of(name, runs.get(name, []))]


def _cells_of(name: str, runs: list[Preset]) -> list[dict[str, Any]]:
    """Returns the cells of a task: a line a preset or run, and a line a published mechanism that was not run."""
    task, found = tasks.get(name), []
    published = task.published
    missing = set(published.accuracy) - {run.mechanism for run in runs}
    lines = [(str(run.mechanism), run.name, run) for run in runs] + [(mechanism, "", None) for mechanism in missing]
    for mechanism, own, run in sorted(lines, key=lambda line: line[:2]):
        values: dict[Any, dict[int, float]] = {}
        examples: dict[Any, int] = {}
        for row in [*run.rows, *run.other_rows] if run else []:
            if row["metric"] == "sequence_accuracy" and row["task"] == name:
                values.setdefault(row["length"], {}).setdefault(row["training_seed"] or 0, row["value"])
                examples[row["length"]] = min(row["n"], examples.get(row["length"], row["n"]))
        steps: Counter[int] = Counter()
        for stage in (run.results or {}).get("training", []) if run else []:
            steps[stage["seed"]] += stage.get("steps", 0)
        why = published.why_not(mechanism, run.supervision) if values and run else None
        numbers = published.accuracy.get(mechanism, {})
        for length in sorted({*values, *numbers}, key=lambda x: x or 0):
            seeds = values.get(length, {})
            ours = aggregate(list(seeds.values()), published.statistic)
            cell: dict[str, Any] = {"name": own or None, "mechanism": mechanism, "task": name}
            cell |= {"supervision": run.supervision if run else [], "length": length, "seeds": seeds}
            cell |= {"ours": ours.value if ours else None, "spread": asdict(ours) if ours and ours.runs > 1 else None}
            cell |= {"n": examples.get(length), "steps": dict(steps), "needs": task.needs}
            cell |= {"limits": run.metadata.get("limits", []) if run else []}
            cell |= {"published": numbers.get(length), "paper": None if why else numbers.get(length), "why": why}
            found.append(cell)
    return found


def markdown() -> str:
    """Returns a Markdown table a task, with a row a preset or run and a column a length: ours / the paper's."""
    found = cells()
    numbers = outcomes(found)
    parts = [
        f"# Results by mechanism, task and length\n\n{summary(numbers)}{extremes(found, numbers)}",
        f"A published number is *reproduced* where ours differs by {100 * MARGIN:.0f} point or less, and *not "
        "comparable* where our run was given something else, as the table says. Of several runs of a mechanism, by "
        "different recipes, the best outcome counts.",
        "Sequence accuracy, end symbol included: ours / the paper's. A row is a preset or a recorded run; supervision "
        "is what its training had beyond pairs of source and target, steps are the batches of its training, without "
        "those of a run that it began with. Where the paper has means over its runs, ours is the mean, ± the standard "
        "deviation over seeds; else the median, and the lowest and the highest seed: of three seeds this range has the "
        "true median with a probability of 3/4. "
        f"(n) stands where there are {FEW} test examples or fewer. Lengths marked * have no test examples but those of "
        "training. Rendered by `kzoo results --markdown`; `kzoo results --run` makes the runs that are missing.",
        "Most runs are shorter than the papers', as the steps and the line above each table say: what falls short may "
        "be for want of training. Those of the recurrent models follow one recipe, 8 epochs (12 on lookup) with a "
        "cosine rate. `kzoo results --run NAME_TASK` makes a run that a table lacks, by the recipe that its row links "
        "to, or by the one for the recurrent models.",
        tally_table(tally(numbers)),
    ]
    by_task: dict[str, list[dict[str, Any]]] = {}
    for cell in found:
        by_task.setdefault(cell["task"], []).append(cell)
    parts += [_section(task, own) for task, own in by_task.items()]
    return "\n\n".join([*parts, *lists(numbers)]) + "\n"


def _section(task: str, own: list[dict[str, Any]]) -> str:
    """Returns the table of a task, and what must be known of its rows."""
    lengths = sorted({cell["length"] for cell in own}, key=lambda x: x or 0)
    seen = tasks.get(task).seen_lengths
    columns = (f"{length or 'test split'}{' *' if length in seen else ''}" for length in lengths)
    lines, limits = [], dict[str, list[str]]()
    for mechanism, name in dict.fromkeys((cell["mechanism"], cell["name"]) for cell in own):
        row = {cell["length"]: cell for cell in own if (cell["mechanism"], cell["name"]) == (mechanism, name)}
        first = next(iter(row.values()))
        words = "not stated" if first["supervision"] is None else ", ".join(first["supervision"]) or "none"
        seeds = ", ".join(map(str, sorted({seed for cell in row.values() for seed in cell["seeds"]})))
        facts = [
            mechanism,
            _link(name) if name else _recipe(mechanism, task),
            words if name else "",
            seeds or _missing(first),
            _steps(first["steps"]),
        ]
        lines.append([*facts, *(_both(row.get(length)) for length in lengths)])
        if any(cell["published"] is not None for cell in row.values()) and first["limits"]:
            limits[str(name)] = first["limits"]
    whys = {cell["mechanism"]: cell["why"] for cell in own if cell["why"]}
    notes = [f"{mechanism}: no number of the paper, since {why}." for mechanism, why in whys.items()]
    notes += [f"{name}: {' '.join(map(plain, told))}" for name, told in limits.items()]
    needs = tasks.get(task).needs
    notes += [f"It needs {needs}."] if needs else []
    table = table_of(["mechanism", "run", "supervision", "seeds", "steps", *columns], lines)
    return "\n\n".join([f"## {task}", _source(task), table, *notes])


def _steps(steps: dict[int, int]) -> str:
    low, high = min(steps.values(), default=0), max(steps.values(), default=0)
    return "" if not high else f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _missing(cell: dict[str, Any]) -> str:
    return NEEDS_DATA if cell["needs"] else NOT_RUN


def _recipe(mechanism: str, task: str) -> str:
    """Returns a link to the bundled recipe of a row that is not run, if there is one."""
    name = f"{mechanism}_{task}"
    return f"[recipe](../presets/{name}/recipe.json)" if catalogue.bundled(name, catalogue.RECIPE) else ""


def _link(name: str) -> str:
    return f"[{name}]({name}.md)" if catalogue.bundled(name, catalogue.PRESET) else f"[{name}](../presets/{name})"


def _both(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return ""
    if cell["ours"] is None:
        ours = _missing(cell)
    else:
        ours = spoken_spread(list(cell["seeds"].values()), tasks.get(cell["task"]).published.statistic)
    if cell["n"] is not None and cell["n"] <= FEW:
        ours += f" (n {cell['n']:,})"
    return f"{ours} / {percent(cell['paper']) or '-'}"


def _source(task: str) -> str:
    """Returns where the published numbers of a task are from, and what they are."""
    known = tasks.get(task)
    runs = f" of {known.published.runs} runs" if known.published.runs else ""
    statistic = f": {known.published.statistic}s{runs}" if known.published.statistic else ""
    budget = f". The paper trains {known.published.budget}." if known.published.budget else ""
    return f"{known.paper}{statistic}{budget}"
