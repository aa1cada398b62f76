"""The values of a memory, which an attention cell averages."""

from typing import Any

import keras

from kzoo import checks
from kzoo.annotations import Config, Shape, Tensor
from kzoo.layers.functional.dense import dense
from kzoo.registry import register


@register("layer")
class ValueProjection(keras.layers.Layer):
    """Turns a memory into the vectors that attention averages.

    Three linear maps, the first with a leaky ReLU of slope 0.01: W_o W_v LeakyReLU(W_h e_i + b). The output map W_o
    comes after the average in the papers; being linear it is applied here, once a sequence instead of once a step.

    Args:
        units: int. Size of the head, between W_v and W_o. Defaults to the memory's.
        hidden_units: int. Size after W_h. Defaults to the memory's.

    Call arguments:
        memory: tensor of shape (B, S, D).

    Returns:
        Tensor of shape (B, S, D).

    Example:

    ```python
    assert kzoo.layers.ValueProjection()(np.ones((2, 5, 6))).shape == (2, 5, 6)
    ```
    """

    def __init__(self, units: int | None = None, hidden_units: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = None if units is None else checks.integer("units", units, 1, 4096)
        self.hidden_units = None if hidden_units is None else checks.integer("hidden_units", hidden_units, 1, 4096)

    def build(self, input_shape: Shape) -> None:
        size = input_shape[-1]
        units, hidden_units = self.units or size, self.hidden_units or size
        self.hidden = dense(hidden_units, size, dtype=self.dtype_policy)
        self.value = dense(units, hidden_units, use_bias=False, dtype=self.dtype_policy)
        self.output_map = dense(size, units, use_bias=False, dtype=self.dtype_policy)
        self.hidden.build((None, None, size))
        self.value.build((None, None, hidden_units))
        self.output_map.build((None, None, units))

    def call(self, memory: Tensor) -> Tensor:
        return self.output_map(self.value(keras.ops.leaky_relu(self.hidden(memory), negative_slope=0.01)))

    def get_config(self) -> Config:
        return {**super().get_config(), "units": self.units, "hidden_units": self.hidden_units}
