"""The contract of what is added to attention scores."""

from typing import Any

import keras

from kzoo.layers.bias.bias_inputs import BiasInputs


class AttentionBias(keras.layers.Layer):
    """Base of the biases: terms that `MultiHeadAttention` adds to its scores.

    A subclass implements `call`, and `build(states_shape, queries_shape)` where it has weights.

    `needs_delimiter` says whether a decoder must pass the index of the delimiter in its sequence.

    Call arguments:
        inputs: BiasInputs.
        training: bool.

    Returns:
        Tensor that broadcasts to (B, N, T, S).
    """

    needs_delimiter = False

    def __init__(self, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, **kwargs)

    def __call__(self, inputs: BiasInputs, training: bool = False) -> Any:
        if not self.built:  # Keras takes the shapes of arguments only, not of what they hold
            self.build(*(None if x is None else tuple(x.shape) for x in (inputs.states, inputs.queries)))
        return super().__call__(inputs=inputs, training=training)

    def build(self, states_shape: Any = None, queries_shape: Any = None) -> None:
        self.built = True

    def call(self, inputs: BiasInputs, training: bool = False) -> Any:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        return super().get_config()  # without an override Keras leaves the dtype policy out
