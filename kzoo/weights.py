"""Weights as float32 safetensors, under names a person understands.

A variable is named by the attributes that lead to it from the model, as `encoder.forward_gru.cell.kernel`: the same in
every process and on every backend, which `variable.path` is not.
"""

import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import keras
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from kzoo.errors import PresetError
from kzoo.files import write_bytes

MAX_HEADER = 1_000_000
DTYPE = "F32"


def named_variables(model: keras.Model) -> dict[str, keras.Variable]:
    """Returns the weights of a model by name, sorted."""
    found: dict[int, tuple[str, keras.Variable]] = {}
    visited: set[int] = set()

    def walk(value: Any, name: str) -> None:
        if isinstance(value, keras.Variable):
            found.setdefault(id(value), (name, value))
        elif isinstance(value, keras.layers.Layer) and id(value) not in visited:
            visited.add(id(value))
            for attribute in dir(value):
                if not attribute.startswith("_") and attribute not in _INHERITED:
                    walk(getattr(value, attribute), f"{name}.{attribute}" if name else attribute)
        elif isinstance(value, (list, tuple)):
            for i, item in enumerate(value):
                walk(item, f"{name}.{i}")

    walk(model, "")
    wanted = {id(variable) for variable in model.weights}
    lost = [variable.path for variable in model.weights if id(variable) not in found]
    if lost:
        raise RuntimeError(f"weights that no public attribute leads to: {lost}")
    return dict(sorted(pair for key, pair in found.items() if key in wanted))


_INHERITED = frozenset(dir(keras.Model))


def save_weights(model: keras.Model, path: Path) -> None:
    """Writes the weights of a model as float32 safetensors, whole or not at all."""
    write_bytes(path, serialize(model))


def serialize(model: keras.Model) -> bytes:
    """Returns the weights of a model as the content of a safetensors file: equal weights give equal bytes."""
    # Arrays that are not contiguous would be written wrongly, and in silence; `ascontiguousarray` has no scalars.
    arrays = {
        name: np.asarray(keras.ops.convert_to_numpy(variable.value), dtype="float32", order="C")
        for name, variable in named_variables(model).items()
    }
    return save(arrays, metadata={"format": "kzoo"})


def weights_sha256(model: keras.Model) -> str:
    """Returns the SHA-256 that the model.safetensors of this model has, or would have."""
    return hashlib.sha256(serialize(model)).hexdigest()


def load_weights(model: keras.Model, path: Path) -> None:
    """Reads the weights of a model; either all of them are set, or none.

    Raises:
        PresetError: the file is missing or damaged, its names, shapes or dtypes are not exactly the model's, or a
            number in it is not finite.
    """
    variables = named_variables(model)
    _check_header(path, variables)
    try:
        arrays = load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise PresetError(f"{path} is damaged ({error})") from None
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise PresetError(f"{path}: {name} holds numbers that are not finite")
    for name, variable in variables.items():
        variable.assign(arrays[name])


def _check_header(path: Path, variables: dict[str, keras.Variable]) -> None:
    """Holds the header against the model before any tensor is read."""
    if not path.is_file():
        raise PresetError(f"{path} is missing")
    with path.open("rb") as file:
        start = file.read(8)
        size = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
        if not 2 <= size <= MAX_HEADER:
            raise PresetError(f"{path} is damaged: it has no safetensors header of a sane size")
        text = file.read(size)
    try:
        pairs = json.loads(text.decode(), object_pairs_hook=list)
        named = [pair for pair in pairs if pair[0] != "__metadata__"]
        header = {name: dict(fields) for name, fields in named}
        shapes = {name: (fields["dtype"], tuple(fields["shape"])) for name, fields in header.items()}
    except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        raise PresetError(f"{path} is damaged: its header is no safetensors header ({error})") from None
    if len(header) != len(named):
        raise PresetError(f"{path} names a tensor twice")
    expected = {name: (DTYPE, tuple(variable.shape)) for name, variable in variables.items()}
    missing, extra = sorted(expected.keys() - shapes.keys()), sorted(shapes.keys() - expected.keys())
    if missing or extra:
        parts = [
            f"{what} {', '.join(names[:5])}" for what, names in (("lacks", missing), ("has unknown", extra)) if names
        ]
        raise PresetError(f"{path} {' and '.join(parts)}")
    for name, wanted in expected.items():
        if shapes[name] != wanted:
            raise PresetError(
                f"{path}: {name} is {shapes[name][0]} {shapes[name][1]}, but the model needs {wanted[0]} {wanted[1]}"
            )
    payload = sum(4 * int(np.prod(shape)) for _, shape in expected.values())
    if path.stat().st_size != 8 + size + payload:
        raise PresetError(f"{path} is damaged: it has {path.stat().st_size:,} bytes instead of {8 + size + payload:,}")
