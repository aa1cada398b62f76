"""An encoder that sees a few tokens to either side."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, Shape, Tensor
from kzoo.layers.functional.check_mask import check_mask
from kzoo.registry import register


@register("layer")
class WindowEncoder(keras.layers.Layer):
    """Encodings of each token and its neighbours, in place of a recurrent encoder.

    A recurrent encoder counts, as how many clauses are still to come, and what it counts is wrong beyond the trained
    lengths. With w the window, and x_i zero beyond the ends:

        e_i     = tanh(W [x_{i-w} ; ... ; x_{i+w}] + b)
        summary = max_i e_i

    Args:
        units: int. Half the size of the encodings, as of `BidirectionalGRU`. 1 to 4096.
        window: int. How many neighbours on either side it sees, 1 to 16. Defaults to 1.

    Call arguments:
        sequence: tensor of shape (B, S, E).
        mask: bool tensor of shape (B, S), True at real tokens; every row has at least one.
        training: bool. Changes nothing.

    Returns:
        The encodings, of shape (B, S, 2 * units), zero at pads; and the summary of shape (B, 2 * units).

    Raises:
        InputError: a size is out of range, or a row of the mask is not padded on the right.

    Example:

    ```python
    encodings, summary = kzoo.layers.WindowEncoder(4)(np.ones((2, 5, 3)), np.ones((2, 5), bool))
    assert encodings.shape == (2, 5, 8) and summary.shape == (2, 8)
    ```
    """

    def __init__(self, units: int, window: int = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = checks.integer("units", units, 1, 4096)
        self.window = checks.integer("window", window, 1, 16)
        width = 2 * window + 1
        self.convolution = keras.layers.Conv1D(
            2 * units, width, padding="same", activation="tanh", dtype=self.dtype_policy
        )

    def build(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> None:
        self.convolution.build(sequence_shape)

    def call(self, sequence: Tensor, mask: Tensor, training: bool = False) -> tuple[Tensor, Tensor]:
        check_mask(mask)
        real = ops.cast(mask, self.compute_dtype)[:, :, None]
        encodings = self.convolution(ops.cast(sequence, self.compute_dtype) * real) * real
        return encodings, ops.max(encodings - 2.0 * (1.0 - real), axis=1)

    def compute_mask(self, *args: Any, **kwargs: Any) -> None:
        return None

    def get_config(self) -> Config:
        return {**super().get_config(), "units": self.units, "window": self.window}
