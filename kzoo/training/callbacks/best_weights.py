"""The weights with the best accuracy on validation examples."""

from typing import Any

import keras

from kzoo.evaluation.measure import measure
from kzoo.training.checkpoint import Checkpoint


class BestWeights(keras.callbacks.Callback):
    """Measures sequence accuracy on validation examples after every epoch, and keeps the weights with the best.

    A tie with the best counts as a new best, as in the papers' code: the latest of equals is kept. The logs get
    `validation_accuracy`.

    Args:
        checkpoint: Checkpoint.
        examples: the validation examples.
        notes: dict. The notes of the stage, which hold `best` and `best_epoch`.
        patience: int or None. Stops after so many epochs without a new best.
    """

    def __init__(
        self, checkpoint: Checkpoint, examples: Any, notes: dict[str, Any], patience: int | None = None
    ) -> None:
        super().__init__()
        self.checkpoint, self.examples, self.notes, self.patience = checkpoint, examples, notes, patience

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        score = measure(self.model, self.examples)["sequence_accuracy"]
        if score >= self.notes["best"]:
            self.notes["best"], self.notes["best_epoch"] = score, epoch + 1
            self.checkpoint.save_best(self.model, epoch + 1)
        if logs is not None:
            logs["validation_accuracy"] = score
        if self.patience is not None and epoch + 1 - self.notes["best_epoch"] >= self.patience:
            self.model.stop_training = True
