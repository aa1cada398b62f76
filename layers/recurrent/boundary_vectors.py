"""Learned vectors at both ends of a source."""

from typing import Any

import keras
from keras import ops

from kzoo.annotations import Config, Shape, Tensor
from kzoo.layers.functional.check_mask import check_mask
from kzoo.registry import register


@register("layer")
class BoundaryVectors(keras.layers.Layer):
    """Puts a learned start vector before, and a learned end vector right after, the real tokens of a sequence.

    Location attention starts its pointer at the start vector, so that a step of 1 lands on the first token.
    Both vectors start at zero and belong to no vocabulary. The papers do not mention them; the released code of
    [Monotonic Location Attention](https://arxiv.org/abs/2305.20019) has them in every model, and positions, lengths
    and reversal all count them.

    Call arguments:
        sequence: tensor of shape (B, S, D).
        mask: bool tensor of shape (B, S), True at real tokens.

    Returns:
        Tensor of shape (B, S + 2, D), zero at pads, and its mask of shape (B, S + 2).

    Example:

    ```python
    layer = kzoo.layers.BoundaryVectors()
    sequence, mask = layer(np.ones((2, 5, 3)), np.ones((2, 5), bool))
    assert sequence.shape == (2, 7, 3)
    ```
    """

    def build(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> None:
        self.start = self.add_weight((sequence_shape[-1],), initializer="zeros", name="start")
        self.end = self.add_weight((sequence_shape[-1],), initializer="zeros", name="end")

    def call(self, sequence: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        check_mask(mask)
        real = ops.cast(mask, sequence.dtype)[:, :, None]
        one = ops.ones_like(real[:, :1])
        zero = ops.zeros_like(one)
        inside = ops.concatenate([one, real, zero], axis=1)  # start and tokens
        whole = ops.concatenate([one, one, real], axis=1)  # and the end
        start, end = ops.cast(self.start, sequence.dtype), ops.cast(self.end, sequence.dtype)
        padded = ops.concatenate([one * start, sequence * real, zero * end], axis=1)
        return padded + (whole - inside) * end, ops.concatenate([mask[:, :1] | True, mask[:, :1] | True, mask], axis=1)

    def compute_mask(self, *args: Any, **kwargs: Any) -> None:
        return None

    def get_config(self) -> Config:
        return super().get_config()  # without an override Keras leaves the dtype policy out
