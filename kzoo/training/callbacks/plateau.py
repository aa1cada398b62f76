"""A learning rate that falls when the accuracy does not rise."""

from typing import Any

import keras

from kzoo.training.notes import PLATEAU


class HalveOnPlateau(keras.callbacks.Callback):
    """Halves the learning rate at the fifth epoch in a row without a higher validation accuracy than ever before.

    As in the papers' code the first epoch is not counted, and higher is by a ten-thousandth of the best.

    Args:
        notes: dict. The notes of the stage, which hold `plateau_best` and `plateau_epochs`.
    """

    def __init__(self, notes: dict[str, Any]) -> None:
        super().__init__()
        self.notes = notes

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        score, notes = (logs or {})["validation_accuracy"], self.notes
        if epoch == 0:
            return
        if score > notes["plateau_best"] * (1 + 1e-4):
            notes["plateau_best"], notes["plateau_epochs"] = score, 0
            return
        notes["plateau_epochs"] += 1
        if notes["plateau_epochs"] == PLATEAU:
            rate = float(keras.ops.convert_to_numpy(self.model.optimizer.learning_rate))
            self.model.optimizer.learning_rate = rate / 2
            notes["plateau_epochs"] = 0
