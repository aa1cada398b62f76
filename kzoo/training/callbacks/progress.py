"""A progress bar over the steps of a stage."""

from typing import Any

import keras
from tqdm.auto import tqdm


class Progress(keras.callbacks.Callback):
    """A progress bar over all steps of a stage, on stderr.

    Args:
        steps: int. Steps of the whole stage.
        done: int. Steps made before it was taken up again.
        show: bool.
        label: str. Shown first, as "stage 2 of 3". Defaults to nothing.
    """

    def __init__(self, steps: int, done: int, show: bool, label: str = "") -> None:
        super().__init__()
        self.label = label
        self.bar = tqdm(total=steps, initial=done, unit=" steps", disable=not show, desc=label or None)

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        self.bar.update()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        shown = [f"{k} {v:.4g}" for k, v in (logs or {}).items() if k == "loss" or "accuracy" in k]
        self.bar.set_description(", ".join([self.label, *shown] if self.label else shown))

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        self.bar.close()
