"""The two-layer network of a Transformer block."""

from typing import Any

import keras

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Tensor
from kzoo.layers.functional.dense import dense, glorot
from kzoo.registry import register


@register("layer")
class FeedForward(keras.layers.Layer):
    """A linear map, a ReLU or a GELU, dropout, and a linear map back to the size of the input.

    From [Csordas et al., 2022](https://arxiv.org/abs/2110.07732), Eq. 5: W_2 max(W_1 x + b_1, 0) + b_2.

    Args:
        units: int. Size between the maps. Defaults to four times the input's.
        gain: float. W_2 starts Glorot-uniform times `gain`; defaults to uniform in +-1/sqrt(units). W_1 always starts
            Glorot-uniform times sqrt(2).
        bias: float. What b_2 starts at. Defaults to uniform in +-1/sqrt(units).
        dropout: float. Rate between the maps while training. Defaults to 0.
        activation: str. "relu" or "gelu". Defaults to "relu".
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        inputs: tensor of shape (..., D).
        training: bool.

    Returns:
        Tensor of shape (..., D).

    Raises:
        InputError: an argument is out of range.

    Example:

    ```python
    assert kzoo.layers.FeedForward(8)(np.ones((2, 5, 6), "float32")).shape == (2, 5, 6)
    ```
    """

    def __init__(
        self,
        units: int | None = None,
        gain: float | None = None,
        bias: float | None = None,
        dropout: float = 0.0,
        activation: str = "relu",
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.units = None if units is None else checks.integer("units", units, 1, 65_536)
        self.gain = None if gain is None else checks.number("gain", gain, 0.0, 100.0)
        self.start = None if bias is None else checks.number("bias", bias, -100.0, 100.0)
        self.dropout = keras.layers.Dropout(checks.number("dropout", dropout, 0.0, 0.99), dtype=self.dtype_policy)
        self.activation = checks.choice("activation", activation, ["relu", "gelu"])

    def build(self, input_shape: Shape) -> None:
        size = input_shape[-1]
        units = self.units or 4 * size
        constant = {} if self.start is None else {"bias_initializer": keras.initializers.Constant(self.start)}
        policy = {"dtype": self.dtype_policy}
        self.inner = dense(units, size, glorot(size, units, 2**0.5), activation=self.activation, **policy)
        bound = units**-0.5 if self.gain is None else glorot(units, size, self.gain)
        self.outer = dense(size, units, bound, **constant, **policy)
        self.inner.build((None, size))
        self.outer.build((None, units))
        self.built = True

    def call(self, inputs: Tensor, training: bool = False) -> Tensor:
        return self.outer(self.dropout(self.inner(inputs), training=training))

    def get_config(self) -> Config:
        own = {"units": self.units, "gain": self.gain, "bias": self.start, "dropout": self.dropout.rate}
        return {**super().get_config(), **own, "activation": self.activation}
