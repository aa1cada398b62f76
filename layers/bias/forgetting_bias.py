"""The gate of a forgetting Transformer."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, Shape, Tensor
from kzoo.errors import InputError
from kzoo.layers.bias.attention_bias import AttentionBias
from kzoo.layers.bias.bias_inputs import BiasInputs
from kzoo.registry import alias, register


@register("bias")
class ForgettingBias(AttentionBias):
    """Penalises each key by what has been forgotten since: a gate at every position, of each head.

    The forget gate of FoX, [Lin et al., 2025](https://arxiv.org/abs/2503.02130). With x_t the state of
    position t:

        f_t = sigmoid(w . x_t + b),   bias_ij = sum of ln f_k over k = j + 1 .. i

    for j <= i: the query's own gate counts, the key's does not. A constant f is ALiBi. Keys behind the query, and
    masked ones, are in no sum; so it is for decoders.

    Args:
        start: float. What b starts at, -20 to 20. Defaults to 0, as in the authors' code: half is forgotten at each
            position. A few units more let a small model see far from the first step on.
        dtype: str or DTypePolicy. As of every Keras layer; gates are float32 under any.

    Call arguments:
        inputs: BiasInputs; it uses the lengths, `prepared`, `query_offset` and `mask`.

    Returns:
        Tensor of shape (B, N, T, S).

    Raises:
        InputError: an argument is out of range.

    Example:

    ```python
    attention = kzoo.layers.MultiHeadAttention(heads=2, bias="forgetting")
    output, weights = attention(np.ones((3, 5, 6), "float32"), mask=np.tril(np.ones((1, 5, 5), bool)))
    assert weights.shape == (3, 2, 5, 5)
    ```

    What else FoX's "pro" block has, shifts of keys and values, norms and an output gate, is not here. w starts
    Glorot-uniform.
    """

    needs = ("states", "queries")

    def __init__(self, start: float = 0.0, dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.initial = checks.number("start", start, -20.0, 20.0)

    def build(self, states_shape: Shape, queries_shape: Shape) -> None:
        constant = keras.initializers.Constant(self.initial)
        self.gate = keras.layers.Dense(queries_shape[1], bias_initializer=constant, dtype="float32")
        self.gate.build((None, None, states_shape[-1]))
        self.built = True

    def prepare(self, memory: Tensor) -> Prepared:
        gates = self.gate(ops.cast(memory, "float32"))
        return {"log_kept": ops.transpose(ops.log_sigmoid(gates), (0, 2, 1))[..., None]}

    def call(self, inputs: BiasInputs, training: bool = False) -> Tensor:
        if "log_kept" not in inputs.prepared:
            raise InputError("ForgettingBias needs what its prepare returns of the keys in its BiasInputs")
        counted = inputs.key_positions()[None, None, :] <= inputs.query_positions()[:, :, None]
        counted = counted[:, None]
        counted = counted if inputs.mask is None else ops.logical_and(counted, inputs.mask)
        kept = inputs.prepared["log_kept"][:, :, None, :, 0] * ops.cast(counted, "float32")  # (B, N, T, S)
        # The sum over what stands behind each key: from the end, without its own.
        return ops.flip(ops.cumsum(ops.flip(kept, axis=-1), axis=-1), axis=-1) - kept

    def get_config(self) -> Config:
        return {**super().get_config(), "start": self.initial}


alias("bias", "forgetting", "ForgettingBias")
