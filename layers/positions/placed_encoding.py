"""The contract of an encoding that gives places to tokens."""

from typing import Any

import keras
from keras import ops

from kzoo.annotations import Config, DType, Shape, Tensor
from kzoo.errors import lacks
from kzoo.layers.bias.bias_inputs import places_at


class PlacedEncoding(keras.layers.Layer):
    """Base of the encodings that do not count columns, but give every token of a sequence a place.

    A model calls `places` once for a sequence, and then the encoding with them; in decoding for all tokens so far, at
    each step. A subclass implements `places` and `encode`; with `shared` true, the attention of every block counts
    by the same places, where its positions or bias count.

    Call arguments:
        inputs: tensor of shape (B, T, D), embeddings.
        places: int tensor of shape (B, S), from `places`.
        training: bool.
        offset: int tensor of shape (B,), the column of the first input in each row. Defaults to 0.

    Returns:
        Tensor of shape (B, T, D).
    """

    shared = False

    def __init__(self, dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, **kwargs)

    def build(self, inputs_shape: Shape) -> None:
        self.built = True

    def places(
        self, token_ids: Tensor, mask: Tensor | None = None, delimiter: Tensor | None = None, training: bool = False
    ) -> Tensor:
        """Returns the place of each token, int32 of shape (B, S).

        Args:
            token_ids: int tensor of shape (B, S).
            mask: bool tensor of shape (B, S), True at real tokens. None: how long the sequences will be is not known,
                since a model is writing them.
            delimiter: int tensor of shape (B, 1), the column between source and target. None: it is all source.
            training: bool.
        """
        raise lacks(self, "places")

    def encode(self, inputs: Tensor, places: Tensor, training: bool) -> Tensor:
        """Returns the encoded inputs (B, T, D) of places (B, T)."""
        raise lacks(self, "encode")

    def call(self, inputs: Tensor, places: Tensor, training: bool = False, offset: Tensor | None = None) -> Tensor:
        if offset is not None:
            positions = ops.arange(ops.shape(inputs)[1], dtype="int32")[None, :]
            places = places_at(places, positions + ops.cast(offset, "int32")[:, None])
        return self.encode(inputs, places, training)

    def get_config(self) -> Config:
        return super().get_config()  # without an override Keras leaves the dtype policy out


def runs(members: Tensor) -> tuple[Tensor, Tensor]:
    """Returns, of each member in a run of members, how many stand before it in the run, and how many behind it.

    Args:
        members: bool tensor of shape (B, S).

    Returns:
        Two int32 tensors of shape (B, S), 0 where there is no member.
    """
    columns = ops.arange(ops.shape(members)[1], dtype="int32")[None, :]
    number = columns[:, None, -1:] + 1  # a tensor, or PyTorch exports one length
    # The last column before, and the first behind, that is no member: maxima over what has been passed.
    passed = ops.where(members[:, None, :], -1, columns[:, None, :])
    before = ops.max(ops.where(columns[:, None, :] <= columns[:, :, None], passed, -1), axis=-1)
    behind = ops.where(members[:, None, :], number, columns[:, None, :])
    behind = ops.min(ops.where(columns[:, None, :] >= columns[:, :, None], behind, number), axis=-1)
    share = ops.cast(members, "int32")
    return (columns - before - 1) * share, (behind - columns - 1) * share
