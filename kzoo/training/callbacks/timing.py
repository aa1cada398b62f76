"""The seconds of the training steps, and the accelerator that made them."""

import time
from typing import Any

import keras

from kzoo.accelerator import accelerator


class Timing(keras.callbacks.Callback):
    """Adds up the seconds of the epochs in `notes["seconds"]`; it stands first, so that validation is excluded.

    `notes["device"]` is the name of the accelerator, where there is one.

    Args:
        notes: dict. The notes of the stage.
    """

    def __init__(self, notes: dict[str, Any]) -> None:
        super().__init__()
        self.notes, self.started = notes, 0.0

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        device = accelerator()
        if device is not None:
            self.notes["device"] = device

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self.started = time.perf_counter()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self.notes["seconds"] += time.perf_counter() - self.started
