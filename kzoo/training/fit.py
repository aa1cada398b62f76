"""The training of a model, stage after stage."""

import contextlib
from collections.abc import Iterator
from typing import Any

import keras

from kzoo.errors import KzooError
from kzoo.saving.weights import load_weights
from kzoo.tasks import get as get_task
from kzoo.training.batches import training_batches
from kzoo.training.build import build
from kzoo.training.callbacks.best_weights import BestWeights
from kzoo.training.callbacks.checkpointing import Checkpointing
from kzoo.training.callbacks.epoch_history import EpochHistory
from kzoo.training.callbacks.length_accuracy import LengthAccuracy
from kzoo.training.callbacks.plateau import HalveOnPlateau
from kzoo.training.callbacks.progress import Progress
from kzoo.training.callbacks.stop_on_non_finite import StopOnNonFinite
from kzoo.training.callbacks.timing import Timing
from kzoo.training.checkpoint import Checkpoint, best_name, stage_name
from kzoo.training.notes import Notes, begin_notes
from kzoo.training.optimizers import make_optimizer
from kzoo.training.recipe import Recipe

Entry = dict[str, Any]  # what results.json says of the training of a stage


def fit(recipe: Recipe, checkpoint: Checkpoint, progress: bool = False, draw_ahead: int = 0) -> tuple[Any, list[Entry]]:
    """Returns the trained model, and of each stage what results.json says of its training."""
    if recipe.constructed:
        model = build(recipe)
        none = {"epoch": 0, "steps": 0, "examples_seen": 0, "parameters": model.count_params()}
        none |= {"seconds": 0.0, "best_epoch": 0, "history": []}
        return model, [{**none, "backend": keras.config.backend(), "seed": recipe.seed}]
    notes = checkpoint.begin(recipe) if checkpoint.exists() else begin_notes(recipe, 0, [])
    while True:
        model, entry = _fit_stage(recipe, checkpoint, notes, progress, draw_ahead)
        finished = [*notes["finished"], entry]
        if len(finished) == len(recipe.stages):
            return model, finished
        notes = begin_notes(recipe, len(finished), finished)
        checkpoint.finish_stage(model, notes)


def _fit_stage(
    recipe: Recipe, checkpoint: Checkpoint, notes: Notes, progress: bool, draw_ahead: int
) -> tuple[Any, Entry]:
    """Trains one stage from its checkpoint, else from the weights of the stage before."""
    index = notes["stage"]
    stage = recipe.stages[index]
    model = build(recipe, index, checkpoint.file(stage_name(index - 1)) if index else None, stage.precision)
    with contextlib.closing(training_batches(recipe, model, index, draw_ahead)) as batches:
        epochs, steps = stage.budget.epochs, len(batches)
        model.compile(optimizer=make_optimizer(stage.optimizer, epochs * steps), weighted_metrics=None)
        model.optimizer.build(model.trainable_variables)
        checkpoint.restore(model, notes)
        done = notes["epoch"]
        selecting, patience = stage.selection.by == "validation", stage.selection.patience
        batches.begin(done)
        if done < epochs and not (patience and done and done - notes["best_epoch"] >= patience):
            label = f"stage {index + 1} of {len(recipe.stages)}" if len(recipe.stages) > 1 else ""
            bar = Progress(epochs * steps, done * steps, progress, label)
            callbacks = [*stage_callbacks(recipe, index, checkpoint, notes), bar]
            # `batches` shuffle themselves; were Keras to shuffle too, a run taken up again would see another order.
            options = {"initial_epoch": done, "epochs": epochs, "shuffle": False, "verbose": 0}
            with _first_error(batches):
                keras.Model.fit(model, batches, callbacks=callbacks, **options)
    if stage.optimizer.ema_momentum is not None:  # also where nothing was left to train
        model.optimizer.finalize_variable_values(model.trainable_variables)
    if selecting:
        load_weights(model, checkpoint.file(best_name(notes["best_epoch"])))
    if stage.precision != "float32":
        trained = model.get_weights()
        model = build(recipe, index)
        model.set_weights(trained)
    return model, _entry(recipe, index, notes, steps, batches.batch_size, model.count_params())


@contextlib.contextmanager
def _first_error(batches: Any) -> Iterator[None]:
    """Raises what stopped a training, and not what came of it.

    TensorFlow wraps an error of the examples; and where weights are averaged Keras does that after an error too, on JAX
    with weights that it may not hold then.
    """
    try:
        yield
    except Exception as error:
        first = batches.error or error.__context__
        if isinstance(first, (KzooError, KeyboardInterrupt)):
            raise first from None
        raise


def stage_callbacks(recipe: Recipe, index: int, checkpoint: Checkpoint, notes: Notes) -> list[keras.callbacks.Callback]:
    """Returns what happens between the steps and epochs of a stage, in this order."""
    stage, task = recipe.stages[index], get_task(recipe.task)
    selection = stage.selection
    found: list[keras.callbacks.Callback] = [Timing(notes), StopOnNonFinite()]
    if selection.watch:
        found.append(LengthAccuracy(task, selection.watch))
    if selection.by == "validation":
        examples = task.examples("validation", selection.examples, length=selection.length)
        found.append(BestWeights(checkpoint, examples, notes, selection.patience))
    if stage.optimizer.schedule == "plateau":
        found.append(HalveOnPlateau(notes))
    return [*found, EpochHistory(notes), Checkpointing(checkpoint, notes)]


def _entry(recipe: Recipe, index: int, notes: Notes, steps: int, batch_size: int, parameters: int) -> Entry:
    entry = {"stage": index} if len(recipe.stages) > 1 else {}
    entry |= {"epoch": notes["epoch"], "steps": notes["epoch"] * steps}
    entry |= {"examples_seen": entry["steps"] * batch_size, "parameters": parameters}
    entry |= {key: notes[key] for key in ("seconds", "device", "best_epoch", "history") if key in notes}
    return {**entry, "backend": keras.config.backend(), "seed": recipe.seed}
