"""Attention with linear biases."""

import numpy as np
from keras import ops

from kzoo.annotations import Array, Shape, Tensor
from kzoo.errors import InputError
from kzoo.layers.bias.attention_bias import AttentionBias
from kzoo.layers.bias.bias_inputs import BiasInputs
from kzoo.registry import alias, register


@register("bias")
class AlibiBias(AttentionBias):
    """Penalises each score in proportion to the distance, with a slope of its own for each head.

    From [Press et al., 2022](https://arxiv.org/abs/2108.12409), section 3: bias_ij = -m_h |i - j|, with the slopes
    m_h = 2^(-8 h / N) for the heads h = 1 .. N.

    Call arguments:
        inputs: BiasInputs; it uses the lengths, `query_offset` and `places`.

    Returns:
        Tensor of shape (1, N, T, S), or with `query_offset` (B, N, T, S).

    Example:

    ```python
    bias = kzoo.layers.AlibiBias()
    bias.build((1, 3, 8), (1, 2, 3, 4))
    found = np.array(bias(kzoo.layers.BiasInputs(query_length=3, key_length=3)))
    assert found[0, 0, 2].tolist() == [-0.125, -0.0625, 0]
    ```

    Differences from the paper: where N is no power of two, it takes slopes of the next ones; here the formula stays.
    In a decoder the keys behind a query are masked; in an encoder the distance counts to both sides.
    """

    def build(self, states_shape: Shape, queries_shape: Shape) -> None:
        if queries_shape is None:
            raise InputError(
                f"{type(self).__name__} must be built, or called with queries, to know the number of heads"
            )
        self.slopes = self.slopes_of(queries_shape[1])
        self.built = True

    def slopes_of(self, heads: int) -> Array:
        """Returns the slope of each head, an array of shape (N,)."""
        return 2.0 ** (-8.0 * np.arange(1, heads + 1) / heads)

    def call(self, inputs: BiasInputs, training: bool = False) -> Tensor:
        distance = ops.cast(ops.abs(inputs.distances()), "float32")
        return -ops.convert_to_tensor(self.slopes[:, None, None], dtype="float32") * distance[:, None]


alias("bias", "alibi", "AlibiBias")
