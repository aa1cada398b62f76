"""Reading an untrusted safetensors file; imports no Keras."""

import hashlib
import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load

from kzoo.errors import PresetError

MAX_HEADER = 1_000_000
MAX_WEIGHTS = 512 * 1024**2
DTYPE = "F32"
ITEM = 4  # bytes

Shapes = dict[str, tuple[int, ...]]


def read_tensors(path: Path, expected: Shapes | None = None, sha256: str | None = None) -> dict[str, np.ndarray]:
    """Returns the tensors of a safetensors file by name.

    Args:
        path: Path.
        expected: dict of tuple of int. The names and shapes that the file must have, no more and no fewer. None takes
            what is there.
        sha256: str. The SHA-256 that the file must have. None takes any.

    Raises:
        PresetError: the file is missing, too large or damaged, names a tensor twice, has other names, shapes or dtypes
            than float32 tensors of `expected`, or a number in it is not finite.
    """
    content = _read(path)
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise PresetError(f"{path} was replaced while the preset was read: read it again")
    shapes = _shapes(path, content)
    if expected is not None:
        _compare(path, shapes, expected)
    for name, (dtype, _) in shapes.items():
        if dtype != DTYPE:
            raise PresetError(f"{path}: {name!r} is {dtype!r:.20}, not {DTYPE}")
    payload = len(content) - 8 - _header_size(path, content)
    wanted = sum(ITEM * math.prod(shape) for _, shape in shapes.values())
    if payload != wanted:
        raise PresetError(f"{path} is damaged: it has {payload:,} bytes of numbers instead of {wanted:,}")
    try:
        arrays = load(content)
    except (SafetensorError, ValueError) as error:
        raise PresetError(f"{path} is damaged ({' '.join(str(error).split()):.200})") from None
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise PresetError(f"{path}: {name!r} holds numbers that are not finite")
    return arrays


def read_shapes(path: Path) -> Shapes:
    """Returns the shapes of the tensors of a safetensors file by name; reads its header only.

    Raises:
        PresetError: the file is missing, too large, or its header is damaged.
    """
    return {name: shape for name, (_, shape) in _shapes(path, _read(path, 8 + MAX_HEADER)).items()}


def count_numbers(path: Path) -> int:
    """Returns how many float32 numbers fit behind the header of a safetensors file.

    Raises:
        PresetError: the file is missing, too large, or has no header of a sane size.
    """
    content = _read(path, 8)
    return max(0, path.stat().st_size - 8 - _header_size(path, content)) // ITEM


def _read(path: Path, size: int = -1) -> bytes:
    if not path.is_file():
        raise PresetError(f"{path} is missing")
    if path.stat().st_size > MAX_WEIGHTS:
        raise PresetError(f"{path} is larger than {MAX_WEIGHTS:,} bytes")
    with path.open("rb") as file:
        return file.read(size)


def _header_size(path: Path, content: bytes) -> int:
    size = struct.unpack("<Q", content[:8])[0] if len(content) >= 8 else 0
    if not 2 <= size <= MAX_HEADER:
        raise PresetError(f"{path} is damaged: it has no safetensors header of a sane size")
    return int(size)


def _shapes(path: Path, content: bytes) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Returns dtype and shape of each tensor that the header names."""
    text = content[8 : 8 + _header_size(path, content)]
    try:
        pairs = json.loads(text.decode(), object_pairs_hook=list)
        named = [(name, dict(fields)) for name, fields in pairs if name != "__metadata__"]
        shapes = {name: (str(fields["dtype"]), _sizes(fields["shape"])) for name, fields in named}
    except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        raise PresetError(f"{path} is damaged: its header is no safetensors header ({error})") from None
    if len(shapes) != len(named):
        raise PresetError(f"{path} names a tensor twice")
    return shapes


def _sizes(value: Any) -> tuple[int, ...]:
    sizes = isinstance(value, list) and len(value) <= 8
    if not sizes or not all(type(size) is int and 0 <= size <= MAX_WEIGHTS for size in value):
        raise ValueError(f"{value!r:.60} is no shape")
    return tuple(value)


def _compare(path: Path, shapes: dict[str, tuple[str, tuple[int, ...]]], expected: Shapes) -> None:
    missing, extra = sorted(expected.keys() - shapes.keys()), sorted(shapes.keys() - expected.keys())
    if missing or extra:
        parts = [
            f"{what} {', '.join(map(repr, names[:5]))}"
            for what, names in (("lacks", missing), ("has unknown", extra))
            if names
        ]
        raise PresetError(f"{path} {' and '.join(parts)}")
    for name, shape in expected.items():
        if shapes[name] != (DTYPE, shape):
            found = f"{shapes[name][0]:.20} {shapes[name][1]!s:.100}"
            raise PresetError(f"{path}: {name!r} is {found}, but the model needs {DTYPE} {shape}")
