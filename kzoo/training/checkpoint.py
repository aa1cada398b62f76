"""The state of a training run on disk, so that a killed run goes on as if nothing had happened."""

import shutil
from pathlib import Path
from typing import Any

import keras
import numpy as np
from safetensors.numpy import load_file, save

from kzoo.errors import PresetError
from kzoo.saving.files import read_json, write_bytes, write_json
from kzoo.saving.weights import named_variables, save_weights


class Checkpoint:
    """A folder with the model's and the optimiser's variables, random states included, and the run's notes.

    Each save writes new files and then the notes that name them, so the notes always describe whole files.

    Args:
        folder: Path.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.generators: dict[str, np.ndarray] = {}

    @property
    def best_weights(self) -> Path:
        """Path. The selected weights of the stage so far."""
        return self.folder / "best.safetensors"

    def exists(self) -> bool:
        """Whether there is a state to go on from."""
        return (self.folder / "notes.json").is_file()

    def notes(self) -> dict[str, Any]:
        """Returns what the run has noted."""
        return read_json(self.folder / "notes.json")

    def stage_weights(self, index: int) -> Path:
        """Returns the file of the weights that a stage ended with."""
        return self.folder / f"stage-{index}.safetensors"

    def finish_stage(self, model: keras.Model, notes: dict[str, Any]) -> None:
        """Writes the weights that a stage ended with, and then the notes of the next."""
        self.folder.mkdir(parents=True, exist_ok=True)
        save_weights(model, self.stage_weights(notes["stage"] - 1))
        write_json(self.folder / "notes.json", notes)
        for old in (*self.folder.glob("state-*.safetensors"), self.best_weights):
            old.unlink(missing_ok=True)

    def save(self, model: keras.Model, notes: dict[str, Any]) -> None:
        """Writes the state after `notes["epoch"]` epochs."""
        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"state-{notes['epoch']}.safetensors"
        arrays = {key: np.asarray(keras.ops.convert_to_numpy(v.value), order="C") for key, v in _state(model).items()}
        write_bytes(self.folder / name, save({**arrays, **_generators()}))
        write_json(self.folder / "notes.json", {**notes, "state": name})
        for old in self.folder.glob("state-*.safetensors"):
            if old.name != name:
                old.unlink()

    def restore(self, model: keras.Model) -> dict[str, Any]:
        """Sets every variable to its saved value; returns the notes.

        Raises:
            PresetError: the files are damaged or belong to another model.
        """
        notes = self.notes()
        if "state" not in notes:  # a stage that was just begun
            return notes
        variables = _state(model)
        try:
            arrays = load_file(self.folder / str(notes["state"]))
        except Exception as error:
            raise PresetError(
                f"the checkpoint in {self.folder} is damaged ({error}); remove it to start afresh"
            ) from None
        self.generators = {key: arrays.pop(key) for key in list(arrays) if key.startswith("torch.")}
        if {k: a.shape for k, a in arrays.items()} != {k: tuple(v.shape) for k, v in variables.items()}:
            raise PresetError(f"the checkpoint in {self.folder} belongs to another model")
        for key, variable in variables.items():
            variable.assign(arrays[key])
        return notes

    def restore_generators(self) -> None:
        """Sets PyTorch's generators to their saved states; Keras draws from them until the first step."""
        for key, state in self.generators.items() if keras.config.backend() == "torch" else ():
            _set_generator(key.removeprefix("torch."), state)

    def remove(self) -> None:
        """Removes the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


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
