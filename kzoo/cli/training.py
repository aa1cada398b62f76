"""`kzoo train` and `kzoo results`: runs, and what came of them."""

import argparse
import fnmatch
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kzoo
from kzoo.cli.arguments import numbers, words
from kzoo.cli.output import by_share, print_json, show_preset, show_progress
from kzoo.errors import InputError
from kzoo.evaluation.report import percent, text_table
from kzoo.saving import catalogue
from kzoo.saving.preset import Preset

if TYPE_CHECKING:
    from kzoo.training.recipe import Recipe

RECIPE = "a recipe file, a preset whose recipe to follow, or pairs of your own: a .tsv file, source<TAB>target a line"


def train_parser(sub: argparse.ArgumentParser) -> None:
    """Adds the arguments of `kzoo train`."""
    sub.add_argument("recipes", nargs="+", metavar="RECIPE", help=RECIPE)
    sub.add_argument("--output", required=True, type=Path, help="the preset folder to write; of many, the folder above")
    sub.add_argument("--seed", type=int, help="another seed than the recipe's")
    sub.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    sub.add_argument("--mechanisms", type=words, help="train with each of these, as onestep,content")
    sub.add_argument("--tasks", type=words, help="train on each of these, as copy,recopy")
    sub.add_argument("--seeds", type=numbers, help="train from each of these, as 0,1,2")
    sub.add_argument("--ray", metavar="ADDRESS", help='on a Ray cluster, as ray://host:10001; "local" starts one here')
    sub.add_argument("--jobs", type=int, help="so many runs at the same time, each in its own process")
    sub.add_argument("--devices", type=int, help="share each batch between so many devices (JAX)")
    sub.add_argument(
        "--draw-ahead", type=int, default=0, metavar="EPOCHS", help="draw so many epochs ahead, each in its own process"
    )
    sub.add_argument(
        "--add-results-to", type=Path, metavar="PRESET", help="also add the results to those of this preset folder"
    )


def results_parser(sub: argparse.ArgumentParser) -> None:
    """Adds the arguments of `kzoo results`."""
    sub.add_argument("pattern", nargs="?", default="*", help='of mechanism_task, as "*_copy"; with --choose of tasks')
    sub.add_argument("--markdown", action="store_true", help="print the page of tables")
    sub.add_argument("--leaderboard", action="store_true", help="the runs that keep to one protocol, best first")
    sub.add_argument("--choose", action="store_true", help="by task: the best mechanisms, and the preset to take")
    sub.add_argument("--verify", metavar="ROW", help="measure the weights of a preset of the leaderboard anew")
    sub.add_argument("--examples", type=int, help="with --verify: at most so many a length, for a quick look")
    sub.add_argument("--run", dest="missing", action="store_true", help="first make the runs that are missing")
    sub.add_argument("--jobs", type=int, help="so many runs at the same time, by default 1")
    sub.add_argument("--ray", metavar="ADDRESS", help='on a Ray cluster, as ray://host:10001; "local" starts one here')
    sub.add_argument("--work", type=Path, default=Path("runs.training"), help="folder for checkpoints and logs")


def train(options: argparse.Namespace) -> int:
    if len(options.recipes) > 1 or any((options.mechanisms, options.tasks, options.seeds, options.ray, options.jobs)):
        return train_many(options)
    from kzoo.evaluation.results import add_results
    from kzoo.saving.files import read_json
    from kzoo.training.recipe import load_recipe

    recipe = load_recipe(options.recipes[0])
    if options.seed is not None:
        recipe = recipe.with_seed(options.seed)
    target = None if options.add_results_to is None else own_preset(recipe, options.add_results_to).folder
    name = None if target is None else target.name
    plan = {"resume": options.resume, "devices": options.devices, "name": name, "draw_ahead": options.draw_ahead}
    folder = kzoo.train(recipe, options.output, progress=show_progress(), **plan)
    if target is not None:
        add_results(target, read_json(folder / "results.json"))
    if options.json:
        print_json({"folder": str(folder), **read_json(folder / "results.json")})
    else:
        show_preset(str(folder))
    return 0


def own_preset(recipe: "Recipe", folder: Path) -> Preset:
    """Returns the preset in a folder, whose results a run of this recipe may join.

    Raises:
        InputError: it has another recipe, seeds and evaluation apart, or none.
    """
    from kzoo.training.recipe import Recipe

    preset = Preset.find_own(folder)
    if preset.recipe is None:
        raise InputError(f"--add-results-to takes runs of a preset's own recipe, and {preset.name} has none")
    others = recipe.differs_from(Recipe.from_config(preset.recipe))
    if others:
        said = f"{preset.name} has other {', '.join(others)}"
        raise InputError(f"--add-results-to takes runs of a preset's own recipe, from other seeds: {said}")
    return preset


def train_many(options: argparse.Namespace) -> int:
    from kzoo.saving.files import read_json
    from kzoo.training.executors import in_processes, in_this_process, on_ray
    from kzoo.training.runs import check_runs, grid, run_all

    alone = (options.seed, options.add_results_to, options.devices, options.draw_ahead or None)
    if any(option is not None for option in alone):
        raise InputError("--seed, --add-results-to, --devices and --draw-ahead are for one run; many have --seeds")
    recipes = grid(options.recipes, options.mechanisms, options.tasks, options.seeds)
    if options.ray and options.jobs:
        raise InputError("--ray and --jobs exclude each other")
    executor = on_ray(options.ray) if options.ray else in_processes(options.jobs) if options.jobs else in_this_process
    check_runs(recipes, options.output)
    failed = run_all(recipes, options.output, executor, show_progress())
    made = {name: read_json(options.output / name / "results.json") for name in recipes if name not in failed}
    for name, reason in failed.items():
        print(f"kzoo: {name} failed: {reason}", file=sys.stderr)
    if options.json:
        print_json({"failed": failed, "results": made})
    else:
        found = {
            name: {row["length"]: row["value"] for row in results["rows"] if row["metric"] == "sequence_accuracy"}
            for name, results in made.items()
        }
        print(text_table(["preset", "sequence accuracy by length"], [[n, by_share(row)] for n, row in found.items()]))
    return 1 if failed else 0


def results(options: argparse.Namespace) -> int:
    from kzoo.cards.results_page import cells, markdown

    if options.examples is not None and not options.verify:
        raise InputError("--examples goes with --verify")
    if options.verify:
        return verify(options)
    if options.leaderboard and options.choose:
        raise InputError("--leaderboard and --choose exclude each other")
    if options.missing and (options.leaderboard or options.choose):
        other = "--leaderboard" if options.leaderboard else "--choose"
        raise InputError(f"--run makes the runs of the papers' tables, and does not go with {other}")
    if options.leaderboard:
        return leaderboard(options)
    if options.choose:
        return choose(options)
    failed = run_missing(options) if options.missing else {}
    chosen = matching(cells(), options.pattern)
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
    """Returns the rows whose mechanism_task, or the name of whose run, has a pattern.

    Raises:
        InputError: none has.
    """
    found = [row for row in rows if any(fnmatch.fnmatch(str(name), pattern) for name in names_of(row))]
    if not found:
        hint = f'"*_{pattern}"' if pattern in kzoo.tasks.names() else '"onestep_*" or "*_copy"'
        raise InputError(f"no mechanism_task is called {pattern!r:.100}; a pattern is like {hint}")
    return found


def names_of(row: dict[str, Any]) -> tuple[str, str]:
    """Returns mechanism_task of a row, and the name of its run, if it has one."""
    return f"{row['mechanism']}_{row['task']}", row["name"] or ""


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
        if fnmatch.filter(rows, options.pattern):
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
    try:
        found = matching(entries(), options.pattern)
    except InputError as error:
        left_out = sorted(fnmatch.filter(catalogue.names_of(catalogue.PRESET, catalogue.RUN), options.pattern))
        if not left_out:
            raise
        reasons = "; ".join(obstacles(Preset.find(left_out[0])))
        more = f", and {len(left_out) - 1} more are not" if len(left_out) > 1 else ""
        raise InputError(f"{left_out[0]} is not on the leaderboard: {reasons}{more}") from error
    if options.json:
        print_json(as_json(found))
        return 0
    lines = [
        [x["task"], ", ".join(x["tags"]) or "none", str(x["rank"]), x["name"], str(len(x["seeds"]))]
        + [percent(x["score"]["mean"]), percent(x["score"]["min"]), f"{x['reach']['mean']:.1f}"]
        for x in found
    ]
    print(text_table(["task", "tags", "rank", "run", "seeds", "score", "worst seed", "reach"], lines))
    return 0


def choose(options: argparse.Namespace) -> int:
    from kzoo.cards.choice import choices
    from kzoo.cards.choice_page import lines, markdown

    if options.markdown:
        print(markdown(), end="")
        return 0
    found = [own for own in choices() if fnmatch.fnmatch(own["task"], options.pattern)]
    if not found:
        raise InputError(f"no task with runs is called {options.pattern!r:.100}")
    print_json(found) if options.json else print(text_table(*lines(found)))
    return 0


def verify(options: argparse.Namespace) -> int:
    from kzoo.cards.verification import verify as checks_of

    found = checks_of(options.verify, options.examples)
    if options.json:
        print_json([check._asdict() for check in found])
    else:
        print(text_table(["", "holds", "found"], [[c.about, "yes" if c.holds else "no", c.found] for c in found]))
    return 0 if all(check.holds for check in found) else 1
