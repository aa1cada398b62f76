"""The contract of what mixes positions in a block, in the place of attention."""

from typing import Any

import keras

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, Shape, Tensor
from kzoo.errors import lacks


class Mixer(keras.layers.Layer):
    """Base of the mixers: causal networks over the positions of a sequence, without attention weights.

    A `TransformerBlock` takes one where it takes attention, so a mixer is registered under both kinds, "mixer" and
    "multi_head". A subclass implements `call`, and `start` and `step`, which
    a decoder calls: what they keep of a sequence is of one size, however long that grows.

    Args:
        heads: int. Number of heads.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        inputs: tensor of shape (B, T, D).
        mask: bool tensor of shape (B, T) or (B, T, T), as of attention. Nothing is read from it: a mixer never sees
            what stands behind a position, and padding is behind all real tokens.
        training: bool.
        delimiter: not used; so the next.
        places: tensor.

    Returns:
        The output, of shape (B, T, D), and None, for attention weights.
    """

    reads_source = False

    def __init__(self, heads: int = 1, dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.heads = checks.integer("heads", heads, 1, 1024)

    def build(self, inputs_shape: Shape, mask_shape: Shape | None = None) -> None:
        self.built = True

    def call(
        self,
        inputs: Tensor,
        mask: Tensor | None = None,
        training: bool = False,
        delimiter: Tensor | None = None,
        places: Tensor | None = None,
    ) -> tuple[Tensor, None]:
        raise lacks(self, "call")

    def start(
        self,
        inputs: Tensor,
        mask: Tensor | None = None,
        real: Tensor | None = None,
        delimiter: Tensor | None = None,
        places: Tensor | None = None,
    ) -> tuple[Tensor, Prepared]:
        """Returns the output for the first positions of a sequence, and the state behind the last real one.

        Args:
            inputs: tensor of shape (B, T, D).
            mask: not used.
            real: bool tensor of shape (B, T), True at real tokens. Defaults to all.
            delimiter: not used; so the next.
            places: tensor.
        """
        raise lacks(self, "start")

    def with_room(self, prepared: Prepared, length: int) -> Prepared:
        """Returns the state as it is: it needs no room."""
        return prepared

    def step(
        self,
        inputs: Tensor,
        prepared: Prepared,
        mask: Tensor | None = None,
        index: Tensor | None = None,
        places: Tensor | None = None,
    ) -> tuple[Tensor, Prepared]:
        """Returns the output (B, 1, D) for one more position, and the state behind it."""
        raise lacks(self, "step")

    def compute_mask(self, *args: Any, **kwargs: Any) -> None:
        return None

    def get_config(self) -> Config:
        return {**super().get_config(), "heads": self.heads}
