"""The contract of attention in a recurrent decoder."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, Shape, States, Tensor
from kzoo.errors import lacks
from kzoo.layers.attention.value_projection import ValueProjection
from kzoo.layers.functional.check_mask import check_mask


class AttentionCell(keras.layers.Layer):
    """Base of the attention mechanisms of a recurrent decoder: one call attends once.

    A sequence is prepared once (`prepare`), then attended to at each target step (`call`), which passes a dict of
    states, as the last position, on to the next. A mechanism implements

    - `build_weights(query_shape, memory_shape)`: its own variables;
    - `prepare_weights(memory, memory_mask, summary)`: what it needs of a memory, computed once;
    - `get_initial_state(prepared)`: its states before the first step, each (B,) or (B, D), beside the base's;
    - `weigh(query, prepared, states)`: the attention weights of this step and the new states;
    - `advance(weights, prepared, states)`: the states after the weights were used, if they depend on them. It is
      separate from `weigh` since a mixture may use other weights than this mechanism computed.

    Every cell has the state `time` (B,): the number of steps made, which `call` counts.

    Scores, weights and states are float32 under every dtype policy: positions in bfloat16 would be wrong by tens at
    length 1,000.

    Args:
        units: int. Size of queries, keys and values. Defaults to the query's.
        value_units: int. Size of the hidden layer before the values. Defaults to the memory's.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        query: tensor of shape (B, D).
        prepared: dict, from `prepare`.
        states: dict of tensors, from `get_initial_state` or the last call.

    Returns:
        The context of shape (B, D), the weights of shape (B, S), and the new states.
    """

    # `dtype` is spelled out, here and in the subclasses, so that `registry.get` passes it on to parts.
    def __init__(
        self, units: int | None = None, value_units: int | None = None, dtype: DType = None, **kwargs: Any
    ) -> None:
        super().__init__(autocast=False, dtype=dtype, **kwargs)
        self.units = None if units is None else checks.integer("units", units, 1, 4096)
        self.value_units = None if value_units is None else checks.integer("value_units", value_units, 1, 4096)

    def build(self, query_shape: Shape, memory_shape: Shape) -> None:
        self.build_weights(query_shape, memory_shape)
        self.values = ValueProjection(self.units, self.value_units, dtype=self.dtype_policy)
        self.values.build(memory_shape)
        self.built = True

    def prepare(self, memory: Tensor, memory_mask: Tensor, summary: Tensor | None = None) -> Prepared:
        """Returns what the steps need of a memory.

        Args:
            memory: tensor of shape (B, S, D).
            memory_mask: bool tensor of shape (B, S), True at real positions.
            summary: tensor of shape (B, D), the encoder's summary; only some mechanisms need it.

        Raises:
            InputError: the mask is not boolean, or a row is not padded on the right.
        """
        memory, memory_mask = ops.convert_to_tensor(memory), ops.convert_to_tensor(memory_mask)
        check_mask(memory_mask, "memory_mask")
        return {
            "mask": memory_mask,
            "values": self.values(memory),
            **self.prepare_weights(memory, memory_mask, summary),
        }

    def get_initial_state(self, prepared: Prepared) -> States:
        """Returns the states before the first step."""
        return {"time": ops.zeros_like(prepared["mask"][:, 0], dtype="float32")}

    def call(self, query: Tensor, prepared: Prepared, states: States) -> tuple[Tensor, Tensor, States]:
        weights, states = self.weigh(query, prepared, states)
        context = ops.einsum("bs,bsd->bd", ops.cast(weights, prepared["values"].dtype), prepared["values"])
        states = self.advance(weights, prepared, states)
        return context, weights, {**states, "time": states["time"] + 1.0}

    def largest_activation(self, length: int) -> int:
        """Returns the numbers of its weights of so many queries and keys."""
        return length**2

    def build_weights(self, query_shape: Shape, memory_shape: Shape) -> None:
        raise lacks(self, "build_weights")

    def prepare_weights(self, memory: Tensor, memory_mask: Tensor, summary: Tensor) -> Prepared:
        return {}

    def weigh(self, query: Tensor, prepared: Prepared, states: States) -> tuple[Tensor, States]:
        raise lacks(self, "weigh")

    def advance(self, weights: Tensor, prepared: Prepared, states: States) -> States:
        return states

    def get_config(self) -> Config:
        return {**super().get_config(), "units": self.units, "value_units": self.value_units}
