"""The state of a training run on disk, so that a killed run goes on as if nothing had happened."""

import hashlib
from pathlib import Path
from typing import Any

import keras
import numpy as np
from safetensors.numpy import load, save

from kzoo.errors import PresetError, TrainingError
from kzoo.saving.files import read_json, sha256, write_bytes, write_json
from kzoo.saving.weights import named_variables, serialize
from kzoo.training import lock
from kzoo.training.notes import check_notes
from kzoo.training.recipe import Recipe


class Checkpoint:
    """A folder with the model's and the optimiser's variables, random states included, and the run's notes.

    Each save writes new files and then the notes, which name them with their SHA-256: the notes always describe whole
    files. What the notes do not name is removed.

    Args:
        folder: Path.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.digests: dict[str, str] = {}
        self.generators: dict[str, np.ndarray] = {}

    def exists(self) -> bool:
        """Whether there is a state to go on from."""
        return (self.folder / "notes.json").is_file()

    def begin(self, recipe: Recipe) -> dict[str, Any]:
        """Returns what the run has noted.

        Raises:
            PresetError: the notes are damaged, or are those of a run on another backend.
        """
        try:
            notes = check_notes(read_json(self.folder / "notes.json"), recipe)
        except (PresetError, ValueError) as error:
            raise self._damaged(error) from None
        if notes["backend"] != keras.config.backend():
            raise PresetError(
                f"{self.folder} holds a run on the {notes['backend']} backend, and this is {keras.config.backend()}: "
                f"resume it with KERAS_BACKEND={notes['backend']}"
            )
        self.digests = dict(notes["digests"])
        return notes

    def save(self, model: keras.Model, notes: dict[str, Any]) -> None:
        """Writes the state after `notes["epoch"]` epochs."""
        arrays = {key: np.asarray(keras.ops.convert_to_numpy(v.value), order="C") for key, v in _state(model).items()}
        name = f"state-{notes['epoch']}.safetensors"
        self._write(name, save({**arrays, **_generators()}))
        best = [best_name(notes["best_epoch"])] if notes["best_epoch"] else []
        self._note(notes, [name, *best, *self._stages()])

    def save_best(self, model: keras.Model, epoch: int) -> None:
        """Writes the weights after an epoch that is the best so far."""
        self._write(best_name(epoch), serialize(model))

    def finish_stage(self, model: keras.Model, notes: dict[str, Any]) -> None:
        """Writes the weights that a stage ended with, and then the notes of the next."""
        self._write(stage_name(notes["stage"] - 1), serialize(model))
        self._note(notes, [stage_name(notes["stage"] - 1)])

    def file(self, name: str) -> Path:
        """Returns the path of a file that the notes name.

        Raises:
            PresetError: it is missing, or is not what was written.
        """
        path = self.folder / name
        if not path.is_file():
            raise self._damaged(f"{name} is missing")
        if sha256(path) != self.digests.get(name):
            raise self._damaged(f"the SHA-256 of {name} is not that of the notes")
        return path

    def restore(self, model: keras.Model, notes: dict[str, Any]) -> None:
        """Sets every variable to its value after `notes["epoch"]` epochs of a stage; at 0 there are none to set.

        Raises:
            PresetError: the file is damaged or belongs to another model.
        """
        if not notes["epoch"]:
            return
        path, variables = self.file(f"state-{notes['epoch']}.safetensors"), _state(model)
        try:
            arrays = load(path.read_bytes())
        except Exception as error:
            raise self._damaged(error) from None
        self.generators = {key: arrays.pop(key) for key in list(arrays) if key.startswith("torch.")}
        if {k: a.shape for k, a in arrays.items()} != {k: tuple(v.shape) for k, v in variables.items()}:
            raise PresetError(f"the checkpoint in {self.folder} belongs to another model")
        for key, variable in variables.items():
            variable.assign(arrays[key])

    def restore_generators(self) -> None:
        """Sets PyTorch's generators to their saved states; Keras draws from them until the first step."""
        for key, state in self.generators.items() if keras.config.backend() == "torch" else ():
            _set_generator(key.removeprefix("torch."), state)

    def remove(self) -> None:
        """Removes the files; the folder goes with its lock."""
        for path in self.folder.glob("*"):
            if path.name != lock.NAME:
                path.unlink(missing_ok=True)

    def _stages(self) -> list[str]:
        return [name for name in self.digests if name.startswith("stage-")]

    def _write(self, name: str, content: bytes) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_bytes(self.folder / name, content)
        except OSError as error:
            raise self._unwritten(error) from error
        self.digests[name] = hashlib.sha256(content).hexdigest()

    def _note(self, notes: dict[str, Any], kept: list[str]) -> None:
        """Writes the notes, with the files that they keep, and removes the others."""
        self.digests = {name: self.digests[name] for name in kept}
        try:
            own = {"backend": keras.config.backend(), "digests": self.digests}
            write_json(self.folder / "notes.json", {**notes, **own})
        except OSError as error:
            raise self._unwritten(error) from error
        for path in self.folder.glob("*.safetensors"):
            if path.name not in self.digests:
                path.unlink(missing_ok=True)

    def _unwritten(self, error: OSError) -> TrainingError:
        said = error.strerror or type(error).__name__
        return TrainingError(f"no checkpoint can be written to {self.folder} ({said}); the last one is kept")

    def _damaged(self, error: object) -> PresetError:
        said = " ".join(str(error).split())
        return PresetError(f"the checkpoint in {self.folder} is damaged ({said:.200}); remove it to start afresh")


def best_name(epoch: int) -> str:
    """Returns the name of the file of the best weights, which a stage had after an epoch."""
    return f"best-{epoch}.safetensors"


def stage_name(index: int) -> str:
    """Returns the name of the file of the weights that a stage ended with."""
    return f"stage-{index}.safetensors"


def _state(model: keras.Model) -> dict[str, Any]:
    """Returns every variable that training changes: weights by name, random states and the optimiser's by position."""
    weights = named_variables(model)
    others = {id(v) for v in [*weights.values(), *model.metrics_variables]}
    states = [v for v in model.variables if id(v) not in others]
    return {
        **{f"weights.{name}": v for name, v in weights.items()},
        **{f"state.{i}": v for i, v in enumerate(states)},
        **{f"optimizer.{i}": v for i, v in enumerate(model.optimizer.variables)},
    }


def _generators() -> dict[str, np.ndarray]:
    """Returns the states of PyTorch's own generators, from which Keras draws dropout there."""
    if keras.config.backend() != "torch":
        return {}
    import torch

    states = {"torch.cpu": torch.get_rng_state()}
    states |= {f"torch.cuda.{i}": state for i, state in enumerate(torch.cuda.get_rng_state_all())}
    return {key: state.numpy() for key, state in states.items()}


def _set_generator(device: str, state: np.ndarray) -> None:
    import torch

    if device == "cpu":
        torch.set_rng_state(torch.from_numpy(state))
    else:
        torch.cuda.set_rng_state(torch.from_numpy(state), int(device.removeprefix("cuda.")))
