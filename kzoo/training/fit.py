"""The training of a model, stage after stage."""

from typing import Any

import keras

from kzoo.saving.weights import load_weights
from kzoo.tasks import get as get_task
from kzoo.training.batches import training_batches
from kzoo.training.build import build
from kzoo.training.callbacks import Bookkeeper, LengthAccuracy, Progress
from kzoo.training.checkpoint import Checkpoint
from kzoo.training.optimizers import make_optimizer
from kzoo.training.recipe import Recipe

Entry = dict[str, Any]  # what results.json says of the training of a stage


def fit(recipe: Recipe, checkpoint: Checkpoint, progress: bool = False) -> tuple[Any, list[Entry]]:
    """Returns the trained model, and of each stage what results.json says of its training."""
    if recipe.constructed:
        none = {"epoch": 0, "steps": 0, "examples_seen": 0, "seconds": 0.0, "best_epoch": 0, "history": []}
        return build(recipe), [{**none, "backend": keras.config.backend(), "seed": recipe.seed}]
    notes = checkpoint.notes() if checkpoint.exists() else None
    finished: list[Entry] = notes.get("finished", []) if notes else []
    while True:
        index = len(finished)
        model, entry = _fit_stage(recipe, index, checkpoint, finished, progress)
        finished = [*finished, entry]
        if len(finished) == len(recipe.stages):
            return model, finished
        checkpoint.finish_stage(model, begin_notes(recipe, index + 1, finished))


def begin_notes(recipe: Recipe, index: int, finished: list[Entry]) -> dict[str, Any]:
    """Returns the notes of a stage that begins."""
    own = {"stage": index, "finished": finished, "epoch": 0, "seconds": 0.0, "best": -1.0, "best_epoch": 0}
    return {"recipe": recipe.to_config(), **own, "plateau_best": -1.0, "plateau_epochs": 0, "history": []}


def _fit_stage(
    recipe: Recipe, index: int, checkpoint: Checkpoint, finished: list[Entry], progress: bool
) -> tuple[Any, Entry]:
    """Trains one stage from its checkpoint, else from the weights of the stage before."""
    stage = recipe.stages[index]
    model = build(recipe, index, checkpoint.stage_weights(index - 1) if index else None)
    task = get_task(recipe.task)
    batches = training_batches(recipe, model, index)
    epochs, steps = stage.budget.epochs, len(batches)
    model.compile(optimizer=make_optimizer(stage.optimizer, epochs * steps), weighted_metrics=None)
    model.optimizer.build(model.trainable_variables)
    notes = checkpoint.restore(model) if checkpoint.exists() else begin_notes(recipe, index, finished)
    done = notes["epoch"]
    selecting, patience = stage.selection.by == "validation", stage.selection.patience
    length, size = stage.selection.length, stage.selection.examples
    validation = task.examples("validation", size, length=length) if selecting else None
    bookkeeper = Bookkeeper(stage, checkpoint, notes, validation)
    batches.begin(done)
    if done < epochs and not (patience and done and done - notes["best_epoch"] >= patience):
        callbacks = [bookkeeper, Progress(epochs * steps, done * steps, progress)]
        if stage.selection.watch:
            callbacks.insert(0, LengthAccuracy(task, stage.selection.watch))
        # `batches` shuffle themselves; were Keras to shuffle too, a run taken up again would see another order.
        options = {"initial_epoch": done, "epochs": epochs, "shuffle": False, "verbose": 0}
        keras.Model.fit(model, batches, callbacks=callbacks, **options)
    if stage.optimizer.ema_momentum is not None:  # also where nothing was left to train
        model.optimizer.finalize_variable_values(model.trainable_variables)
    if selecting:
        load_weights(model, bookkeeper.best_weights)
    return model, _entry(recipe, index, notes, steps, batches.batch_size)


def _entry(recipe: Recipe, index: int, notes: dict[str, Any], steps: int, batch_size: int) -> Entry:
    entry = {"stage": index} if len(recipe.stages) > 1 else {}
    entry |= {"epoch": notes["epoch"], "steps": notes["epoch"] * steps}
    entry |= {"examples_seen": entry["steps"] * batch_size}
    entry |= {key: notes[key] for key in ("seconds", "best_epoch", "history")}
    return {**entry, "backend": keras.config.backend(), "seed": recipe.seed}
