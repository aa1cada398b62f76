"""What each epoch's logs say."""

import math
from typing import Any

import keras

ROWS = 1_001  # more would not fit into a results.json that can be read


class EpochHistory(keras.callbacks.Callback):
    """Adds the logs of every epoch to `notes["history"]`, which results.json keeps.

    Of more than 1,001 rows every second one is left out.

    Args:
        notes: dict. The notes of the stage.
    """

    def __init__(self, notes: dict[str, Any]) -> None:
        super().__init__()
        self.notes = notes

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        first = {"epoch": epoch + 1, "seconds": round(self.notes["seconds"], 1), "validation_accuracy": None}
        # What is not finite is no JSON.
        numbers = {key: float(value) if math.isfinite(value) else None for key, value in (logs or {}).items()}
        history = self.notes["history"]
        history.append(first | numbers)
        if len(history) > ROWS:
            history[:] = history[::2]  # the first and the last among them
