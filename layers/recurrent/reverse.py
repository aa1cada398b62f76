"""Reversal of padded sequences."""

from typing import Any

from keras import ops


def reverse(sequence: Any, mask: Any) -> Any:
    """Returns each sequence with its real tokens in reverse order, still at the left, pads still at the right.

    Args:
        sequence: tensor of shape (B, S, D).
        mask: bool tensor of shape (B, S), True at real tokens.

    Returns:
        Tensor of shape (B, S, D).
    """
    lengths = ops.sum(ops.cast(mask, "int32"), axis=1, keepdims=True)
    positions = ops.arange(ops.shape(sequence)[1], dtype="int32")[None, :]
    source = ops.where(positions < lengths, lengths - 1 - positions, positions)
    return ops.take_along_axis(sequence, ops.broadcast_to(source[:, :, None], ops.shape(sequence)), axis=1)
