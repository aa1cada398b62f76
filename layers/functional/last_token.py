"""The vector at the last real token."""

from keras import ops

from kzoo.annotations import Tensor


def last_token(sequence: Tensor, mask: Tensor) -> Tensor:
    """Returns the vector of each sequence at its last real token.

    Args:
        sequence: tensor of shape (B, T, D).
        mask: bool tensor of shape (B, T), True at real tokens; rows are padded on the right.

    Returns:
        Tensor of shape (B, D).
    """
    positions = ops.arange(ops.shape(mask)[1], dtype="int32")[None, :]
    is_last = positions == ops.sum(ops.cast(mask, "int32"), axis=1, keepdims=True) - 1
    return ops.einsum("bt,btd->bd", ops.cast(is_last, sequence.dtype), sequence)
