"""Kernelised relative positions."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Tensor
from kzoo.errors import InputError
from kzoo.layers.bias.attention_bias import AttentionBias
from kzoo.layers.bias.bias_inputs import BiasInputs
from kzoo.registry import alias, register

LEAST = 0.01


@register("bias")
class KerpleBias(AttentionBias):
    """Penalises each score by a trained function of the distance, one for each head.

    KERPLE of [Chi et al., 2022](https://arxiv.org/abs/2205.09921), section 4, its logarithmic and its power variant,
    with r_1 and r_2 of a head trained:

        "log":    bias_ij = -r_1 ln(1 + r_2 |i - j|),   r_1, r_2 > 0
        "power":  bias_ij = -r_1 |i - j|^r_2,           r_1 > 0,  0 < r_2 <= 2

    Args:
        form: str. "log" or "power". Defaults to "log", the paper's best.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        inputs: BiasInputs; it uses the lengths, `query_offset` and `places`.

    Returns:
        Tensor of shape (1, N, T, S), or with `query_offset` or `places` (B, N, T, S).

    Raises:
        InputError: an unknown form.

    Example:

    ```python
    attention = kzoo.layers.MultiHeadAttention(heads=2, bias="kerple")
    output, weights = attention(np.ones((3, 5, 6), "float32"))
    assert float(weights[0, 0, 4, 4]) > float(weights[0, 0, 4, 0])
    ```

    r_1 starts uniform in 0 .. 2, r_2 in 0 .. 1, as in the authors' code. As there, both count as at least 0.01 (and r_2
    of "power" as at most 2), and the gradient is that of the number without this bound.
    """

    def __init__(self, form: str = "log", dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.form = checks.choice("form", form, ["log", "power"])

    def build(self, states_shape: Shape, queries_shape: Shape) -> None:
        if queries_shape is None:
            raise InputError("KerpleBias must be built, or called with queries, to know the number of heads")
        shape = (queries_shape[1], 1, 1)
        uniform = keras.initializers.RandomUniform
        self.slope = self.add_weight(shape, initializer=uniform(0.0, 2.0), name="slope")
        self.curve = self.add_weight(shape, initializer=uniform(0.0, 1.0), name="curve")
        self.built = True

    def call(self, inputs: BiasInputs, training: bool = False) -> Tensor:
        distance = ops.cast(ops.abs(inputs.distances()), "float32")[:, None]
        slope = bounded(self.slope, LEAST)
        if self.form == "log":
            return -slope * ops.log(1.0 + bounded(self.curve, LEAST) * distance)
        power = ops.exp(bounded(self.curve, LEAST, 2.0) * ops.log(ops.maximum(distance, 1.0)))
        return -slope * ops.where(distance > 0, power, 0.0)

    def get_config(self) -> Config:
        return {**super().get_config(), "form": self.form}


def bounded(weight: Tensor, least: float, most: float = float("inf")) -> Tensor:
    """Returns a weight cut to a range, with the gradient of the weight itself."""
    weight = ops.cast(ops.convert_to_tensor(weight), "float32")
    return weight + ops.stop_gradient(ops.clip(weight, least, most) - weight)


alias("bias", "kerple", "KerpleBias")
alias("bias", "kerple_power", "KerpleBias", form="power")
