"""A second-order recurrent network with a stack, which calls and returns, as a reader of whole sequences."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, Shape, States, Tensor
from kzoo.layers.functional.dense import dense, glorot
from kzoo.layers.functional.scan import Step
from kzoo.layers.recurrent.second_order_reader import SecondOrderReader
from kzoo.registry import alias, register

ACTIONS = 3  # push, pop, none


@register("reader")
class PushdownReader(SecondOrderReader):
    """Reads a sequence with a second-order network that has a stack to call and to return with, and gives its last
    state.

    A mechanism of our own. Tokens decide alone what happens to the stack, as in the pushdown automata of
    [Alur and Madhusudan, 2004](https://doi.org/10.1145/1007352.1007390). A push is a call: the state is kept, and what
    follows is read from the first state h_0 on, as if it stood alone. A pop is a return: the state that was kept acts
    on the present one as a token does, by a product. So what stands in brackets is read in one way wherever it stands,
    and all that is known of the outside is on the stack. With s the stack, its top first, and `SecondOrderReader` for
    the rest:

        push_t, pop_t, none_t = softmax(G x_t + g)
        r_t = push_t h_0 + (1 - push_t) h_(t-1)
        f_t = pop_t C s_(t-1)[0] + (1 - pop_t) B x_t
        z_t = U ((A r_t) * f_t) + V x_t + b,   h_t = drawn(RMSNorm(z_t))
        s_t[0] = push_t h_(t-1)    + pop_t s_(t-1)[1]   + none_t s_(t-1)[0]
        s_t[i] = push_t s_(t-1)[i-1] + pop_t s_(t-1)[i+1] + none_t s_(t-1)[i]

    While training the three are mixed, as in the stack of
    [Joulin and Mikolov, 2015](https://arxiv.org/abs/1503.01007), in shares drawn anew for each token: noise is added to
    G x_t + g, as in [Jang et al., 2017](https://arxiv.org/abs/1611.01144) at temperature 1. A token that leaves its
    action open is done wrong now and then, so training makes up its mind; without noise it comes to rely on a mixture.
    Outside training the largest of the three is taken for 1, and a stack does not blur over a long sequence. Empty
    cells are zeros: a token that pops an empty stack gives the same state whatever was before. With `guarded` it acts
    there as one that does not pop: with n a stack of ones, moved as s is,

        f_t = pop_t C s_(t-1)[0] + (1 - pop_t n_(t-1)[0]) B x_t

    Das, Giles and Sun, 1992 ("Learning context-free grammars: capabilities and limitations of a
    recurrent neural network with an external stack memory"), trained a second-order network with a stack first; it
    pushes tokens, and reads the top at each step.

    Args:
        units: int. Size N of the state, 1 to 8,192. Defaults to 128.
        factors: int. Size of the product, 1 to 8,192. Defaults to `units`.
        centroids: int. Number of centroids, 0 to 65,536. Defaults to `units`.
        keep: float. How much of the state stays as it is, 0 to 1. Defaults to 0.5, or 1 without centroids.
        go_backwards: bool. Whether it reads from the last token to the first; states are in the order of reading.
            Defaults to False.
        noise: float. As of `SecondOrderReader`, on what a step starts from. Defaults to 0.
        cells: int. Depth of the stack, 2 to 4,096: what is pushed beyond it is lost. No weight depends on it. Defaults
            to 128.
        guarded: bool. Whether a token that pops an empty stack acts as itself. Defaults to False.
        dtype: str or DTypePolicy. As of every Keras layer; it is float32 under any.

    Call arguments:
        sequence: tensor of shape (B, T, E).
        mask: bool tensor of shape (B, T), True at real tokens; every row has at least one. At pads the state stays.
        training: bool. Whether actions are mixed, and whether there is noise.

    Returns:
        Tensor of shape (B, units).

    Raises:
        InputError: an argument is out of range or does not apply.

    Example:

    ```python
    reader = kzoo.layers.PushdownReader(6, cells=5)
    assert reader(np.ones((2, 5, 3), "float32"), np.ones((2, 5), bool)).shape == (2, 6)
    ```
    """

    def __init__(
        self,
        units: int = 128,
        factors: int | None = None,
        centroids: int | None = None,
        keep: float | None = None,
        go_backwards: bool = False,
        noise: float = 0.0,
        cells: int = 128,
        guarded: bool = False,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(units, factors, centroids, keep, go_backwards, noise, dtype, **kwargs)
        self.cells = checks.integer("cells", cells, 2, 4096)
        self.guarded = checks.boolean("guarded", guarded)
        self.seeds = self.seeds or keras.random.SeedGenerator()

    def build(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> None:
        super().build(sequence_shape, mask_shape)
        bound = glorot(self.units, self.factors)
        self.returned = dense(self.factors, self.units, bound, use_bias=False, dtype="float32")
        self.returned.build((None, self.units))
        # Where tokens start by leaving the stack alone, training goes on without it; it must unlearn to use it.
        start = keras.initializers.Constant([0.0, 0.0, -1.0])
        self.actions = dense(ACTIONS, sequence_shape[-1], 0.0, bias_initializer=start, dtype="float32")
        self.actions.build((None, sequence_shape[-1]))

    def rows(self, sequence: Tensor, training: bool) -> Prepared:
        """Returns what the tokens alone give, as of `SecondOrderReader`, with `actions` (T, B, 3)."""
        logits = self.actions(sequence)
        if training:
            uniform = keras.random.uniform(ops.shape(logits), 1e-6, 1.0 - 1e-6, dtype="float32", seed=self.seeds)
            actions = ops.softmax(logits - ops.log(-ops.log(uniform)), axis=-1)
        else:
            largest = ops.argmax(logits, axis=-1, keepdims=True)
            actions = ops.cast(largest == ops.arange(ACTIONS, dtype=largest.dtype), "float32")
        return {**super().rows(sequence, training), "actions": actions}

    def recurrence(self, rows: Prepared) -> tuple[Step, Any]:
        drawn, initial = self.drawing(), self.first(rows)

        def step(state: States, row: Prepared) -> tuple[States, Tensor]:
            hidden, stack = state["hidden"], state["stack"]
            push, pop, none = ops.split(row["actions"], ACTIONS, axis=-1)
            start = push * initial + (1.0 - push) * hidden
            filled = stack[:, 0, self.units :] if self.guarded else 1.0
            scale = pop * self.returned(stack[:, 0, : self.units]) + (1.0 - pop * filled) * row["scale"]
            found = self.moved(drawn, start, scale, row, hidden)
            cell = ops.concatenate([hidden, ops.ones_like(hidden[:, :1])], axis=1) if self.guarded else hidden
            pushed = ops.concatenate([cell[:, None], stack[:, :-1]], axis=1)
            popped = ops.concatenate([stack[:, 1:], ops.zeros_like(stack[:, :1])], axis=1)
            stack = push[:, None] * pushed + pop[:, None] * popped + none[:, None] * stack
            return {"hidden": found, "stack": stack}, found

        length = rows["alone"].shape[0]
        # What is deeper than half of a sequence is never popped again; the length is no number where it is traced.
        cells = min(self.cells, length // 2 + 1) if isinstance(length, int) else self.cells
        size = self.units + (1 if self.guarded else 0)  # the last of a cell says that there is one
        stack = ops.zeros_like(initial[:, :1])[:, None] + ops.zeros((1, cells, size))
        return step, {"hidden": initial, "stack": stack}

    def get_config(self) -> Config:
        return {**super().get_config(), "cells": self.cells, "guarded": self.guarded}


alias("reader", "pushdown", "PushdownReader")
