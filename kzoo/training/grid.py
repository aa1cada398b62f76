"""What the tables ask for: every mechanism of a paper's table on every task, from several seeds."""

import fnmatch
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kzoo.evaluation.results import add_results
from kzoo.saving import catalogue
from kzoo.saving.files import read_json, write_json
from kzoo.saving.preset import Preset
from kzoo.tasks import get as get_task
from kzoo.training.executors import in_processes
from kzoo.training.recipe import Recipe, load_recipe
from kzoo.training.runs import run_all
from kzoo.training.stages import Budget, Optimizer, Stage

TASKS = (
    "copy",
    "reverse_copy",
    "lookup",
    "reverse_lookup",
    "recopy",
    "reverse_recopy",
    "inv_recopy",
    "inv_reverse_recopy",
    "dedupe",
    "posretrieve",
    "scan",
)
PRESET_SEEDS = (0, 1, 2)
EPOCHS = {"lookup": 12, "reverse_lookup": 12, "scan": 20}  # where examples are small, or hard


@dataclass(frozen=True)
class Run:
    """One training run: a mechanism on a task from a seed, under the name that its preset has, or would have."""

    name: str
    mechanism: str
    task: str
    seed: int

    def recipe(self) -> Recipe:
        """Returns the recipe: the bundled one of its name; else the same for all."""
        if catalogue.bundled(self.name):
            return load_recipe(self.name).with_seed(self.seed)
        stage = Stage(Budget(EPOCHS.get(self.task, 8)), optimizer=Optimizer(schedule="cosine", warmup_steps=100))
        return Recipe(
            task=self.task,
            task_version=get_task(self.task).version,
            model={"class": "RecurrentSeq2Seq", "config": {"attention": self.mechanism}},
            stages=(stage,),
            mechanism=self.mechanism,
            supervision=(),
            seed=self.seed,
        )

    def done(self) -> bool:
        """Whether its results are known."""
        return any(run["seed"] == self.seed for run in _results(self.name).get("training", []))


def _results(name: str) -> dict[str, Any]:
    """Returns the results of a bundled preset or recorded run; an empty dict if there are none."""
    return (Preset.find(name).results or {}) if catalogue.bundled(name, catalogue.PRESET, catalogue.RUN) else {}


def wanted(pattern: str = "*") -> list[Run]:
    """Returns the runs that the tables ask for: three seeds of every preset, and one of every other pair of the
    recurrent models' tables and of every other bundled recipe whose mechanism and task no preset has.

    Args:
        pattern: str. Only runs whose name matches it.
    """
    found: dict[tuple[str, str], list[Run]] = {}
    presets = catalogue.list_presets()
    for name in [*presets, *catalogue.names_of(catalogue.RUN), *catalogue.names_of(catalogue.RECIPE)]:
        recipe = load_recipe(name)
        seeds = PRESET_SEEDS[:1] if recipe.constructed or name not in presets else PRESET_SEEDS
        pair = (recipe.mechanism or name, recipe.task)
        found.setdefault(pair, [Run(name, *pair, seed) for seed in seeds])
    for pair in ((mechanism, task) for task in TASKS for mechanism in get_task(task).published.accuracy):
        found.setdefault(pair, [Run("_".join(pair), *pair, 0)])
    runs = sorted((run for own in found.values() for run in own), key=lambda run: (run.name not in presets, run.name))
    return [run for run in runs if fnmatch.fnmatch(run.name, pattern)]


def run_missing(work: Path, pattern: str = "*", jobs: int = 1, progress: bool = False) -> dict[str, str]:
    """Makes the wanted runs that are not done, each in its own process, and keeps their results.

    Results of presets go into their results.json, those of other pairs become recorded runs. A run that was cut off
    goes on from its checkpoint in `work`.

    Args:
        work: Path. A folder for checkpoints and logs.
        pattern: str. See `wanted`.
        jobs: int. How many at the same time.
        progress: bool. Whether to show a progress bar on stderr.

    Returns:
        dict of str. The reason of each that failed, by `<name>-<seed>`.
    """
    missing = {f"{run.name}-{run.seed}": run for run in wanted(pattern) if not run.done()}

    def finished(name: str, folder: Path) -> None:
        keep(missing[name], folder)
        shutil.rmtree(folder)

    recipes = {name: run.recipe() for name, run in missing.items()}
    return run_all(recipes, work, in_processes(jobs), progress, finished)


def keep(run: Run, folder: Path) -> None:
    """Keeps the results of a finished run: with its preset, or as a recorded run.

    Args:
        run: Run.
        folder: Path. The preset folder that the run wrote.
    """
    document = read_json(folder / "results.json")
    document["rows"] = [{**row, "preset": run.name} for row in document["rows"]]
    target = catalogue.bundled_folder() / run.name
    target.mkdir(exist_ok=True)
    if not (target / "recipe.json").is_file():
        write_json(target / "recipe.json", read_json(folder / "recipe.json"))
    add_results(target, document)
