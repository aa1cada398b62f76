"""The contract of what reads a whole sequence."""

import keras
from keras import ops

from kzoo.annotations import Shape, Tensor
from kzoo.errors import lacks
from kzoo.layers.functional.check_mask import check_mask
from kzoo.layers.functional.last_token import last_token


class Reader(keras.layers.Layer):
    """Base of the readers: networks from the tokens of a sequence to one state of it.

    A subclass has `units`, and implements `states`; a `RecurrentClassifier` answers from the state at the last token, a
    `SequenceTagger` from those at all of them.

    Call arguments:
        sequence: tensor of shape (B, T, E).
        mask: bool tensor of shape (B, T), True at real tokens; every row has at least one.
        training: bool.

    Returns:
        Tensor of shape (B, units).
    """

    units: int
    go_backwards = False  # whether states are in the order from the last token to the first

    def states(self, sequence: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        """Returns the state at each token, of shape (B, T, units); at pads it may be anything."""
        raise lacks(self, "states")

    def of_beginnings(self, sequence: Tensor, mask: Tensor, training: bool) -> Tensor:
        """Returns as the state at each token, (B, T, units), that of the tokens up to it, each read anew: `states` of a
        network that has only one of a whole sequence. It takes T times as long as the last of them.
        """
        length = ops.shape(mask)[1]
        so_far = ops.tril(ops.ones((length, length), dtype="int32"))
        masks = ops.cast(so_far[None] * ops.cast(mask, "int32")[:, None], "bool")
        repeated = ops.repeat(sequence, length, axis=0)
        found = self(repeated, ops.reshape(masks, (-1, length)), training=training)
        return ops.reshape(found, (-1, length, self.units))

    def call(self, sequence: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        check_mask(mask)
        return last_token(self.states(sequence, mask, training), mask)

    def compute_output_shape(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> Shape:
        return (sequence_shape[0], self.units)

    def compute_mask(self, *args: object, **kwargs: object) -> None:
        return None
