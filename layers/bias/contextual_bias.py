"""Contextual positions: a query counts the keys that matter to it."""

from typing import Any

from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Tensor
from kzoo.layers.bias.attention_bias import AttentionBias
from kzoo.layers.bias.bias_inputs import BiasInputs
from kzoo.layers.functional.traced import exporting
from kzoo.registry import alias, register


@register("bias")
class ContextualBias(AttentionBias):
    """Scores the position of a key among those that the query counts: its own tokens, words or commands.

    CoPE of [Golovneva et al., 2024](https://arxiv.org/abs/2405.18719). With z_ij the score of query i and
    key j, and e a table of vectors of positions, one for all heads:

        g_ij = sigmoid(z_ij),   p_ij = sum of g_ik over k = j .. i,   bias_ij = q_i . e[p_ij]

    p_ij is cut to the last row of e, and e[p] between two rows is interpolated linearly. Keys behind the query, and
    masked ones, are not counted; so it is for decoders, where none is attended to.

    Args:
        positions: int. Rows of e, 2 to 4,096. Defaults to 64.
        dtype: str or DTypePolicy. As of every Keras layer; positions are float32 under any.

    Call arguments:
        inputs: BiasInputs; it uses the lengths, `scores`, `queries`, `query_offset` and `mask`.

    Returns:
        Tensor of shape (B, N, T, S).

    Raises:
        InputError: an argument is out of range.

    Example:

    ```python
    attention = kzoo.layers.MultiHeadAttention(heads=2, bias="cope")
    output, weights = attention(np.ones((3, 5, 6), "float32"), mask=np.tril(np.ones((1, 5, 5), bool)))
    assert weights.shape == (3, 2, 5, 5)
    ```

    As in the paper's listing, e starts at 0, the gates are of the scores as the attention has them, scaled, and q_i . e
    is not scaled. A query itself counts too.
    """

    needs = ("queries", "scores")

    def __init__(self, positions: int = 64, dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.positions = checks.integer("positions", positions, 2, 4_096)

    def build(self, states_shape: Shape, queries_shape: Shape) -> None:
        self.vectors = self.add_weight((self.positions, queries_shape[-1]), initializer="zeros", name="vectors")
        self.built = True

    def call(self, inputs: BiasInputs, training: bool = False) -> Tensor:
        counted = inputs.key_positions()[None, None, :] <= inputs.query_positions()[:, :, None]
        counted = counted[:, None]
        counted = counted if inputs.mask is None else ops.logical_and(counted, inputs.mask)
        gates = ops.sigmoid(ops.cast(inputs.scores, "float32")) * ops.cast(counted, "float32")
        places = ops.flip(ops.cumsum(ops.flip(gates, axis=-1), axis=-1), axis=-1)
        places = ops.minimum(places, float(self.positions - 1))
        scores = ops.einsum("bnth,ph->bntp", inputs.queries, ops.cast(self.vectors, inputs.queries.dtype))
        scores = ops.cast(scores, "float32")
        if exporting():  # where a gather would fix the sizes
            between = ops.abs(places[..., None] - ops.arange(self.positions, dtype="float32"))
            return ops.einsum("bntsp,bntp->bnts", ops.relu(1.0 - between), scores)
        row = ops.cast(ops.floor(places), "int32")
        share = places - ops.floor(places)
        low, high = (
            ops.take_along_axis(scores, index, -1) for index in (row, ops.minimum(row + 1, self.positions - 1))
        )
        return low * (1.0 - share) + high * share

    def get_config(self) -> Config:
        return {**super().get_config(), "positions": self.positions}


alias("bias", "cope", "ContextualBias")
