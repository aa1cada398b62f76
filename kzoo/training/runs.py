"""Many runs: a grid of recipes, tasks, mechanisms and seeds, and the one runner for them."""

import itertools
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from kzoo.errors import InputError, KzooError
from kzoo.saving.files import expand, read_json
from kzoo.tasks import Task
from kzoo.tasks import get as get_task
from kzoo.training.executors import Executor, in_this_process
from kzoo.training.recipe import Recipe, load_recipe

# The argument of a model that is its mechanism.
MECHANISM = {
    "RecurrentSeq2Seq": "attention",
    "RecurrentClassifier": "reader",
    "SequenceTagger": "reader",
    "TransformerClassifier": "block",
    "TransformerDecoder": "block",
    "TransformerSeq2Seq": "self_bias",
}
POLL = 1.0  # seconds between two reads of the checkpoints, for the progress bar


def grid(
    sources: Sequence[str | Path],
    mechanisms: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
) -> dict[str, Recipe]:
    """Returns every recipe with every mechanism, task and seed, by the name that its preset gets.

    Args:
        sources: sequence of what `load_recipe` takes.
        mechanisms: sequence of str, instead of the recipes' own. Defaults to these.
        tasks: sequence of str, likewise.
        seeds: sequence of int, likewise.

    Returns:
        dict of Recipe by name: `<mechanism>_<task>` where one of the two is given, else as its source; and `-<seed>`.

    Raises:
        InputError: two would have one name, a model has no mechanism to change, or a recipe is not valid.
    """
    found: dict[str, Recipe] = {}
    for source in sources:
        recipe = load_recipe(source)
        key, own = MECHANISM.get(recipe.model["class"]), recipe.model.get("config", {})
        if mechanisms and key is None:
            raise InputError(f"the model of {source} has no mechanism to change")
        names = [get_task(task).name for task in tasks or []]
        choices: list[Sequence[Any]] = [mechanisms or [None], names or [None], seeds or [None]]
        for mechanism, task, seed in itertools.product(*choices):
            name, changes = Path(source).stem, dict[str, Any]()
            if mechanism or task:
                name = f"{mechanism or own.get(key, name)}_{task or recipe.task}"
            if mechanism:
                changes["model"] = {**recipe.model, "config": {**own, str(key): mechanism}}
                changes["mechanism"] = re.sub(
                    "(?<=[a-z0-9])(?=[A-Z])", "_", mechanism
                ).lower()  # of a class of one's own
            if task:
                changes |= _on_task(recipe, get_task(task))
            if seed is not None:
                name, changes["seed"] = f"{name}-{seed}", seed
            if name in found:
                raise InputError(f"two of these runs would have the name {name}")
            found[name] = replace(recipe, **changes)
    return found


def _on_task(recipe: Recipe, task: Task) -> dict[str, Any]:
    """Returns what changes in a recipe with its task; where the other does not have the lengths of its evaluation, that
    has those of the task, and other lengths that it does not have are left out.
    """

    def has(split: str, length: int | None) -> bool:
        try:
            return bool(task.examples(split, 1, length=length))
        except InputError:
            return False

    stages = []
    for stage in recipe.stages:
        own = stage.selection
        length = own.length if has("validation", own.length) else None
        watch = tuple(n for n in own.watch if has("validation", n))
        stages.append(replace(stage, selection=replace(own, length=length, watch=watch)))
    evaluation = dict(recipe.evaluation)
    if not all(has("test", n) for n in evaluation.get("lengths", ())):
        del evaluation["lengths"]
    return {
        "task": task.name,
        "task_version": task.version,
        "stages": tuple(stages),
        "evaluation": evaluation,
    }


def check_runs(recipes: Mapping[str, Recipe], output: str | Path) -> None:
    """Raises the error of the first run that cannot begin: before any of them does.

    Its model is built, once for each of several seeds; something else in the place of its preset is an error too.

    Raises:
        InputError, UnknownNameError: a model cannot be built, or not trained as its recipe says; with the run's name.
        PresetError: something else is in the place of a preset.
    """
    from kzoo.training.build import build
    from kzoo.training.train import is_done

    built: list[Recipe] = []
    for name, recipe in recipes.items():
        is_done(recipe, Path(output).expanduser().resolve() / name, resume=True)
        plain = recipe.with_seed(0)
        if plain not in built and not recipe.calibration:  # whose biases take long to find
            try:
                build(replace(plain, init_from=None), 0)
            except KzooError as error:
                raise type(error)(f"{name}: {error}") from None
            built.append(plain)


def run_all(
    recipes: Mapping[str, Recipe],
    output: str | Path,
    executor: Executor = in_this_process,
    progress: bool = False,
    finished: Callable[[str, Path], None] | None = None,
    sizes: Mapping[str, float] | None = None,
) -> dict[str, str]:
    """Trains each recipe to a preset folder.

    A run that is done is skipped, one that was cut off goes on from its checkpoint. When one fails, the others go on.

    Args:
        recipes: dict of Recipe by name.
        output: str or Path. The folder for the preset folders; on Ray the path of the same on every machine.
        executor: function. `in_this_process`, `in_processes(n)` or `on_ray(address)` of `kzoo.training.executors`.
        progress: bool. Whether to show a progress bar on stderr, in epochs, with an estimate of the time left.
        finished: function of name and folder that is called when a run went well.
        sizes: dict of float by name. How long each takes, about, in seconds, which the progress bar then counts.
            Defaults to their epochs.

    Returns:
        dict of str. Of each run that failed the reason, by name; empty if all went well.

    Raises:
        BackendError: Ray is not installed.
        InputError: there is no cluster at the address.
    """
    folder = expand(output)
    folder.mkdir(parents=True, exist_ok=True)
    failed: dict[str, str] = {}
    with _Watch(recipes, folder, progress, sizes):
        for name, reason in executor(recipes, folder):
            if reason is not None:
                failed[name] = reason
            elif finished is not None:
                finished(name, folder / name)
    return failed


class _Watch:
    """A progress bar over all runs, in epochs or by their sizes, which a thread reads from their checkpoints."""

    def __init__(
        self, recipes: Mapping[str, Recipe], folder: Path, show: bool, sizes: Mapping[str, float] | None = None
    ) -> None:
        self.recipes, self.folder = recipes, folder
        whole = {name: max(1, epochs(recipe)) for name, recipe in recipes.items()}
        self.worth = {name: 1.0 if sizes is None else sizes[name] / whole[name] for name in recipes}  # of an epoch
        self.ended = threading.Event()
        self.done = dict.fromkeys(recipes, 0)
        total = round(sum(self.worth[name] * whole[name] for name in recipes))
        unit = " epochs" if sizes is None else " estimated s"
        self.bar = tqdm(total=total, initial=self.count(), unit=unit, disable=not show)
        self.thread = threading.Thread(target=self.watch, daemon=True) if show else None

    def __enter__(self) -> "_Watch":
        if self.thread is not None:
            self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.ended.set()
        if self.thread is not None:
            self.thread.join()
        self.bar.close()

    def count(self) -> int:
        """Returns what is done by now; a run that has gone from its folder keeps what it had."""
        for name, recipe in self.recipes.items():
            self.done[name] = max(self.done[name], epochs_done(recipe, self.folder / name))
        return round(sum(self.worth[name] * done for name, done in self.done.items()))

    def watch(self) -> None:
        while not self.ended.wait(POLL):
            self.bar.update(self.count() - self.bar.n)
        self.bar.update(self.count() - self.bar.n)


def epochs(recipe: Recipe) -> int:
    """Returns the epochs of all stages."""
    return sum(stage.budget.epochs for stage in recipe.stages)


def epochs_done(recipe: Recipe, folder: Path) -> int:
    """Returns how many epochs of a run are done, by preset or checkpoint; a stage that stopped early counts whole."""
    if (folder / "recipe.json").is_file():
        return epochs(recipe)
    try:
        notes = read_json(folder.with_name(f"{folder.name}.training") / "notes.json")
        whole = sum(stage.budget.epochs for stage in recipe.stages[: len(notes["finished"])])
        return min(epochs(recipe), whole + int(notes["epoch"]))
    except (KzooError, LookupError, TypeError, ValueError, OSError):
        return 0  # not begun, or not to be read: the run itself will say so
