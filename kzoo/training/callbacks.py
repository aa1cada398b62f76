"""What happens between the epochs of a run."""

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
from tqdm import tqdm

from kzoo.evaluation.measure import measure
from kzoo.saving.weights import save_weights
from kzoo.tasks import Task
from kzoo.tasks import get as get_task
from kzoo.training.checkpoint import Checkpoint
from kzoo.training.stages import Stage


class LengthAccuracy(keras.callbacks.Callback):
    """Measures sequence accuracy at given lengths after every epoch, and puts it into the epoch's logs.

    Args:
        task: str or Task.
        lengths: sequence of int.
        examples: int. Examples a length. Defaults to 200.

    The logs get `accuracy_at_<length>` for each length.
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


class Progress(keras.callbacks.Callback):
    """A progress bar over all steps of a run, on stderr.

    Args:
        steps: int. Steps of the whole run.
        done: int. Steps made before it was taken up again.
        show: bool.
    """

    def __init__(self, steps: int, done: int, show: bool) -> None:
        super().__init__()
        self.bar = tqdm(total=steps, initial=done, unit=" steps", disable=not show)

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        self.bar.update()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        shown = {k: v for k, v in (logs or {}).items() if k == "loss" or "accuracy" in k}
        self.bar.set_description(", ".join(f"{key} {value:.4g}" for key, value in shown.items()))

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        self.bar.close()


class Bookkeeper(keras.callbacks.Callback):
    """Selects weights, lowers the learning rate on a plateau, stops, and writes a checkpoint after every epoch.

    As in the papers' code: a tie with the best counts as a new best, so the latest of equals is kept; the rate is
    halved at the fifth epoch in a row without a higher score than ever before, the first epoch not counted.

    Args:
        stage: Stage.
        checkpoint: Checkpoint.
        notes: dict. The notes of the stage, as it began or as it is taken up again.
        examples: the validation examples, or None if nothing is selected.
    """

    PLATEAU = 5

    def __init__(self, stage: Stage, checkpoint: Checkpoint, notes: dict[str, Any], examples: Any) -> None:
        super().__init__()
        self.stage, self.checkpoint, self.notes, self.examples = stage, checkpoint, notes, examples
        self.started = 0.0

    @property
    def best_weights(self) -> Path:
        """Path. The selected weights so far."""
        return self.checkpoint.folder / "best.safetensors"

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self.checkpoint.restore_generators()

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self.started = time.perf_counter()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        notes = self.notes
        notes["epoch"] = epoch + 1
        notes["seconds"] += time.perf_counter() - self.started
        score = None
        if self.examples is not None:
            score = measure(self.model, self.examples)["sequence_accuracy"]
            if score >= notes["best"]:
                notes["best"], notes["best_epoch"] = score, epoch + 1
                self.checkpoint.folder.mkdir(parents=True, exist_ok=True)
                save_weights(self.model, self.best_weights)
            if self.stage.optimizer.schedule == "plateau" and epoch > 0:
                self._plateau(score)
        row = {"epoch": epoch + 1, "seconds": round(notes["seconds"], 1), "validation_accuracy": score}
        # What is not finite is no JSON.
        numbers = {key: float(value) if math.isfinite(value) else None for key, value in (logs or {}).items()}
        notes["history"].append(row | numbers)
        patience = self.stage.selection.patience
        if patience is not None and epoch + 1 - notes["best_epoch"] >= patience:
            self.model.stop_training = True
        self.checkpoint.save(self.model, notes)

    def _plateau(self, score: float) -> None:
        notes = self.notes
        if score > notes["plateau_best"] * (1 + 1e-4):
            notes["plateau_best"], notes["plateau_epochs"] = score, 0
            return
        notes["plateau_epochs"] += 1
        if notes["plateau_epochs"] == self.PLATEAU:
            rate = float(keras.ops.convert_to_numpy(self.model.optimizer.learning_rate))
            self.model.optimizer.learning_rate = rate / 2
            notes["plateau_epochs"] = 0
