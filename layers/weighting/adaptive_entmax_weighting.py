"""Entmax with a scale that each query chooses, and that grows with the number of keys."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Tensor
from kzoo.layers.functional.check_mask import check_boolean
from kzoo.layers.weighting.entmax_weighting import entmax
from kzoo.layers.weighting.scalable_weighting import number_of_keys
from kzoo.registry import alias, register


@register("weighting")
class AdaptiveEntmaxWeighting(keras.layers.Layer):
    """Turns scores into weights by 1.5-entmax of scores times a scale of each query and head.

    ASEntmax of [Vasylenko et al., 2025](https://arxiv.org/abs/2506.16640). With x_i the state of query i, z its
    scores and n the number of its unmasked keys:

        A_i = entmax_1.5((delta + beta_i (ln(n + 1))^gamma_i) z_i),
        beta_i = softplus(w_b . x_i),   gamma_i = 2 tanh(w_g . x_i)

    Args:
        delta: float. -1,000 to 1,000. Defaults to 1, as in the authors' code.
        plain_heads: int. So many heads, the first, have no scale: those that have positions, as with the bias "nape".
            Defaults to 0.
        dtype: str or DTypePolicy. Weights are float32 under any.

    Call arguments:
        scores: float32 tensor of shape (B, N, T, S).
        mask: bool tensor that broadcasts to (B, N, T, S), True at unmasked keys; every row has at least one.
        states: tensor of shape (B, T, D), what the queries are projected from; attention passes it. Without it, the
            scale is `delta`.

    Returns:
        Weights, float32 of shape (B, N, T, S), exactly 0 at masked keys.

    Raises:
        InputError: an argument is out of range, or the mask is not boolean.

    Example:

    ```python
    attention = kzoo.layers.MultiHeadAttention(heads=2, weighting="asentmax")
    output, weights = attention(np.ones((3, 5, 6), "float32"))
    assert weights.shape == (3, 2, 5, 5)
    ```

    As in the authors' code, n + 1 stands under the logarithm, the maps have no biases, and each head has its own.
    Differences: there the scale multiplies the query, so that a bias of the same head is not scaled; here it multiplies
    scores and bias. Heads with a bias are meant to be `plain_heads`.
    """

    needs_states = True

    def __init__(self, delta: float = 1.0, plain_heads: int = 0, dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(autocast=False, dtype=dtype, **kwargs)
        self.delta = checks.number("delta", delta, -1000.0, 1000.0)
        self.plain_heads = checks.integer("plain_heads", plain_heads, 0, 1024)

    def build(self, scores_shape: Shape, mask_shape: Shape | None = None, states_shape: Shape | None = None) -> None:
        if states_shape is not None:
            heads = scores_shape[1]
            self.slope = keras.layers.Dense(heads, use_bias=False, dtype="float32")
            self.exponent = keras.layers.Dense(heads, use_bias=False, dtype="float32")
            self.slope.build(states_shape)
            self.exponent.build(states_shape)
        self.built = True

    def call(self, scores: Tensor, mask: Tensor, states: Tensor | None = None) -> Tensor:
        check_boolean(mask)
        scores = ops.cast(scores, "float32")
        scale: Tensor = self.delta
        if states is not None:
            scale = scale + self.by_states(ops.cast(states, "float32"), scores, mask)
        if self.plain_heads:
            plain = ops.arange(ops.shape(scores)[1], dtype="int32")[:, None, None] < self.plain_heads
            scale = ops.where(plain, 1.0, scale)
        return entmax(scale * scores, mask)

    def by_states(self, states: Tensor, scores: Tensor, mask: Tensor) -> Tensor:
        """Returns what the states (B, T, D) add to the scale, of shape (B, N, T, 1)."""
        slope = ops.transpose(ops.softplus(self.slope(states)), (0, 2, 1))[..., None]
        exponent = ops.transpose(2.0 * ops.tanh(self.exponent(states)), (0, 2, 1))[..., None]
        logarithm = ops.log(number_of_keys(scores, mask) + 1.0)
        return slope * ops.exp(exponent * ops.log(logarithm))

    def get_config(self) -> Config:
        return {**super().get_config(), "delta": self.delta, "plain_heads": self.plain_heads}


alias("weighting", "asentmax", "AdaptiveEntmaxWeighting")
