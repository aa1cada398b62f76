"""Learned vectors of places on the two sides of a delimiter."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.layers.bias.attention_bias import AttentionBias, rows_of
from kzoo.layers.bias.closing_bias import last_end
from kzoo.registry import alias, register


@register("bias")
class MirroredBias(AttentionBias):
    """Scores how far a key is from the query where each is counted from the delimiter, on its own side of it.

    A mechanism of our own, for a decoder that writes the answer to "source, delimiter" from its last token to its
    first: what it writes at a place is about the token at the same place on the other side, however long the source
    is. With e the column of the delimiter, q_i the query and w the `vectors`:

        place(i) = i - e from the delimiter on, e - 1 - i before it
        bias_ij  = scale * q_i . w[side(i), side(j), clip(place(j) - place(i), k)],   clip(x, k) = max(-k, min(k, x))

    The vectors are those of [Shaw et al., 2018](https://arxiv.org/abs/1803.02155), Eq. 4, with k `longest`; the window
    that runs against the source is that of [Duan et al., 2023](https://arxiv.org/abs/2310.11984), section A.4, for
    cross-attention.

    Args:
        longest: int. 1 to 10,000. Defaults to 2.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        query_length: int, T.
        key_length: int, S.
        queries: tensor of shape (B, N, T, H).
        scale: number, or tensor of shape (1,).
        place: int tensor of shape (B,), the position of the first query in each row. Defaults to 0.
        ends: int tensor of shape (B, 1), the delimiter's column, which a `TransformerDecoder` tells. Defaults to the
            last column.

    Returns:
        Tensor of shape (B, N, T, S).

    Raises:
        InputError: `longest` is out of range.

    Example:

    ```python
    attention = kzoo.layers.MultiHeadAttention(heads=2, bias="mirrored")
    model = kzoo.models.TransformerDecoder.from_task("incrementer", block={
        "class": "TransformerBlock", "config": {"attention": attention}}, units=8)
    assert model(model.preprocessor([("129", "130")])[0]).shape == (1, 7, 14)
    ```
    """

    delimited = True

    def __init__(self, longest: int = 2, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.longest = checks.integer("longest", longest, 1, 10_000)

    def build(self, states_shape: Any = None, queries_shape: Any = None) -> None:
        shape = (4 * (2 * self.longest + 1), queries_shape[-1])
        normal = keras.initializers.RandomNormal(stddev=shape[1] ** -0.5)
        self.vectors = self.add_weight(shape, initializer=normal, name="vectors")
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
        columns = ops.arange(key_length, dtype="int32")
        end = last_end(columns, ends)
        behind, places = _from(rows_of(query_length, place), end)
        keys_behind, keys_places = _from(columns[None, :], end)
        distances = ops.clip(keys_places[:, None, :] - places[:, :, None], -self.longest, self.longest) + self.longest
        kinds = (2 * behind[:, :, None] + keys_behind[:, None, :]) * (2 * self.longest + 1) + distances
        kinds = ops.broadcast_to(kinds, (ops.shape(queries)[0], *ops.shape(kinds)[1:]))
        scores = ops.einsum("bnth,kh->bntk", queries, ops.cast(self.vectors, queries.dtype))
        # A product instead of a gather, whose gradient would be a slow scatter.
        chosen = ops.one_hot(kinds, self.vectors.shape[0], dtype=scores.dtype)
        return ops.einsum("bntk,btsk->bnts", scores, chosen) * scale

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "longest": self.longest}


def _from(columns: Any, end: Any) -> tuple[Any, Any]:
    """Returns whether columns stand behind the delimiter, as 0 or 1, and their places counted from it."""
    behind = columns >= end
    return ops.cast(behind, "int32"), ops.where(behind, columns - end, end - 1 - columns)


alias("bias", "mirrored", "MirroredBias")
