"""What a decoder over one sequence of source, delimiter and target looks at."""

from keras import ops

from kzoo.annotations import Tensor


def causal_mask(length: int | Tensor) -> Tensor:
    """Returns a bool tensor of shape (1, T, T), True where the key is not behind the query."""
    positions = ops.arange(length, dtype="int32")
    return (positions[None, :] <= positions[:, None])[None]


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
