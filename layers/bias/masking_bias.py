"""What the biases that mask keys have in common."""

from keras import ops

from kzoo.annotations import Tensor
from kzoo.errors import lacks
from kzoo.layers.bias.attention_bias import AttentionBias
from kzoo.layers.bias.bias_inputs import BiasInputs

MASKED = -1e9  # finite: a row of minus infinities would give NaN weights


class MaskingBias(AttentionBias):
    """Base of the biases that leave a query few keys, and never none.

    A subclass implements `values`. A query for which no key is left, by the bias and the attention's mask together, has
    no bias at all: it sees every key that the mask leaves it.
    """

    def call(self, inputs: BiasInputs, training: bool = False) -> Tensor:
        values = self.values(inputs)
        seen = values > MASKED / 2
        seen = seen if inputs.mask is None else ops.logical_and(seen, inputs.mask)
        return ops.where(ops.any(seen, axis=-1, keepdims=True), values, 0.0)

    def values(self, inputs: BiasInputs) -> Tensor:
        """Returns the bias, float32 of a shape that broadcasts to (B, N, T, S), `MASKED` where a key is masked."""
        raise lacks(self, "values")
