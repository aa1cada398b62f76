"""Sinusoids of positions, interleaved: sine at even, cosine at odd indices, or as rotations of such pairs."""

import numpy as np
from keras import ops

from kzoo.annotations import Tensor
from kzoo.errors import InputError


def angles(positions: Tensor, size: int) -> Tensor:
    """Returns positions times the frequencies 10000^(-2j / size), of shape (..., size / 2), float32.

    Args:
        positions: float32 tensor of shape (...).
        size: int, even.

    Raises:
        InputError: `size` is odd.
    """
    check_even(size)
    frequencies = 10000.0 ** (-np.arange(0, size, 2) / size)
    return positions[..., None] * ops.convert_to_tensor(frequencies, dtype="float32")


def check_even(size: int, of: str = "the size") -> None:
    """Raises `InputError` if a size is odd, which has no pairs of sine and cosine."""
    if size % 2:
        raise InputError(f"sinusoids go in pairs: {of} must be even, not {size}")


def sinusoid(positions: Tensor, size: int) -> Tensor:
    """Returns the encodings of positions, of shape (..., size): sin(p w_0), cos(p w_0), sin(p w_1), ...

    Args:
        positions: float32 tensor of shape (...).
        size: int, even.
    """
    angle = angles(positions, size)
    return interleave(ops.sin(angle), ops.cos(angle))


def rotate(x: Tensor, angle: Tensor) -> Tensor:
    """Returns x with each pair (x_2j, x_2j+1) rotated by its angle.

    Args:
        x: tensor of shape (..., size).
        angle: tensor of shape (..., size / 2).
    """
    first, second = x[..., 0::2], x[..., 1::2]
    cos, sin = ops.cos(angle), ops.sin(angle)
    return interleave(first * cos - second * sin, first * sin + second * cos)


def interleave(even: Tensor, odd: Tensor) -> Tensor:
    """Returns even_0, odd_0, even_1, odd_1, ... along the last axis."""
    stacked = ops.stack([even, odd], axis=-1)
    return ops.reshape(stacked, (*ops.shape(stacked)[:-2], 2 * stacked.shape[-2]))
