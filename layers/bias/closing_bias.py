"""What the biases that close keys have in common."""

from typing import Any

from keras import ops

from kzoo.layers.bias.attention_bias import AttentionBias, rows_of

CLOSED = -1e9  # finite: a score of minus infinity in every column would make a row of weights no numbers


class ClosingBias(AttentionBias):
    """Base of the biases that leave a query few keys, and never none.

    A subclass implements `values`. Where the mask closes every key that the bias leaves open, or it leaves none, the
    bias does nothing to the query: it is transparent there.
    """

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
        values = self.values(rows_of(query_length, place), ops.arange(key_length, dtype="int32"), ends)
        found = values > CLOSED / 2
        found = found if open_keys is None else ops.logical_and(found, open_keys)
        return ops.where(ops.any(found, axis=-1, keepdims=True), values, 0.0)

    def values(self, rows: Any, columns: Any, ends: Any) -> Any:
        """Returns the bias, float32 of a shape that broadcasts to (B, N, T, S), `CLOSED` where a key is closed.

        Args:
            rows: int tensor of shape (1, T) or (B, T), the positions of the queries.
            columns: int tensor of shape (S,), those of the keys.
            ends: int tensor of shape (B, K), the column that ends each part of a source; or None.
        """
        raise NotImplementedError


def last_end(columns: Any, ends: Any) -> Any:
    """Returns the column that ends the source, int of shape (B, 1): without `ends`, the last of all."""
    return ops.reshape(columns[-1], (1, 1)) if ends is None else ops.cast(ends[:, -1:], columns.dtype)
