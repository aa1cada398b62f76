"""Accuracy at given lengths after every epoch."""

from collections.abc import Sequence
from typing import Any

import keras

from kzoo.evaluation.measure import measure
from kzoo.tasks import Task
from kzoo.tasks import get as get_task


class LengthAccuracy(keras.callbacks.Callback):
    """Measures sequence accuracy at given lengths after every epoch, and puts it into the epoch's logs.

    Args:
        task: str or Task.
        lengths: sequence of int.
        examples: int. Examples a length. Defaults to 200.

    The logs get `accuracy_at_<length>` for each length, as a callback after this one may monitor:
    `keras.callbacks.EarlyStopping("accuracy_at_40", mode="max")`.
    """

    def __init__(self, task: str | Task, lengths: Sequence[int], examples: int = 200) -> None:
        super().__init__()
        task = get_task(task)
        self.examples = {length: task.examples("validation", examples, length=length) for length in lengths}

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        for length, examples in self.examples.items():
            found = measure(self.model, examples)["sequence_accuracy"]
            if logs is not None:
                logs[f"accuracy_at_{length}"] = found
