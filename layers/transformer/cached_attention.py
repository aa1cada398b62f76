"""How an attention decodes step by step: with its keys and values kept."""

from typing import Any

import keras
from keras import ops

from kzoo.annotations import Prepared, Tensor
from kzoo.layers.functional.place import place


class CachedAttention(keras.layers.Layer):
    """Base of attention that keeps the keys and values of a sequence while it grows.

    A subclass has `prepare(memory, training)`, whose tensors (B, N, S, K) are kept, and
    `attend(inputs, prepared, mask, query_offset, training, places)`. `start` and `step` are what a block of a decoder
    calls; a mixer, which keeps something else, has the same two.
    """

    prepare: Any
    attend: Any

    def start(
        self,
        inputs: Tensor,
        mask: Tensor,
        real: Tensor | None = None,
        delimiter: Tensor | None = None,
        places: Tensor | None = None,
    ) -> tuple[Tensor, Prepared]:
        """Returns the output for the first positions of a sequence, and what `step` reads of them.

        Args:
            inputs: tensor of shape (B, T, D).
            mask: bool tensor of shape (B, T, T).
            real: bool tensor of shape (B, T), True at real tokens; what is behind them changes nothing here.
            delimiter: int tensor of shape (B, 1).
            places: int tensor of shape (B, T).
        """
        prepared = self.prepare(inputs) | ({} if delimiter is None else {"delimiter": delimiter})
        return self.attend(inputs, prepared, mask, places=places)[0], prepared

    def with_room(self, prepared: Prepared, length: int) -> Prepared:
        """Returns what `start` prepared, with room for so many positions more."""
        padding = [[0, 0], [0, 0], [0, length], [0, 0]]
        return {name: x if name == "delimiter" else ops.pad(x, padding) for name, x in prepared.items()}

    def step(
        self, inputs: Tensor, prepared: Prepared, mask: Tensor, index: Tensor, places: Tensor | None = None
    ) -> tuple[Tensor, Prepared]:
        """Returns the output (B, 1, D) for one more position, and `prepared` with it; see `update_cache`."""
        prepared = self.update_cache(inputs, prepared, index)
        return self.attend(inputs, prepared, mask, index, places=places)[0], prepared

    def update_cache(self, state: Tensor, prepared: Prepared, index: Tensor) -> Prepared:
        """Returns `prepared` with the key and the value of one more position; what is handed in may be changed.

        Args:
            state: tensor of shape (B, 1, E), the state at the position.
            prepared: dict, from `prepare`, long enough for it.
            index: int tensor of shape (B,), the position in each row.
        """
        new = self.prepare(state)
        return prepared | {name: place(x, prepared[name], index) for name, x in new.items()}
