"""The contract of what is added to attention scores."""

from typing import Any

import keras

from kzoo.annotations import Config, DType, Prepared, Shape, Tensor
from kzoo.errors import InputError, lacks
from kzoo.layers.bias.bias_inputs import BiasInputs


class AttentionBias(keras.layers.Layer):
    """Base of the biases: terms that `MultiHeadAttention` adds to its scores.

    A subclass implements `call`, and `build(states_shape, queries_shape)` where it has weights; and `prepare` where it
    needs something of every key that a decoder is to keep.

    `needs` names the inputs that it requires, `needs_delimiter` says whether a decoder must pass the index of the
    delimiter in its sequence, and `needs_source` that it counts from the end of a source, which a decoder over one
    sequence does not have.

    Call arguments:
        inputs: BiasInputs.
        training: bool.

    Returns:
        Tensor that broadcasts to (B, N, T, S).
    """

    needs: tuple[str, ...] = ()
    needs_delimiter = False
    needs_source = False

    def __init__(self, dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, **kwargs)

    def __call__(self, inputs: BiasInputs, training: bool = False) -> Tensor:
        for name in self.needs:
            if getattr(inputs, name) is None:
                raise InputError(f"{type(self).__name__} needs the {name} in its BiasInputs")
        if not self.built:  # Keras looks for shapes in tensors only
            shapes: Any = [None if x is None else tuple(x.shape) for x in (inputs.states, inputs.queries)]
            self.build(*shapes)
        found = super().__call__(inputs=inputs, training=training)
        heads = None if inputs.queries is None else inputs.queries.shape[1]
        if heads is not None and len(found.shape) > 2 and found.shape[-3] not in (None, 1, heads):
            shape = f"{tuple(found.shape)}, and must broadcast to (batch, heads, queries, keys)"
            raise InputError(f"{type(self).__name__} has the shape {shape}, of {heads} heads")
        return found

    def build(self, states_shape: Shape, queries_shape: Shape) -> None:
        self.built = True

    def prepare(self, memory: Tensor) -> Prepared:
        """Returns what the bias needs of each key, tensors of shape (B, N, S, K) by name, of a memory (B, S, E).

        They are kept with the keys, and come back in `BiasInputs.prepared`. By default there are none.
        """
        return {}

    def call(self, inputs: BiasInputs, training: bool = False) -> Tensor:
        raise lacks(self, "call")

    def get_config(self) -> Config:
        return super().get_config()  # without an override Keras leaves the dtype policy out
