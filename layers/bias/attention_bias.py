"""The contract of what is added to attention scores."""

from typing import Any

import keras
from keras import ops


class AttentionBias(keras.layers.Layer):
    """Base of the biases: terms that `MultiHeadAttention` adds to its scores.

    A bias implements `call`, and `build(states_shape, queries_shape)` where it has weights. It is given all of these by
    name, and uses what it needs. `delimited` says whether a decoder is to tell it where the delimiter of its sequence
    stands, as `ends`.

    Call arguments:
        query_length: int, T.
        key_length: int, S.
        states: tensor of shape (B, T, D), what the queries are made of.
        queries: tensor of shape (B, N, T, H), without bias.
        scale: the number, or tensor of shape (1,), that multiplies the scores of the content.
        training: bool.
        place: int tensor of shape (B,), the position of the first query in each row, where it is not 0: a decoder that
            keeps its keys asks for one query at a time.
        open_keys: bool tensor that broadcasts to (B, N, T, S), True where the mask lets a query see a key.
        ends: int tensor of shape (B, K), where the keys are a source of K parts: the column that ends each; or of shape
            (B, 1), the delimiter's.

    Returns:
        Tensor that broadcasts to (B, N, T, S).
    """

    delimited = False

    def __init__(self, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, **kwargs)

    def build(self, states_shape: Any = None, queries_shape: Any = None) -> None:
        self.built = True

    def call(
        self,
        query_length: Any,
        key_length: Any,
        states: Any = None,
        queries: Any = None,
        scale: Any = 1.0,
        training: bool = False,
        place: Any = None,
        open_keys: Any = None,
        ends: Any = None,
    ) -> Any:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        return super().get_config()  # Keras wants it said, for the dtype policy


def rows_of(query_length: Any, place: Any = None) -> Any:
    """Returns the positions of the queries, int of shape (1, T), or with the first in each row (B, T)."""
    rows = ops.arange(query_length, dtype="int32")[None, :]
    return rows if place is None else rows + place[:, None]
