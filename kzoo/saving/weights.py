"""Weights as float32 safetensors, under names a person understands.

A variable is named by the attributes that lead to it from the model, as `encoder.forward_gru.cell.kernel`: the same in
every process and on every backend, which `variable.path` is not.
"""

import hashlib
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import keras
import numpy as np
from safetensors.numpy import save

from kzoo.errors import PresetError
from kzoo.saving.files import write_bytes
from kzoo.saving.safetensors_file import read_tensors


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


def serialize(model: keras.Model, **metadata: str) -> bytes:
    """Returns the weights of a model as the content of a safetensors file: equal weights give equal bytes.

    Args:
        model: keras.Model.
        **metadata: further texts for its header.
    """
    # Arrays that are not contiguous would be written wrongly, and in silence; `ascontiguousarray` has no scalars.
    arrays = {
        name: np.asarray(keras.ops.convert_to_numpy(variable.value), dtype="float32", order="C")
        for name, variable in named_variables(model).items()
    }
    return save(arrays, metadata={"format": "kzoo", **metadata})


def weights_sha256(model: keras.Model) -> str:
    """Returns the SHA-256 that the model.safetensors of this model has, or would have."""
    return hashlib.sha256(serialize(model)).hexdigest()


def load_weights(model: keras.Model, path: Path, sha256: str | None = None) -> None:
    """Reads the weights of a model; either all of them are set, or none.

    Args:
        model: keras.Model.
        path: Path.
        sha256: str. The SHA-256 that the file must have. Defaults to any.

    Raises:
        PresetError: the file is missing, another or damaged, its names, shapes or dtypes are not exactly the model's,
            or a number in it is not finite.
    """
    variables = named_variables(model)
    arrays = read_tensors(path, {name: tuple(variable.shape) for name, variable in variables.items()}, sha256)
    for name, variable in variables.items():
        variable.assign(arrays[name])


@contextmanager
def limit_parameters(limit: int, path: Path, blank: bool = False) -> Iterator[None]:
    """Refuses, in this thread, models with more than `limit` weights before memory is taken for them.

    Args:
        limit: int. How many numbers the weights file has.
        path: Path. The config that is built, for the message.
        blank: bool. Whether weights begin at 0 instead of their initial values, because a file will set them all. JAX
            would compile the drawing of each shape. Defaults to False.

    Raises:
        PresetError: a layer asks for more.
    """
    thread, asked = threading.get_ident(), 0
    with LOCK:
        plain = keras.layers.Layer.add_weight

        def add_weight(layer: Any, shape: Any = None, initializer: Any = None, *args: Any, **kwargs: Any) -> Any:
            nonlocal asked
            if threading.get_ident() == thread:
                asked += math.prod(shape or ())
                if asked > limit:
                    raise PresetError(f"{path} needs more weights than the {limit:,} in model.safetensors")
                initializer = zeros if blank else initializer
            return plain(layer, shape, initializer, *args, **kwargs)

        keras.layers.Layer.add_weight = add_weight
        try:
            yield
        finally:
            keras.layers.Layer.add_weight = plain


LOCK = threading.RLock()


def zeros(shape: Any, dtype: Any = None) -> np.ndarray:
    """Returns zeros, as an initializer that no backend compiles."""
    return np.zeros(shape, "float32")
