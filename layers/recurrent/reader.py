"""The contract of what reads a whole sequence."""

import keras
from keras import ops

from kzoo.annotations import Shape, Tensor
from kzoo.errors import InputError, lacks
from kzoo.layers.functional.check_mask import check_mask
from kzoo.layers.functional.last_token import last_token


class Reader(keras.layers.Layer):
    """Base of the readers: networks from the tokens of a sequence to one state of it.

    A subclass takes `units`, which a model may set, keeps it, and implements `states`; a `RecurrentClassifier` answers
    from the state at the last token, a `SequenceTagger` from those at all of them. Arguments of its constructor must be
    in `get_config`, which is written by Keras where there is none. `build(sequence_shape)` makes its variables; without
    one, the layers that the constructor made are built by reading a sequence of ones.

    Call arguments:
        sequence: tensor of shape (B, T, E).
        mask: bool tensor of shape (B, T), True at real tokens; every row has at least one.
        training: bool.

    Returns:
        Tensor of shape (B, units).

    Raises:
        InputError: the states have another shape.

    Example:

    ```python
    import keras

    @kzoo.register("reader")
    class SumReader(kzoo.layers.Reader):  # maps the sum of what is read so far
        def __init__(self, units=16, **kwargs):
            super().__init__(**kwargs)
            self.units, self.map = units, keras.layers.Dense(units, "tanh")

        def states(self, sequence, mask, training=False):
            return self.map(keras.ops.cumsum(sequence, axis=1) / 10)

    model = kzoo.models.RecurrentClassifier.from_task("parity_check", reader="SumReader", units=8, embedding_units=4)
    assert model.generate("0 1 1") in ("0", "1")
    ```
    """

    units: int
    go_backwards = False  # whether states are in the order from the last token to the first

    def build(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> None:
        sequence = ops.ones((1, 2, sequence_shape[-1]), dtype=self.compute_dtype)
        found = self.states(sequence, ops.ones((1, 2), dtype="bool")).shape
        if tuple(found) != (1, 2, self.units):
            own = f"{type(self).__name__}.states of two tokens has the shape {tuple(found)}"
            raise InputError(f"{own}, and must have (1, 2, {self.units}): batch, tokens, units")
        self.built = True

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
