"""From a recipe to a preset folder."""

import sys
import threading
from pathlib import Path
from typing import Any

from kzoo import checks
from kzoo.backend import ensure_backend
from kzoo.errors import KzooError, PresetError, TrainingError
from kzoo.saving.files import expand, read_json, write_bytes
from kzoo.tasks import PairsFile
from kzoo.tasks import get as get_task
from kzoo.training.lock import locked
from kzoo.training.recipe import Recipe, load_recipe

ONE_AT_A_TIME = threading.RLock()


def train(
    recipe: Recipe | str | Path,
    output: str | Path,
    resume: bool = False,
    progress: bool = False,
    name: str | None = None,
    devices: int | None = None,
    draw_ahead: int = 0,
) -> Path:
    """Trains a model by a recipe, stage after stage, evaluates it by length, and writes it as a preset folder.

    In one process trainings run one after another, also those of several threads: they share the random state of Keras.

    While it runs, `<output>.training` holds a lock and a checkpoint of the last finished epoch, and is removed at the
    end.

    Args:
        recipe: Recipe, a recipe file, a preset whose recipe to follow, or a file of pairs (`kzoo.tasks.PairsFile`): it
            stays beside the preset, so that this can be evaluated.
        output: str or Path. The preset folder to write.
        resume: bool. Goes on from the checkpoint, if there is one, to the same weights as an unbroken run on this
            machine; a run that has finished is left as it is.
        progress: bool. Whether to show progress on stderr.
        name: str. The name of the preset in its results. Defaults to the folder's.
        devices: int. Shares each batch between so many devices, on JAX; see `kzoo.training.devices.data_parallel`.
            Defaults to None: one device.
        draw_ahead: int. So many epochs of a recipe's `fresh` data are drawn ahead, 0 to 256, each in a process of its
            own, so that a fast accelerator does not wait for them; a script that asks for it needs
            `if __name__ == "__main__":`. The examples are the same. Defaults to 0.

    Returns:
        Path. The folder.

    Raises:
        PresetError: `output` exists, another training writes to it, or a checkpoint of another recipe or backend is in
            the way, or is damaged.
        TrainingError: a loss or a weight is not finite, or no checkpoint can be written.
        InputError: the recipe, its model or `draw_ahead` is not valid, or there are not so many devices.
        BackendError: several devices on another backend than JAX.
    """
    checks.integer("draw_ahead", draw_ahead, 0, 256)
    recipe = recipe if isinstance(recipe, Recipe) else load_recipe(recipe)
    output = expand(output)
    folder = output.parent / f"{output.name}.training"
    if is_done(recipe, output, resume) and not folder.exists():
        return output
    for length in recipe.evaluation.get("lengths") or ():  # of a list: an error here, and not behind the training
        get_task(recipe.task).pool("test", length)
    ensure_backend()
    from kzoo.training.checkpoint import Checkpoint
    from kzoo.training.devices import data_parallel
    from kzoo.training.fit import fit

    with locked(folder), ONE_AT_A_TIME, data_parallel(devices, [stage.data.batch_size for stage in recipe.stages]):
        checkpoint = Checkpoint(folder)
        if is_done(recipe, output, resume):  # by another that held the lock, or was killed behind its last step
            checkpoint.remove()
            return output
        if checkpoint.exists():
            if not resume:
                raise PresetError(f"{folder} holds an unfinished run: resume it, or remove the folder")
            if not _is(recipe, read_json(folder / "notes.json").get("recipe")):
                raise PresetError(f"{folder} holds an unfinished run of another recipe: remove it, or finish that")
        model, training = fit(recipe, checkpoint, progress, draw_ahead)
        model.preset_name = name or output.name
        model.mechanism = recipe.mechanism
        model.supervision = None if recipe.supervision is None else list(recipe.supervision)
        _write(model, recipe, training, output, progress)
        checkpoint.remove()
    return output


def is_done(recipe: Recipe, output: Path, resume: bool) -> bool:
    """Whether a run has finished.

    Raises:
        PresetError: something else is there.
    """
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return False
    if resume and (output / "recipe.json").is_file() and _is(recipe, read_json(output / "recipe.json")):
        return True
    raise PresetError(f"{output} exists; nothing was trained")


def _is(recipe: Recipe, config: Any) -> bool:
    """Whether a saved config is this recipe, also where it was saved before recipes had all of today's keys."""
    try:
        return isinstance(config, dict) and Recipe.from_config(config) == recipe
    except KzooError:  # also a task that is not known here, as a file of pairs
        return False


def _write(model: Any, recipe: Recipe, training: list[dict[str, Any]], output: Path, progress: bool) -> None:
    """Evaluates a model and writes its preset.

    Raises:
        TrainingError: a weight is not finite.
        PresetError: something was written to `output` in the meantime.
    """
    from kzoo.evaluation.evaluate import evaluate
    from kzoo.evaluation.results import results_document
    from kzoo.saving.save import save_to_preset
    from kzoo.training.callbacks.stop_on_non_finite import non_finite

    lost = non_finite(model)
    if lost is not None:
        raise TrainingError(f"the weights {lost!r} are not finite, so no preset is written")
    if progress:
        epochs, seconds = (sum(entry[key] for entry in training) for key in ("epoch", "seconds"))
        print(f"trained {epochs} epochs in {seconds:.0f} s; evaluating", file=sys.stderr)
    report = evaluate(model, recipe.task, progress=progress, **recipe.evaluation)
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise PresetError(f"{output} was written by another in the meantime; this run is kept in {output}.training")
    save_to_preset(model, output, recipe=recipe.to_config(), results=results_document(report, training))
    task = get_task(recipe.task)
    if isinstance(task, PairsFile):  # beside the preset, for its evaluation: it is no part of what is published
        write_bytes(output / task.path.name, task.content)
