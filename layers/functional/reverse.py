"""Reversal of padded sequences."""

from keras import ops

from kzoo.annotations import Tensor


def reverse(sequence: Tensor, mask: Tensor) -> Tensor:
    """Returns each sequence with its real tokens in reverse order, still at the left, pads still at the right.

    Args:
        sequence: tensor of shape (B, S, D).
        mask: bool tensor of shape (B, S), True at real tokens.

    Returns:
        Tensor of shape (B, S, D).
    """
    shape = ops.shape(sequence)
    lengths = ops.sum(ops.cast(mask, "int32"), axis=1, keepdims=True)
    positions = ops.arange(shape[1], dtype="int32")[None, :]
    source = ops.where(positions < lengths, lengths - 1 - positions, positions)
    # Whole rows of one flat table: the gradient of an elementwise gather is a slow scatter of single numbers.
    rows = source + ops.arange(shape[0], dtype="int32")[:, None] * shape[1]
    flat = ops.reshape(sequence, (shape[0] * shape[1], sequence.shape[-1]))
    return ops.reshape(ops.take(flat, ops.reshape(rows, (-1,)), axis=0), shape)
