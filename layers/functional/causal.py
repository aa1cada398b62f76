"""What a decoder over one sequence sees of it: what stands before, where the source ends, how long the answer gets."""

from collections.abc import Sequence
from typing import Any

from keras import ops

from kzoo.annotations import Tensor


def causal_mask(length: int | Tensor) -> Tensor:
    """Returns a bool tensor of shape (1, T, T), True where the key is not behind the query."""
    positions = ops.arange(length, dtype="int32")
    return (positions[None, :] <= positions[:, None])[None]


def causal_filter(x: Tensor, taps: Tensor) -> Tensor:
    """Returns of each vector and those before it the sum over r of taps[r] * x_(t-r); x is 0 before the first.

    Args:
        x: tensor of shape (..., T, C).
        taps: tensor of shape (W, C), or (W, ..., C), which broadcasts against `x` but for its first axis.
    """
    length, found = ops.shape(x)[-2], taps[0] * x
    for r in range(1, taps.shape[0]):
        earlier = ops.pad(x, [[0, 0]] * (len(x.shape) - 2) + [[r, 0], [0, 0]])[..., :length, :]
        found = found + taps[r] * earlier
    return found


def vectors_before(x: Tensor, ends: Tensor, number: int) -> Tensor:
    """Returns the last vectors before a position of each row, in their order; 0 where there are none.

    Args:
        x: tensor of shape (B, ..., T, C).
        ends: int tensor of shape (B,), the positions.
        number: int, how many.

    Returns:
        Tensor of shape (B, ..., number, C).
    """
    seen = ends[:, None] + ops.arange(-number, 0, dtype="int32")
    at = ops.arange(ops.shape(x)[-2], dtype="int32") == seen[:, :, None]
    for _ in x.shape[3:]:
        at = ops.expand_dims(at, 1)
    return ops.matmul(ops.cast(at, x.dtype), x)


def column_of(token_ids: Tensor, delimiter: int, padding: int) -> Tensor:
    """Returns the column of the first delimiter, int (B, 1), or that behind the last token where there is none.

    Args:
        token_ids: int tensor of shape (B, T).
        delimiter: int. Its token id.
        padding: int. That of padding.
    """
    source = ops.logical_and(token_ids != delimiter, token_ids != padding)
    behind = ops.cumsum(ops.cast(ops.logical_not(source), "int32"), axis=1)
    return ops.sum(ops.cast(behind == 0, "int32"), axis=1, keepdims=True)


def lengths_of_answers(source: Tensor, steps: Sequence[Any]) -> Tensor:
    """Returns how many tokens, one or more, the answers to sources have, int32 of their shape; see `checks.steps`.

    Args:
        source: int tensor. The tokens of each source.
        steps: (float, int). (a, b): a * (source tokens) + b.
    """
    factor, number = steps
    scaled = ops.cast(ops.round(factor * ops.cast(source, "float32")), "int32")
    return ops.maximum(scaled + number, 1)
