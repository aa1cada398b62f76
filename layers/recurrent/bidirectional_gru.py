"""The bidirectional GRU encoder."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, Shape, Tensor
from kzoo.layers.functional.check_mask import check_mask
from kzoo.layers.functional.dense import recurrent_initializers
from kzoo.layers.functional.last_token import last_token
from kzoo.layers.functional.over_time import over_time, state_noise
from kzoo.layers.functional.reverse import reverse
from kzoo.registry import register


@register("layer")
class BidirectionalGRU(keras.layers.Layer):
    """A one-layer bidirectional GRU that pads cannot touch.

    The backward direction runs forward over the reversed real tokens, so no mask enters the recurrence and every
    backend keeps its fast GRU (a mask turns it off on JAX and PyTorch).

    Args:
        units: int. Size of each direction; the output has twice as many. 1 to 4096.
        noise: float. Standard deviation of noise on the state of either direction before each step while training, 0
            to 10, as of `LSTMReader`. No paper of the zoo has it. Defaults to 0.

    Call arguments:
        sequence: tensor of shape (B, S, E).
        mask: bool tensor of shape (B, S), True at real tokens; every row has at least one.
        training: bool. Whether there is noise.

    Returns:
        The encodings, of shape (B, S, 2 * units), zero at pads; and the summary of shape (B, 2 * units): the forward
        state after the last token beside the backward state after the first.

    Example:

    ```python
    encodings, summary = kzoo.layers.BidirectionalGRU(4)(np.ones((2, 5, 3)), np.ones((2, 5), bool))
    assert encodings.shape == (2, 5, 8) and summary.shape == (2, 8)
    ```

    Weights start uniform in +-1/sqrt(units), biases too, as the papers' framework does; two bias vectors a gate.
    """

    def __init__(self, units: int, noise: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = checks.integer("units", units, 1, 4096)
        self.noise = checks.number("noise", noise, 0.0, 10.0)
        self.seeds = keras.random.SeedGenerator() if noise else None
        self.forward_gru = gru(units, dtype=self.dtype_policy)
        self.backward_gru = gru(units, dtype=self.dtype_policy)

    def build(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> None:
        self.forward_gru.build(sequence_shape)
        self.backward_gru.build(sequence_shape)

    def call(self, sequence: Tensor, mask: Tensor, training: bool = False) -> tuple[Tensor, Tensor]:
        check_mask(mask)
        seeds = self.seeds if training else None
        first, second = (state_noise(sequence, self.units, self.noise, seeds) for _ in range(2))
        forward = over_time(self.forward_gru, sequence, first)
        backward = over_time(self.backward_gru, reverse(sequence, mask), second)
        summary = last_token(ops.concatenate([forward, backward], axis=-1), mask)
        encodings = ops.concatenate([forward, reverse(backward, mask)], axis=-1)
        return encodings * ops.cast(mask, forward.dtype)[:, :, None], summary

    def compute_mask(self, *args: Any, **kwargs: Any) -> None:
        return None

    def get_config(self) -> Config:
        return {**super().get_config(), "units": self.units, "noise": self.noise}


def gru(units: int, **kwargs: Any) -> keras.layers.GRU:
    """Returns a GRU over sequences with the papers' initial weights."""
    return keras.layers.GRU(units, return_sequences=True, **recurrent_initializers(units), **kwargs)
