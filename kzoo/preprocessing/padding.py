"""Rows of ids as arrays of few shapes."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from kzoo.accelerator import accelerator
from kzoo.annotations import TokenIds
from kzoo.backend import ensure_backend
from kzoo.errors import InputError


def pad(rows: Sequence[TokenIds], value: int, length: int | None = None) -> np.ndarray:
    """Returns rows of ids as one int32 array, filled up at the right.

    Raises:
        InputError: a row is longer than `length`.
    """
    longest = max(map(len, rows))
    if length is not None and longest > length:
        raise InputError(f"a sequence of {longest} tokens does not fit into {length}")
    array = np.full((len(rows), length or longest), value, "int32")
    for row, ids in zip(array, rows, strict=True):
        row[: len(ids)] = ids
    return array


def bucket(length: int) -> int:
    """Returns the length to pad to: few values, so that a compiled model meets few shapes.

    Multiples of 8 up to 64, then steps of an eighth of the next lower power of two: at most 14 % is padding. Where JAX
    computes on an accelerator, multiples of 32 up to 256: it compiles a model longer than it computes on what is added.
    """
    step = max(_least_step(), 2 ** (length - 1).bit_length() // 16)
    return -(-length // step) * step


@cache
def _least_step() -> int:
    return 32 if ensure_backend() == "jax" and accelerator() else 8
