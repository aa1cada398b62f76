"""The state of a training run on disk, so that a killed run goes on as if nothing had happened."""

import shutil
from pathlib import Path
from typing import Any

import keras
import numpy as np
from safetensors.numpy import load_file, save

from kzoo.errors import PresetError
from kzoo.files import read_json, write_bytes, write_json


class Checkpoint:
    """A folder with the model's and the optimiser's variables, random states included, and the run's notes.

    Each save writes new files and then the notes that name them, so the notes always describe whole files.

    Args:
        folder: Path.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def exists(self) -> bool:
        """Whether there is a state to go on from."""
        return (self.folder / "notes.json").is_file()

    def save(self, model: keras.Model, notes: dict[str, Any]) -> None:
        """Writes the state after `notes["epoch"]` epochs."""
        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"state-{notes['epoch']}.safetensors"
        arrays = {key: np.ascontiguousarray(keras.ops.convert_to_numpy(v.value)) for key, v in _state(model).items()}
        write_bytes(self.folder / name, save(arrays))
        write_json(self.folder / "notes.json", {**notes, "state": name})
        for old in self.folder.glob("state-*.safetensors"):
            if old.name != name:
                old.unlink()

    def restore(self, model: keras.Model) -> dict[str, Any]:
        """Sets every variable to its saved value; returns the notes.

        Raises:
            PresetError: the files are damaged or belong to another model.
        """
        notes = read_json(self.folder / "notes.json")
        variables = _state(model)
        try:
            arrays = load_file(self.folder / str(notes["state"]))
        except Exception as error:
            raise PresetError(
                f"the checkpoint in {self.folder} is damaged ({error}); remove it to start afresh"
            ) from None
        if {k: a.shape for k, a in arrays.items()} != {k: tuple(v.shape) for k, v in variables.items()}:
            raise PresetError(f"the checkpoint in {self.folder} belongs to another model")
        for key, variable in variables.items():
            variable.assign(arrays[key])
        return notes

    def remove(self) -> None:
        """Removes the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _state(model: keras.Model) -> dict[str, Any]:
    """Returns every variable that training changes, by kind and position."""
    metrics = {id(v) for v in model.metrics_variables}
    own = [v for v in model.variables if id(v) not in metrics]
    return {
        **{f"model.{i}": v for i, v in enumerate(own)},
        **{f"optimizer.{i}": v for i, v in enumerate(model.optimizer.variables)},
    }
