"""Learned vectors of positions on the two sides of a delimiter."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Tensor
from kzoo.layers.bias.attention_bias import AttentionBias
from kzoo.layers.bias.bias_inputs import BiasInputs
from kzoo.registry import alias, register


@register("bias")
class MirroredBias(AttentionBias):
    """Scores how far a key is from the query where each is counted from the delimiter, on its own side of it.

    A mechanism of our own, for a decoder that writes the answer to "source, delimiter" from its last token to its
    first: the token it writes depends on the source token at the same distance from the delimiter, however long the
    source is. With e the index of the delimiter, q_i the query and w the `vectors`:

        d(i)    = i - e from the delimiter on, e - 1 - i before it
        bias_ij = scale * q_i . w[side(i), side(j), clip(d(j) - d(i), k)],   clip(x, k) = max(-k, min(k, x))

    The vectors are those of [Shaw et al., 2018](https://arxiv.org/abs/1803.02155), Eq. 4, with k `longest`; the window
    that runs against the source is that of [Duan et al., 2023](https://arxiv.org/abs/2310.11984), section A.4, for
    cross-attention.

    Args:
        longest: int. 1 to 64: memory grows with it. Defaults to 2.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        inputs: BiasInputs; it uses the lengths, `queries`, `scale`, `query_offset` and `delimiter`, which a
            `TransformerDecoder` passes.

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

    needs = ("queries",)
    needs_delimiter = True

    def __init__(self, longest: int = 2, dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.longest = checks.integer("longest", longest, 1, 64)

    def build(self, states_shape: Shape, queries_shape: Shape) -> None:
        shape = (4 * (2 * self.longest + 1), queries_shape[-1])
        normal = keras.initializers.RandomNormal(stddev=shape[1] ** -0.5)
        self.vectors = self.add_weight(shape, initializer=normal, name="vectors")
        self.built = True

    def call(self, inputs: BiasInputs, training: bool = False) -> Tensor:
        queries, delimiter = inputs.queries, inputs.last_key(inputs.delimiter)
        side, index = _from(inputs.query_positions(), delimiter)
        key_side, key_index = _from(inputs.key_positions()[None, :], delimiter)
        distances = ops.clip(key_index[:, None, :] - index[:, :, None], -self.longest, self.longest) + self.longest
        kinds = (2 * side[:, :, None] + key_side[:, None, :]) * (2 * self.longest + 1) + distances
        kinds = ops.broadcast_to(kinds, (ops.shape(queries)[0], *ops.shape(kinds)[1:]))
        scores = ops.einsum("bnth,kh->bntk", queries, ops.cast(self.vectors, queries.dtype))
        # A product instead of a gather, whose gradient would be a slow scatter.
        chosen = ops.one_hot(kinds, self.vectors.shape[0], dtype=scores.dtype)
        return ops.einsum("bntk,btsk->bnts", scores, chosen) * inputs.scale

    def largest_activation(self, length: int) -> int:
        """Returns the numbers of `chosen` of so many queries and keys."""
        return 4 * (2 * self.longest + 1) * length**2

    def get_config(self) -> Config:
        return {**super().get_config(), "longest": self.longest}


def _from(positions: Tensor, delimiter: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the side of positions, 0 before the delimiter and 1 from it on, and their index counted from it."""
    after = positions >= delimiter
    return ops.cast(after, "int32"), ops.where(after, positions - delimiter, delimiter - 1 - positions)


alias("bias", "mirrored", "MirroredBias")
