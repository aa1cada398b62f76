"""Numbers that are not finite end a training."""

import math
from typing import Any

import keras
import numpy as np

from kzoo.errors import TrainingError
from kzoo.saving.weights import named_variables

ADVICE = "training stopped, and nothing after the epoch before is kept: try a lower learning rate or clip_norm"


class StopOnNonFinite(keras.callbacks.Callback):
    """Raises an error at the first step whose loss is not finite, and after an epoch if a weight is not.

    `keras.callbacks.TerminateOnNaN` looks at the loss only, and ends as if the training were done.

    Raises:
        TrainingError: a number is not finite; the checkpoint of the last epoch is kept.
    """

    def __init__(self) -> None:
        super().__init__()
        self.epoch = 0

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self.epoch = epoch

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        loss = (logs or {}).get("loss")
        if loss is not None and not math.isfinite(loss):
            raise TrainingError(f"the loss is {float(loss)} at step {batch + 1} of epoch {self.epoch + 1}; {ADVICE}")

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        name = non_finite(self.model)
        if name is not None:
            raise TrainingError(f"the weights {name!r} are not finite after epoch {epoch + 1}; {ADVICE}")


def non_finite(model: keras.Model) -> str | None:
    """Returns the name of a weight that is not finite, or None if all are."""
    for name, variable in named_variables(model).items():
        if not np.isfinite(keras.ops.convert_to_numpy(variable.value)).all():
            return name
    return None
