"""Mixers and causal attention as a reader of whole sequences."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Spec, Tensor
from kzoo.layers.functional.causal import causal_mask
from kzoo.layers.functional.dense import dense
from kzoo.layers.recurrent.reader import Reader
from kzoo.layers.transformer.transformer_block import EPSILON, TransformerBlock
from kzoo.registry import alias, get, register, serialize


@register("reader")
class MixerReader(Reader):
    """Reads a sequence with blocks of a mixer or of causal attention, and gives the last state.

    As a classifier of [Grazzi et al., 2025](https://arxiv.org/abs/2411.12537) reads: a map of the embeddings to the
    size of the states, blocks with norms before their parts, and a norm; the state at the last real token. A token sees
    those before it, whatever mixes them.

    Args:
        units: int. Size of the states, 1 to 8,192. Defaults to 64.
        layers: int. Number of blocks, 1 to 100. Defaults to 1.
        mixer: name, config or object of the kind "multi_head": a mixer, or attention; every layer has one like it.
            Defaults to "delta".
        heads: int. Heads of the mixer. Defaults to what it states, or 1.
        dropout: float. Rate in the blocks while training. Defaults to 0.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        sequence: tensor of shape (B, T, E).
        mask: bool tensor of shape (B, T), True at real tokens; every row has at least one.
        training: bool.

    Returns:
        Tensor of shape (B, units).

    Raises:
        InputError: an argument is out of range, or the mixer is unknown.

    Example:

    ```python
    reader = kzoo.layers.MixerReader(6, layers=2, heads=2)
    assert reader(np.ones((2, 5, 3), "float32"), np.ones((2, 5), bool)).shape == (2, 6)
    ```
    """

    def __init__(
        self,
        units: int = 64,
        layers: int = 1,
        mixer: Spec = "delta",
        heads: int | None = None,
        dropout: float = 0.0,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.units = checks.integer("units", units, 1, 8192)
        self.layers = checks.integer("layers", layers, 1, 100)
        policy = {"dtype": self.dtype_policy}
        self.mixer = serialize(get("multi_head", mixer, {"heads": heads}, **policy))
        options: Config = {"norm": "before", "activation": "gelu", "dropout": dropout, **policy}
        self.stack = [TransformerBlock(self.mixer, **options) for _ in range(layers)]
        self.final_norm = keras.layers.LayerNormalization(epsilon=EPSILON, **policy)

    def build(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> None:
        size, states = sequence_shape[-1], (None, None, self.units)
        self.inputs = dense(self.units, size, size**-0.5, dtype=self.dtype_policy)
        self.inputs.build((None, None, size))
        for layer in [*self.stack, self.final_norm]:
            layer.build(states)
        self.built = True

    def states(self, sequence: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        states, causal = self.inputs(sequence), causal_mask(ops.shape(sequence)[1])
        for block in self.stack:
            states, _ = block(states, causal, training=training)
        return self.final_norm(states)

    def get_config(self) -> Config:
        own = {"units": self.units, "layers": self.layers, "mixer": self.mixer, "dropout": self.stack[0].dropout.rate}
        return {**super().get_config(), **own}


alias("reader", "mixer", "MixerReader")
alias("reader", "delta", "MixerReader", mixer="delta")
