"""`kzoo results`: our results beside the papers', the leaderboard, what to take for a task, and a row measured anew."""

import argparse
import fnmatch
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import kzoo
from kzoo.cli.output import print_json, show_progress
from kzoo.errors import InputError
from kzoo.evaluation.report import percent, text_table
from kzoo.saving import catalogue
from kzoo.saving.preset import Preset


def results_parser(sub: argparse.ArgumentParser) -> None:
    """Adds the arguments of `kzoo results`."""
    sub.add_argument("pattern", nargs="?", default="*", help='a task, or of runs, as "onestep_*"')
    sub.add_argument("--markdown", action="store_true", help="print the page of tables")
    sub.add_argument("--leaderboard", action="store_true", help="the runs that keep to one protocol, best first")
    sub.add_argument("--choose", action="store_true", help="by task: the best mechanisms, and the preset to take")
    sub.add_argument("--verify", metavar="ROW", help="measure the weights of a preset of the leaderboard anew")
    sub.add_argument("--examples", type=int, help="with --verify: at most so many a length, for a quick look")
    sub.add_argument("--run", dest="missing", action="store_true", help="first make the runs that are missing")
    sub.add_argument("--jobs", type=int, help="so many runs at the same time, by default 1")
    sub.add_argument("--ray", metavar="ADDRESS", help='on a Ray cluster, as ray://host:10001; "local" starts one here')
    sub.add_argument("--work", type=Path, default=Path("runs.training"), help="folder for checkpoints and logs")


def results(options: argparse.Namespace) -> int:
    from kzoo.cards.results_page import cells, markdown

    if options.examples is not None and not options.verify:
        raise InputError("--examples goes with --verify")
    verbs = {"--leaderboard": options.leaderboard, "--choose": options.choose, "--verify": options.verify}
    given = [name for name, value in verbs.items() if value]
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)} exclude each other")
    if options.missing and given:
        raise InputError(f"--run makes the runs of the papers' tables, and does not go with {given[0]}")
    if options.verify:
        return verify(options)
    if options.leaderboard:
        return leaderboard(options)
    if options.choose:
        return choose(options)
    failed = run_missing(options) if options.missing else {}
    chosen = matching(cells(), options.pattern)
    if not chosen:
        raise unknown(options.pattern)
    if options.json:
        print_json(chosen)
    elif options.markdown:
        print(markdown(), end="")
    else:
        lines = [
            [
                cell["mechanism"],
                cell["task"],
                str(cell["length"] or "all"),
                percent(cell["ours"]) or ("needs data" if cell["needs"] else "not run"),
                spread(cell),
                ", ".join(map(str, sorted(cell["seeds"]))),
                percent(cell["paper"]),
                ("not stated" if cell["supervision"] is None else ", ".join(cell["supervision"]) or "none")
                if cell["name"]
                else "",
            ]
            for cell in chosen
        ]
        header = ["mechanism", "task", "length", "ours", "over seeds", "seeds", "paper", "supervision"]
        print(text_table(header, lines))
    return 1 if failed else 0


def matching(rows: Iterable[dict[str, Any]], pattern: str) -> list[dict[str, Any]]:
    """Returns the rows of a task, or those whose mechanism_task or the name of whose run has a pattern."""
    return [
        row
        for row in rows
        if catalogue.asked_for(pattern, row["task"], f"{row['mechanism']}_{row['task']}", row["name"] or "")
    ]


def unknown(pattern: str) -> InputError:
    """Returns the error for a pattern that no row has."""
    return InputError(f'no run is of {pattern!r:.100}, which is a task, as "copy", or a pattern, as "onestep_*"')


def run_missing(options: argparse.Namespace) -> dict[str, str]:
    """Makes the runs that are missing and says on stderr how long that takes, what cannot be run and what failed;
    returns the reasons of those that failed."""
    from kzoo.training import grid
    from kzoo.training.estimate import pace, seconds, spoken
    from kzoo.training.executors import in_processes, on_ray

    if options.ray and options.jobs:
        raise InputError("--ray and --jobs exclude each other")
    executor = on_ray(options.ray) if options.ray else in_processes(options.jobs or 1)
    for task, needs in grid.unavailable().items():
        rows = [f"{mechanism}_{task}" for mechanism in kzoo.tasks.get(task).published.accuracy]
        if catalogue.asked_for(options.pattern, task, *rows):
            print(f"kzoo: {task} is not run, it needs {needs}", file=sys.stderr)
    runs, known = grid.missing(options.pattern), pace()
    if not runs:
        print("kzoo: no run is missing", file=sys.stderr)
        return {}
    time = sum(seconds(run.recipe(), known) for run in runs.values()) / (options.jobs or 1)
    print(f"kzoo: {len(runs)} runs to make, about {spoken(time)} by those before", file=sys.stderr)
    failed = grid.run_missing(options.work, runs, executor, show_progress())
    for name, reason in failed.items():
        print(f"kzoo: {name} failed: {reason}", file=sys.stderr)
    return failed


def spread(cell: dict[str, Any]) -> str:
    """Returns what the number of several seeds is, and how they are spread."""
    own = cell["spread"]
    if own is None:
        return ""
    if own["statistic"] == "mean":
        return f"mean, sd {100 * own['sd']:.1f}"
    low, high = (percent(choose(cell["seeds"].values())) for choose in (min, max))
    return f"median, {low} to {high}"


def leaderboard(options: argparse.Namespace) -> int:
    from kzoo.cards.leaderboard import as_json, entries, markdown, obstacles

    if options.markdown:
        print(markdown(), end="")
        return 0
    found = matching(entries(), options.pattern)
    if not found:
        runs = [Preset.find(name) for name in catalogue.names_of(catalogue.PRESET, catalogue.RUN)]
        left_out = [run for run in runs if catalogue.asked_for(options.pattern, run.task, run.name)]
        if not left_out:
            raise unknown(options.pattern)
        told = [f"{run.name} is not on the leaderboard: {'; '.join(obstacles(run))}" for run in left_out[:5]]
        more = [f"{len(left_out) - 5} more are not"] if len(left_out) > 5 else []
        raise InputError(". ".join([*told, *more]))
    if options.json:
        print_json(as_json(found))
        return 0
    lines = [
        [x["task"], ", ".join(x["apart"]) or "none", str(x["rank"]), x["name"], str(len(x["seeds"]))]
        + [percent(x["score"]["mean"]), percent(x["score"]["min"]), f"{x['reach']['mean']:.1f}"]
        for x in found
    ]
    print(text_table(["task", "tags", "rank", "run", "seeds", "score", "worst seed", "reach"], lines))
    return 0


def choose(options: argparse.Namespace) -> int:
    from kzoo.cards.choice import choices
    from kzoo.cards.choice_page import LEGEND, lines, markdown

    if options.markdown:
        print(markdown(), end="")
        return 0
    found = [own for own in choices() if fnmatch.fnmatch(own["task"], options.pattern)]
    if not found:
        raise InputError(f"no task with runs is called {options.pattern!r:.100}")
    if options.json:
        print_json(found)
    else:
        print(f"{text_table(*lines(found))}\n\n{LEGEND}")
    return 0


def verify(options: argparse.Namespace) -> int:
    from kzoo.cards.verification import verify as checks_of

    found = checks_of(options.verify, options.examples)
    if options.json:
        print_json([check._asdict() for check in found])
    else:
        print(text_table(["", "holds", "found"], [[c.about, "yes" if c.holds else "no", c.found] for c in found]))
    return 0 if all(check.holds for check in found) else 1
