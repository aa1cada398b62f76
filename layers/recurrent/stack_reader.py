"""A recurrent network with a stack, as a reader of whole sequences."""

from typing import Any

from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, States, Tensor
from kzoo.layers.functional.dense import dense, glorot
from kzoo.layers.functional.scan import scan
from kzoo.layers.recurrent.reader import Reader
from kzoo.registry import alias, register

EMPTY = -1.0


@register("reader")
class StackReader(Reader):
    """Reads a sequence with a recurrent network that has stacks to push to and to pop from, and gives its last state.

    Stack-RNN of [Joulin and Mikolov, 2015](https://arxiv.org/abs/1503.01007), Eq. 3-6, with cells that are vectors, as
    [Deletang et al., 2023](https://arxiv.org/abs/2207.02098) have them. With s the stack, its top first:

        h_t = sigmoid(U x_t + R h_(t-1) + P s_(t-1)[0] + b),   a = softmax(A h_t)
        s_t[0] = a_push sigmoid(D h_t) + a_pop s_(t-1)[1] + a_none s_(t-1)[0]
        s_t[i] = a_push s_(t-1)[i-1]   + a_pop s_(t-1)[i+1] + a_none s_(t-1)[i]

    An empty cell is -1. Maps A and D have no biases.

    Args:
        units: int. Size of h, 1 to 8,192. Defaults to 256.
        cells: int or None. Depth of a stack, 2 to 4,096: what is pushed beyond it is lost. Defaults to 30. With None it
            is the length of the sequence, so that nothing is.
        cell_units: int. Size of a cell, 1 to 256. Defaults to 8.
        stacks: int. Number of stacks, each with actions of its own, 1 to 64. Defaults to 1.
        dtype: str or DTypePolicy. As of every Keras layer; it is float32 under any.

    Call arguments:
        sequence: tensor of shape (B, T, E).
        mask: bool tensor of shape (B, T), True at real tokens; every row has at least one.
        training: bool. Changes nothing.

    Returns:
        Tensor of shape (B, units).

    Raises:
        InputError: an argument is out of range.

    Example:

    ```python
    reader = kzoo.layers.StackReader(6, cells=5)
    assert reader(np.ones((2, 5, 3), "float32"), np.ones((2, 5), bool)).shape == (2, 6)
    ```

    Differences: Joulin and Mikolov's cells are numbers, and their network may read several cells of the top. The code
    of Deletang et al. has no sigmoid on what is pushed, empty cells of 0, and another non-linearity.
    """

    def __init__(
        self,
        units: int = 256,
        cells: int | None = 30,
        cell_units: int = 8,
        stacks: int = 1,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(autocast=False, dtype=dtype, **kwargs)
        self.units = checks.integer("units", units, 1, 8192)
        self.cells = None if cells is None else checks.integer("cells", cells, 2, 4096)
        self.cell_units = checks.integer("cell_units", cell_units, 1, 256)
        self.stacks = checks.integer("stacks", stacks, 1, 64)

    def build(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> None:
        units, tops, size = self.units, self.stacks * self.cell_units, sequence_shape[-1]
        maps = {"inputs": (size, units), "recurrent": (units, units), "top": (tops, units)}
        maps |= {"actions": (units, 3 * self.stacks), "pushed": (units, tops)}
        for name, (before, after) in maps.items():
            layer = dense(after, before, glorot(before, after), use_bias=name == "inputs", dtype="float32")
            layer.build((None, before))
            setattr(self, name, layer)
        self.built = True

    def states(self, sequence: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        sequence = ops.cast(sequence, "float32")
        given = self.inputs(sequence)
        blank = ops.zeros_like(given[:, 0])
        column = given[:, :, 0] if self.cells is None else ops.repeat(blank[:, :1], self.cells, axis=1)
        shape = (1, self.stacks, 1, self.cell_units)
        stack = ops.zeros_like(column)[:, None, :, None] + ops.full(shape, EMPTY, dtype="float32")
        _, hidden = scan(self.step, {"hidden": blank, "stack": stack}, ops.swapaxes(given, 0, 1))
        return ops.cast(ops.swapaxes(hidden, 0, 1), self.compute_dtype)

    def step(self, state: States, given: Tensor) -> tuple[States, Tensor]:
        """Reads U x_t + b (B, units); returns the new state, and h_t."""
        stack = state["stack"]
        tops = ops.reshape(stack[:, :, 0], (-1, self.stacks * self.cell_units))
        hidden = ops.sigmoid(given + self.recurrent(state["hidden"]) + self.top(tops))
        actions = ops.softmax(ops.reshape(self.actions(hidden), (-1, self.stacks, 3)), axis=-1)[..., None, None]
        push, pop, none = actions[:, :, 0], actions[:, :, 1], actions[:, :, 2]
        new = ops.reshape(ops.sigmoid(self.pushed(hidden)), (-1, self.stacks, 1, self.cell_units))
        pushed = ops.concatenate([new, stack[:, :, :-1]], axis=2)
        popped = ops.concatenate([stack[:, :, 1:], ops.full_like(stack[:, :, :1], EMPTY)], axis=2)
        return {"hidden": hidden, "stack": push * pushed + pop * popped + none * stack}, hidden

    def get_config(self) -> Config:
        own = {"units": self.units, "cells": self.cells, "cell_units": self.cell_units, "stacks": self.stacks}
        return {**super().get_config(), **own}


alias("reader", "stack", "StackReader")
