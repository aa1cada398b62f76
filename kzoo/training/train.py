"""The way from a recipe to a preset folder."""

import sys
from pathlib import Path
from typing import Any

from kzoo.backend import ensure_backend
from kzoo.errors import InputError, PresetError
from kzoo.saving.files import read_json
from kzoo.tasks import get as get_task
from kzoo.training.batches import training_batches
from kzoo.training.build import build
from kzoo.training.recipe import Recipe, load_recipe


def train(
    recipe: Recipe | str | Path,
    output: str | Path,
    resume: bool = False,
    progress: bool = False,
    name: str | None = None,
    devices: int | None = None,
) -> Path:
    """Trains a model by a recipe, evaluates it by length, and writes it as a preset folder.

    While it runs, `<output>.training` holds a checkpoint of the last finished epoch; it is removed at the end.

    Args:
        recipe: Recipe, a recipe file, or a preset whose recipe to follow.
        output: str or Path. The preset folder to write.
        resume: bool. Goes on from the checkpoint, if there is one, to the same weights as an unbroken run on this
            machine; a run that has finished is left as it is.
        progress: bool. Whether to show progress on stderr.
        name: str. The name of the preset in its results. Defaults to the folder's.
        devices: int. Shares each batch between so many devices, on JAX; see `kzoo.training.devices.data_parallel`.
            Defaults to None: one device.

    Returns:
        Path. The folder.

    Raises:
        PresetError: `output` exists, or a checkpoint of another recipe is in the way.
        InputError: the recipe or its model is not valid, or there are not so many devices.
        BackendError: several devices on another backend than JAX.
    """
    recipe = recipe if isinstance(recipe, Recipe) else load_recipe(recipe)
    output = Path(output).expanduser().resolve()
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        if resume and (output / "recipe.json").is_file() and _is(recipe, read_json(output / "recipe.json")):
            return output
        raise PresetError(f"{output} exists; nothing was trained")
    ensure_backend()
    from kzoo.training.checkpoint import Checkpoint
    from kzoo.training.devices import data_parallel

    checkpoint = Checkpoint(output.parent / f"{output.name}.training")
    if checkpoint.exists():
        if not resume:
            raise PresetError(f"{checkpoint.folder} holds an unfinished run: resume it, or remove the folder")
        if not _is(recipe, read_json(checkpoint.folder / "notes.json").get("recipe")):
            raise PresetError(
                f"{checkpoint.folder} holds an unfinished run of another recipe: remove it, or finish that"
            )
    with data_parallel(devices, recipe.batch_size):
        model, notes = fit(recipe, checkpoint, progress)
        model.preset_name = name or output.name
        return _write(model, recipe, notes, output, checkpoint, progress)


def _is(recipe: Recipe, config: Any) -> bool:
    """Whether a saved config is this recipe, also where it was saved before recipes had all of today's keys."""
    try:
        return isinstance(config, dict) and Recipe.from_config(config) == recipe
    except InputError:
        return False


def fit(recipe: Recipe, checkpoint: Any, progress: bool = False) -> tuple[Any, dict[str, Any]]:
    """Returns the trained model and the notes of its run."""
    import keras

    from kzoo.saving.weights import load_weights
    from kzoo.training.callbacks import Bookkeeper, LengthAccuracy, Progress
    from kzoo.training.optimizer import optimizer_of

    model = build(recipe)
    if recipe.constructed:
        return model, {**Bookkeeper(recipe, checkpoint, None, None).notes, "steps": 0, "examples_seen": 0}
    task = get_task(recipe.task)
    batches = training_batches(recipe, model)
    model.compile(optimizer=optimizer_of(recipe, len(batches)), weighted_metrics=None)
    model.optimizer.build(model.trainable_variables)
    notes = checkpoint.restore(model) if checkpoint.exists() else None
    selecting = recipe.selection == "validation"
    size, length = recipe.selection_examples, recipe.selection_length
    validation = task.examples("validation", size, length=length) if selecting else None
    bookkeeper = Bookkeeper(recipe, checkpoint, notes, validation)
    done = bookkeeper.notes["epoch"]
    batches.begin(done)
    patience = recipe.patience
    if done < recipe.epochs and not (patience and notes and done - notes["best_epoch"] >= patience):
        callbacks = [bookkeeper, Progress(recipe.epochs * len(batches), done * len(batches), progress)]
        if recipe.watch:
            callbacks.insert(0, LengthAccuracy(task, recipe.watch))
        # `batches` shuffle themselves; were Keras to shuffle too, a run taken up again would see another order.
        options = {"initial_epoch": done, "epochs": recipe.epochs, "shuffle": False, "verbose": 0}
        keras.Model.fit(model, batches, callbacks=callbacks, **options)
    if recipe.ema_momentum is not None:  # also where nothing was left to train
        model.optimizer.finalize_variable_values(model.trainable_variables)
    if selecting:
        load_weights(model, bookkeeper.best_weights)
    steps, size = bookkeeper.notes["epoch"] * len(batches), batches.batch_size
    return model, {**bookkeeper.notes, "steps": steps, "examples_seen": steps * size}


def _write(model: Any, recipe: Recipe, notes: dict[str, Any], output: Path, checkpoint: Any, progress: bool) -> Path:
    import keras

    from kzoo.evaluation.evaluate import evaluate
    from kzoo.evaluation.results import results_document
    from kzoo.saving.presets_io import save_to_preset

    if progress:
        print(f"trained {notes['epoch']} epochs in {notes['seconds']:.0f} s; evaluating", file=sys.stderr)
    report = evaluate(model, recipe.task, progress=progress, **recipe.evaluation)
    training = {key: notes[key] for key in ("epoch", "steps", "examples_seen", "seconds", "best_epoch", "history")}
    training |= {"backend": keras.config.backend(), "seed": recipe.seed}
    results = results_document(report, training)
    save_to_preset(model, output, recipe=recipe.to_config(), results=results)
    checkpoint.remove()
    return output
