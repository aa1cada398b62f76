"""Mixers as a reader of whole sequences."""

from typing import Any

import keras

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Spec, Tensor
from kzoo.errors import InputError
from kzoo.layers.functional.check_mask import check_mask
from kzoo.layers.functional.dense import dense
from kzoo.layers.functional.last_token import last_token
from kzoo.layers.mixers.mixer import Mixer
from kzoo.layers.transformer.transformer_block import EPSILON, TransformerBlock
from kzoo.registry import alias, get, register, serialize


@register("reader")
class MixerReader(keras.layers.Layer):
    """Reads a sequence with blocks of a mixer, and gives the last state.

    As a classifier of [Grazzi et al., 2025](https://arxiv.org/abs/2411.12537) reads: a map of the embeddings to the
    size of the states, blocks with norms before their parts, and a norm; the state at the last real token.

    Args:
        units: int. Size of the states, 1 to 8,192. Defaults to 64.
        layers: int. Number of blocks, 1 to 100. Defaults to 1.
        mixer: name, config or object of the kind "mixer"; every layer has one like it. Defaults to "delta".
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
        first = get("mixer", mixer, {"heads": heads}, **policy)
        if not isinstance(first, Mixer):
            raise InputError(f"the mixer of a MixerReader is a Mixer, not a {type(first).__name__}")
        self.mixer = serialize(first)
        options: Config = {"norm": "before", "activation": "gelu", "dropout": dropout, **policy}
        self.stack = [TransformerBlock(get("mixer", self.mixer, **policy), **options) for _ in range(layers)]
        self.final_norm = keras.layers.LayerNormalization(epsilon=EPSILON, **policy)

    def build(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> None:
        size, states = sequence_shape[-1], (None, None, self.units)
        self.inputs = dense(self.units, size, size**-0.5, dtype=self.dtype_policy)
        self.inputs.build((None, None, size))
        for layer in [*self.stack, self.final_norm]:
            layer.build(states)
        self.built = True

    def call(self, sequence: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        check_mask(mask)
        states = self.inputs(sequence)
        for block in self.stack:
            states, _ = block(states, mask, training=training)
        return last_token(self.final_norm(states), mask)

    def compute_output_shape(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> Shape:
        return (sequence_shape[0], self.units)

    def compute_mask(self, *args: Any, **kwargs: Any) -> None:
        return None

    def get_config(self) -> Config:
        own = {"units": self.units, "layers": self.layers, "mixer": self.mixer, "dropout": self.stack[0].dropout.rate}
        return {**super().get_config(), **own}


alias("reader", "mixer", "MixerReader")
alias("reader", "delta", "MixerReader", mixer="delta")
