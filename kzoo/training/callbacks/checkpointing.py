"""The state of a run after every epoch."""

from typing import Any

import keras

from kzoo.training.checkpoint import Checkpoint


class Checkpointing(keras.callbacks.Callback):
    """Writes a checkpoint after every epoch; it stands last, after all that changes the notes.

    Args:
        checkpoint: Checkpoint.
        notes: dict. The notes of the stage.
    """

    def __init__(self, checkpoint: Checkpoint, notes: dict[str, Any]) -> None:
        super().__init__()
        self.checkpoint, self.notes = checkpoint, notes

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self.checkpoint.restore_generators()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self.notes["epoch"] = epoch + 1
        self.checkpoint.save(self.model, self.notes)
