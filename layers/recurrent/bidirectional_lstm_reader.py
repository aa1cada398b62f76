"""The bidirectional LSTM as a reader of whole sequences."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kzoo.annotations import Shape, Tensor
from kzoo.layers.functional.check_mask import check_mask
from kzoo.layers.functional.last_token import last_token
from kzoo.layers.functional.over_time import over_time
from kzoo.layers.functional.reverse import reverse
from kzoo.layers.recurrent.lstm_reader import LSTMReader, lstm
from kzoo.registry import alias, register

Noise = Sequence[list[Tensor] | None]


@register("reader")
class BidirectionalLSTMReader(LSTMReader):
    """Reads a sequence with one or more layers of LSTM in both directions, and gives the last state of each.

    A baseline of [Csordas et al., 2022](https://arxiv.org/abs/2110.07732): of the last layer, the forward state after
    the last token beside the backward state after the first. Pads touch neither.

    Args:
        units: int. Size of the state of each direction, 1 to 8,192. Defaults to 200.
        layers: int. 1 to 100. Defaults to 1.
        dropout: float. Rate between the layers while training; 0 where there is one. Defaults to 0.
        noise: float. As of `LSTMReader`, on the states of both directions. Defaults to 0.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        sequence: tensor of shape (B, T, E).
        mask: bool tensor of shape (B, T), True at real tokens; every row has at least one.
        training: bool.

    Returns:
        Tensor of shape (B, 2 * units).

    Raises:
        InputError: an argument is out of range or does not apply.

    Example:

    ```python
    reader = kzoo.layers.BidirectionalLSTMReader(6, layers=2)
    assert reader(np.ones((2, 5, 3), "float32"), np.ones((2, 5), bool)).shape == (2, 12)
    ```

    Corrected: with more than one layer the authors' code reads the backward states of two different layers, and no
    forward state. Their numbers on arithmetic and ListOps are for that; this may do better. On table lookup, with one
    layer, it is the same. The paper's tables give the size of both directions as 400 and 1,024; its code has half.
    """

    def one_layer(self) -> Tensor:
        return TwoDirections(self.units, dtype=self.dtype_policy)

    def build(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> None:
        for layer in self.stack:
            layer.build(sequence_shape)
            sequence_shape = (None, None, 2 * self.units)
        self.built = True

    def call(self, sequence: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        check_mask(mask)
        forward, backward = self.directions(sequence, mask, training)
        return ops.concatenate([last_token(forward, mask), backward[:, 0]], axis=-1)

    def states(self, sequence: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        return ops.concatenate(self.directions(sequence, mask, training), axis=-1)

    def directions(self, sequence: Tensor, mask: Tensor, training: bool) -> tuple[Tensor, Tensor]:
        """Returns what the last layer reads forward and backward, of shape (B, T, units) each."""
        first, *others = self.stack
        found = first(sequence, mask, self.of_both(sequence, training))
        for layer in others:
            sequence = self.dropout(ops.concatenate(found, axis=-1), training=training)
            found = layer(sequence, mask, self.of_both(sequence, training))
        return found

    def of_both(self, sequence: Tensor, training: bool) -> list[list[Tensor] | None]:
        """Returns noise for the states of both directions."""
        return [self.drawn(sequence, training) for _ in range(2)]

    def compute_output_shape(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> Shape:
        return (sequence_shape[0], 2 * self.units)


class TwoDirections(keras.layers.Layer):
    """An LSTM over a sequence, and another over its reverse; pads stay at the right of both."""

    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.forward_lstm = lstm(units, dtype=self.dtype_policy)
        self.backward_lstm = lstm(units, dtype=self.dtype_policy)

    def build(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> None:
        self.forward_lstm.build(sequence_shape)
        self.backward_lstm.build(sequence_shape)
        self.built = True

    def call(self, sequence: Tensor, mask: Tensor, noise: Noise = (None, None)) -> tuple[Tensor, Tensor]:
        forward = over_time(self.forward_lstm, sequence, noise[0])
        return forward, reverse(over_time(self.backward_lstm, reverse(sequence, mask), noise[1]), mask)


alias("reader", "bidirectional_lstm", "BidirectionalLSTMReader")
