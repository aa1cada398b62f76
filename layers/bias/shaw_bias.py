"""Learned vectors of relative positions."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Tensor
from kzoo.layers.bias.bias_inputs import BiasInputs
from kzoo.layers.bias.relative_bias import RelativeBias
from kzoo.registry import alias, register


@register("bias")
class ShawBias(RelativeBias):
    """Scores how far a key is from the query by a learned vector a distance, up to a longest one.

    From [Shaw et al., 2018](https://arxiv.org/abs/1803.02155), Eq. 4, as in section 7.1 of
    [Duan et al., 2023](https://arxiv.org/abs/2310.11984), on the keys only. With q_i the query:

        bias_ij = scale * q_i . w_clip(j-i, k),     clip(x, k) = max(-k, min(k, x))

    w is `vectors`, shared by all heads; k is `longest`.

    Args:
        longest: int. 1 to 10,000. Defaults to 16.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        inputs: BiasInputs; it uses the lengths, `queries`, `scale`, `places`, and `query_offset`, with which T must be
            1.

    Returns:
        Tensor of shape (B, N, T, S).

    Raises:
        InputError: `longest` is out of range.

    Example:

    ```python
    attention = kzoo.layers.MultiHeadAttention(heads=2, bias="shaw")
    output, weights = attention(np.ones((3, 5, 6), "float32"))
    assert weights.shape == (3, 2, 5, 5)
    ```
    """

    def __init__(self, longest: int = 16, dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.longest = checks.integer("longest", longest, 1, 10_000)

    def build(self, states_shape: Shape, queries_shape: Shape) -> None:
        self.heads, shape = queries_shape[1], (2 * self.longest + 1, queries_shape[-1])
        normal = keras.initializers.RandomNormal(stddev=shape[1] ** -0.5)
        self.vectors = self.add_weight(shape, initializer=normal, name="vectors")
        self.built = True

    def one_query(self, inputs: BiasInputs) -> Tensor:
        return self.at_places(inputs)

    def at_places(self, inputs: BiasInputs) -> Tensor:
        scores = self.of_vectors(inputs.queries, ops.arange(2 * self.longest + 1, dtype="int32"))
        columns = ops.clip(-inputs.distances(), -self.longest, self.longest) + self.longest
        # From one flat table: `take_along_axis` ties what PyTorch exports to one batch size.
        batch, heads, rows, width = ops.shape(scores)
        first = ops.reshape(ops.arange(batch * heads * rows, dtype="int32") * width, (batch, heads, rows, 1))
        return ops.take(ops.reshape(scores, (-1,)), first + columns[:, None], axis=0)

    def position_scores(self, query_length: int, key_length: int, queries: Tensor, training: bool) -> Tensor:
        distances = ops.arange(1 - query_length, key_length + 1, dtype="int32")
        return self.of_vectors(queries, ops.clip(distances, -self.longest, self.longest) + self.longest)

    def of_vectors(self, queries: Tensor, rows: Tensor) -> Tensor:
        """Returns the score (B, N, T, R) of each query with the vectors of these rows."""
        return ops.einsum("bnth,rh->bntr", queries, ops.take(ops.cast(self.vectors, queries.dtype), rows, axis=0))

    def get_config(self) -> Config:
        config = super().get_config()
        del config["dropout"]
        return {**config, "longest": self.longest}


alias("bias", "shaw", "ShawBias")
