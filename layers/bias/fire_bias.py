"""Functional interpolation of relative positions."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Tensor
from kzoo.errors import InputError
from kzoo.layers.bias.attention_bias import AttentionBias
from kzoo.layers.bias.bias_inputs import BiasInputs
from kzoo.layers.functional.dense import dense
from kzoo.registry import alias, register

EPSILON = 1e-6


@register("bias")
class FireBias(AttentionBias):
    """Adds a learned function of the distance, as a share of what the query has before it.

    FIRE of [Li et al., 2024](https://arxiv.org/abs/2310.04418), with i the query's position from 0:

        bias_ij = f(psi(i - j) / psi(max(i, L))),   psi(x) = ln(|c| x + 1)

    f is a network 1 -> `hidden_units` -> N with a ReLU, c and L are trained: c from 0.1, L from `threshold`, times
    `multiplier`, which starts at 1. The share is at most 1, at any length.

    Args:
        hidden_units: int. Size of the network between its maps, 1 to 4,096. Defaults to 32.
        threshold: float. What L starts at, 1 to 1,000,000. Defaults to 512.
        dtype: str or DTypePolicy. As of every Keras layer; it is float32 under any.

    Call arguments:
        inputs: BiasInputs; it uses the lengths, `query_offset` and `places`.

    Returns:
        Tensor of shape (1, N, T, S), or with `query_offset` or `places` (B, N, T, S).

    Raises:
        InputError: an argument is out of range.

    Example:

    ```python
    attention = kzoo.layers.MultiHeadAttention(heads=2, bias="fire")
    output, weights = attention(np.ones((3, 5, 6), "float32"))
    assert weights.shape == (3, 2, 5, 5)
    ```

    As in the paper's listing 1e-6 is added to the divisor. In an encoder the distance counts to both sides, and a share
    may exceed 1 there.
    """

    def __init__(self, hidden_units: int = 32, threshold: float = 512.0, dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.hidden_units = checks.integer("hidden_units", hidden_units, 1, 4_096)
        self.threshold = checks.number("threshold", threshold, 1.0, 1e6)

    def build(self, states_shape: Shape, queries_shape: Shape) -> None:
        if queries_shape is None:
            raise InputError("FireBias must be built, or called with queries, to know the number of heads")
        units, heads = self.hidden_units, queries_shape[1]
        self.inner = dense(units, 1, 1.0, activation="relu", dtype="float32")
        self.outer = dense(heads, units, units**-0.5, dtype="float32")
        self.inner.build((None, 1))
        self.outer.build((None, units))
        self.c = self.add_weight((1,), initializer=keras.initializers.Constant(0.1), dtype="float32", name="c")
        self.multiplier = self.add_weight((1,), initializer="ones", dtype="float32", name="multiplier")
        self.built = True

    def call(self, inputs: BiasInputs, training: bool = False) -> Tensor:
        distance = ops.cast(inputs.distances(), "float32")
        reach = ops.maximum(
            ops.cast(inputs.query_places(), "float32"), ops.abs(ops.cast(self.multiplier, "float32") * self.threshold)
        )
        share = self.psi(distance) / (self.psi(reach) + EPSILON)[:, :, None]
        return ops.transpose(self.outer(self.inner(share[..., None])), (0, 3, 1, 2))

    def psi(self, x: Tensor) -> Tensor:
        return ops.log(ops.abs(ops.cast(self.c, "float32") * x) + 1.0)

    def get_config(self) -> Config:
        return {**super().get_config(), "hidden_units": self.hidden_units, "threshold": self.threshold}


alias("bias", "fire", "FireBias")
