"""What the tables ask for: every mechanism of a paper's table on every task, from several seeds."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kzoo.evaluation.results import add_results
from kzoo.saving import catalogue
from kzoo.saving.files import read_json, write_json
from kzoo.saving.preset import Preset
from kzoo.tasks import get as get_task
from kzoo.tasks import names
from kzoo.training import board
from kzoo.training.estimate import pace, seconds
from kzoo.training.executors import Executor, in_processes
from kzoo.training.recipe import Recipe, load_recipe
from kzoo.training.runs import run_all
from kzoo.training.stages import Budget, Data, Optimizer, Stage

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
    "cfq",
)
SEEDS = (0, 1, 2)
EPOCHS = {"lookup": 12, "reverse_lookup": 12}  # where examples are small
SIZES = {"cfq": {"embedding_units": 128, "encoder_units": 128, "dropout": 0.4}}  # the paper's
BATCHES = {"cfq": 128}


@dataclass(frozen=True)
class Run:
    """One training run: a mechanism on a task from a seed, under the name that its preset has, or would have."""

    name: str
    mechanism: str
    task: str
    seed: int

    def recipe(self) -> Recipe:
        """Returns the recipe: the bundled one of its name; else that of the comparison of newer mechanisms, or the one
        for all of the recurrent models."""
        if catalogue.bundled(self.name):
            return load_recipe(self.name).with_seed(self.seed)
        if self.mechanism in board.MECHANISMS and self.task in board.TASKS:
            return board.recipe(self.mechanism, self.task).with_seed(self.seed)
        task = get_task(self.task)
        stage = Stage(
            Budget(EPOCHS.get(self.task, 8)),
            data=Data(batch_size=BATCHES.get(self.task, 32)),
            optimizer=Optimizer(schedule="cosine", warmup_steps=100),
        )
        return Recipe(
            task=self.task,
            task_version=task.version,
            model={"class": "RecurrentSeq2Seq", "config": {"attention": self.mechanism, **SIZES.get(self.task, {})}},
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
    """Returns the runs that the tables ask for, the most worth first: those of numbers beside which nothing of ours
    stands, then further seeds; the short ones first.

    Of every published mechanism and task, of every preset and of every other bundled recipe whose mechanism and task no
    preset has, there are three seeds where the paper has several runs or there is a preset, else one; of every newer
    mechanism on every newer task (`kzoo.training.board`), three. What needs files that are not here is left out, see
    `unavailable`.

    Args:
        pattern: str. Only runs of this task, or whose name matches it.
    """
    found: dict[tuple[str, str], list[Run]] = {}
    presets = catalogue.list_presets()
    for name in [*presets, *catalogue.names_of(catalogue.RUN), *catalogue.names_of(catalogue.RECIPE)]:
        recipe = load_recipe(name)
        several = name in presets or get_task(recipe.task).published.runs is not None
        pair = (recipe.mechanism or name, recipe.task)
        seeds = SEEDS if several and not recipe.constructed else SEEDS[:1]
        found.setdefault(pair, [Run(name, *pair, seed) for seed in seeds])
    for task in (get_task(name) for name in TASKS):
        for mechanism in task.published.accuracy if task.available else ():
            pair = (mechanism, task.name)
            found.setdefault(pair, [Run("_".join(pair), *pair, seed) for seed in SEEDS])
    for pair in board.pairs():  # also where a run of the comparison is bundled, of which there is one seed above
        found[pair] = [Run("_".join(pair), *pair, seed) for seed in SEEDS]
    known = pace()
    runs = [run for own in found.values() for run in own if catalogue.asked_for(pattern, run.task, run.name)]

    def order(run: Run) -> tuple[bool, float, str, int]:
        return run.seed > 0 or bool(_results(run.name)), seconds(run.recipe(), known), run.name, run.seed

    return sorted(runs, key=order)


def unavailable() -> dict[str, str]:
    """Returns what tasks of the tables need before they can be run, and have not, by name."""
    return {task.name: task.needs for task in map(get_task, names()) if task.published.accuracy and not task.available}


def missing(pattern: str = "*") -> dict[str, Run]:
    """Returns the wanted runs that are not done, by `<name>-<seed>`, in their order."""
    return {f"{run.name}-{run.seed}": run for run in wanted(pattern) if not run.done()}


def run_missing(
    work: Path, runs: Mapping[str, Run], executor: Executor | None = None, progress: bool = False
) -> dict[str, str]:
    """Makes runs and keeps their results.

    Results of presets go into their results.json, those of other pairs become recorded runs, without weights. A run
    that was cut off goes on from its checkpoint in `work`.

    Args:
        work: Path. A folder for checkpoints and logs.
        runs: dict of Run, as `missing` returns.
        executor: function of `kzoo.training.executors`. Defaults to `in_processes(1)`: each run in a process of its
            own, one after another.
        progress: bool. Whether to show a progress bar on stderr, in seconds of training as they were estimated.

    Returns:
        dict of str. The reason of each that failed, by `<name>-<seed>`.
    """

    def finished(name: str, folder: Path) -> None:
        keep(runs[name], folder)
        shutil.rmtree(folder)

    recipes = {name: run.recipe() for name, run in runs.items()}
    known = pace()
    sizes = {name: seconds(recipe, known) for name, recipe in recipes.items()}
    return run_all(recipes, work, executor or in_processes(1), progress, finished, sizes)


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
