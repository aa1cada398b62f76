"""`kzoo train`: one run, or many from a grid."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import kzoo
from kzoo.cli.arguments import numbers, words
from kzoo.cli.output import by_share, print_json, show_preset, show_progress
from kzoo.errors import InputError
from kzoo.evaluation.report import text_table
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
    elif made:
        found = {
            name: {row["length"]: row["value"] for row in results["rows"] if row["metric"] == "sequence_accuracy"}
            for name, results in made.items()
        }
        print(text_table(["preset", "sequence accuracy by length"], [[n, by_share(row)] for n, row in found.items()]))
    return 1 if failed else 0
