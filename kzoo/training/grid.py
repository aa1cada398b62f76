"""Many runs: every mechanism of a paper's table on every task, from several seeds."""

import fnmatch
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from kzoo.errors import InputError
from kzoo.evaluation.results import add_results, run_document
from kzoo.saving import catalogue
from kzoo.saving.files import read_json, write_json
from kzoo.tasks import get as get_task
from kzoo.training.recipe import Recipe, load_recipe
from kzoo.training.stages import Budget, Optimizer, Stage

MECHANISMS = ("content", "relative", "location", "bi_relative", "onestep", "monotonic")
TASKS = (
    "copy",
    "reverse_copy",
    "lookup",
    "reverse_lookup",
    "recopy",
    "reverse_recopy",
    "inv_recopy",
    "inv_reverse_recopy",
)
PRESET_SEEDS = (0, 1, 2)
EPOCHS = {"lookup": 12, "reverse_lookup": 12}  # small examples: an epoch is soon over


@dataclass(frozen=True)
class Run:
    """One training run: a mechanism on a task from a seed."""

    mechanism: str
    task: str
    seed: int

    @property
    def name(self) -> str:
        """str. The name that its preset has, or would have."""
        return f"{self.mechanism}_{self.task}"

    def recipe(self) -> Recipe:
        """Returns the recipe: the preset's own, or the bundled one of its name; else the same for all."""
        if self.name in (*catalogue.list_presets(), *bundled()):
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
        return any(run["seed"] == self.seed for run in run_document(self.name).get("training", []))


def bundled() -> dict[str, str]:
    """Returns the tasks of the recorded runs and recipes that stand for a cell of a table, by their name."""
    recipes = {name: load_recipe(name) for name in [*catalogue.list_runs(), *catalogue.list_recipes()]}
    return {name: recipe.task for name, recipe in sorted(recipes.items()) if name.endswith(f"_{recipe.task}")}


def wanted(pattern: str = "*") -> list[Run]:
    """Returns the runs that the tables ask for: three seeds of every preset, one of every other pair of Table 2
    and of every bundled recipe.

    Args:
        pattern: str. Only runs whose `<mechanism>_<task>` matches it.
    """
    presets = set(catalogue.list_presets())
    runs = []
    for name in sorted(presets):
        task = catalogue.preset_info(name)["metadata"]["task"]
        seeds = PRESET_SEEDS if not load_recipe(name).constructed else PRESET_SEEDS[:1]
        runs += [Run(name.removesuffix(f"_{task}"), task, seed) for seed in seeds]
    runs += [Run(m, t, 0) for m in MECHANISMS for t in TASKS if f"{m}_{t}" not in presets]
    runs += [Run(name.removesuffix(f"_{task}"), task, 0) for name, task in bundled().items() if name not in presets]
    return [run for run in runs if fnmatch.fnmatch(run.name, pattern)]


def run_missing(work: Path, pattern: str = "*", jobs: int = 1, progress: bool = False) -> list[Run]:
    """Makes the wanted runs that are not done, each in its own process, and keeps their results.

    Results of presets go into their results.json, those of other pairs become recorded runs. A run that was cut off
    goes on from its checkpoint in `work`; one that is done is skipped.

    Args:
        work: Path. A folder for checkpoints and logs.
        pattern: str. See `wanted`.
        jobs: int. How many at the same time.
        progress: bool. Whether to show a progress bar on stderr.

    Returns:
        list of Run. Those that failed; their logs are in `work`.
    """
    if jobs < 1:
        raise InputError(f"jobs must be at least 1, not {jobs}")
    missing = [run for run in wanted(pattern) if not run.done()]
    failed = []
    with ThreadPoolExecutor(jobs) as pool, tqdm(total=len(missing), unit=" runs", disable=not progress) as bar:
        for run, folder in zip(missing, pool.map(lambda run: _make(run, work), missing), strict=True):
            if folder is None:
                failed.append(run)
            else:
                keep(run, folder)
                shutil.rmtree(folder.parent)
            bar.update()
    return failed


def _make(run: Run, work: Path) -> Path | None:
    """Trains in a process of its own; returns the preset folder, or None if that failed."""
    folder = work / f"{run.name}-{run.seed}"
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "recipe.json", run.recipe().to_config())
    command = [sys.executable, "-m", "kzoo", "train", str(folder / "recipe.json"), "--resume"]
    with (work / f"{run.name}-{run.seed}.log").open("w") as log:
        code = subprocess.run([*command, "--output", str(folder / run.name)], stdout=log, stderr=log, check=False)
    return folder / run.name if code.returncode == 0 else None


def keep(run: Run, folder: Path) -> None:
    """Keeps the results of a finished run: with its preset, or as a recorded run.

    Args:
        run: Run.
        folder: Path. The preset folder that the run wrote.
    """
    document = read_json(folder / "results.json")
    if run.name in catalogue.list_presets():
        add_results(catalogue.bundled_folder() / run.name, document)
        return
    own, target = run_document(run.name), catalogue.bundled_folder() / run.name
    merged = {key: [*own.get(key, []), *document[key]] for key in ("training", "rows")}
    target.mkdir(exist_ok=True)
    if not (target / "recipe.json").is_file():
        write_json(target / "recipe.json", read_json(folder / "recipe.json"))
    write_json(target / "results.json", {"format": document["format"], **merged})
