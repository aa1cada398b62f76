"""The contract of what reads a whole sequence."""

import keras

from kzoo.annotations import Shape, Tensor
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

    def states(self, sequence: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        """Returns the state at each token, of shape (B, T, units); at pads it may be anything."""
        raise NotImplementedError

    def call(self, sequence: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        check_mask(mask)
        return last_token(self.states(sequence, mask, training), mask)

    def compute_output_shape(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> Shape:
        return (sequence_shape[0], self.units)

    def compute_mask(self, *args: object, **kwargs: object) -> None:
        return None
