"""Depth by repetition: one block, run many times."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Spec, Tensor, Trace
from kzoo.layers.functional.check_mask import check_mask
from kzoo.layers.functional.repeat import repeat
from kzoo.registry import alias, get, register, serialize

MAX_STEPS = 10_000


@register("depth")
class SharedDepth(keras.layers.Layer):
    """Runs one block a number of times, each time on its own output.

    As in Universal Transformers ([Dehghani et al., 2019](https://arxiv.org/abs/1807.03819)) and
    [Csordas et al., 2022](https://arxiv.org/abs/2110.07732), section 2 and C.1: the steps share all weights, so their
    number can be raised after training. There is no embedding of the step. The block is compiled once, whatever the
    number of steps.

    Args:
        block: name, config or object of the kind "block".
        steps: int. Steps while training, 1 to 10,000. Defaults to 14.
        inference_steps: int. Steps otherwise. Defaults to the same.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        states: tensor of shape (B, T, D).
        mask: bool tensor of shape (B, T), True at real tokens.
        steps: int. The number of steps of this call.
        training: bool.
        trace: bool. Whether to return the trace of every step. Defaults to False.
        every_step: bool. Whether to return the states after every step. Defaults to False.
        places: int tensor of shape (B, T), see `MultiHeadAttention`.

    Returns:
        The last states, of shape (B, T, D), and the trace: empty, or that of the block at every step, as `weights`
        (steps, B, N, T, T) and `gates` (steps, B, T, D); with `every_step` also `states` (steps, B, T, D).

    Raises:
        InputError: a number of steps is out of range, or the block is unknown.

    Example:

    ```python
    encoder = kzoo.layers.SharedDepth("ndr", steps=3)
    states, trace = encoder(np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool), steps=7, trace=True)
    assert states.shape == (2, 5, 6) and trace["gates"].shape == (7, 2, 5, 6)
    ```
    """

    def __init__(
        self, block: Spec, steps: int = 14, inference_steps: int | None = None, dtype: DType = None, **kwargs: Any
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.block = get("block", block, dtype=self.dtype_policy)
        self.steps = checks.integer("steps", steps, 1, MAX_STEPS)
        self.inference_steps = inference_steps

    @property
    def inference_steps(self) -> int:
        """int. Steps outside training."""
        return self._inference_steps or self.steps

    @inference_steps.setter
    def inference_steps(self, steps: int | None) -> None:
        self._inference_steps = None if steps is None else checks.integer("inference_steps", steps, 1, MAX_STEPS)

    def build(self, states_shape: Shape, mask_shape: Shape | None = None) -> None:
        self.block.build(states_shape)
        self.built = True

    def seeds(self) -> list[keras.Variable]:
        """Returns the variables that the block changes as it runs: the seeds of its dropout."""
        weights = {id(variable) for variable in self.block.weights}
        return [variable for variable in self.block.variables if id(variable) not in weights]

    def call(
        self,
        states: Tensor,
        mask: Tensor,
        steps: int | None = None,
        training: bool = False,
        trace: bool = False,
        every_step: bool = False,
        places: Tensor | None = None,
    ) -> tuple[Tensor, Trace]:
        check_mask(mask)
        placed = {} if places is None else {"places": places}

        def step(states: Tensor, t: Tensor) -> tuple[Tensor, Trace]:
            states, found = self.block(self.before_step(states, training), mask, training=training, **placed)
            return states, kept(found if trace else {}, states, every_step)

        return repeat(step, ops.cast(states, self.compute_dtype), self.number(steps, training), self.seeds())

    def before_step(self, states: Tensor, training: bool) -> Tensor:
        """Returns the states that a step begins with: here those that the step before ended with."""
        return states

    def number(self, steps: int | None, training: bool) -> int:
        """Returns the number of steps of a call."""
        if steps is not None:
            return checks.integer("steps", steps, 1, MAX_STEPS)
        return self.steps if training else self.inference_steps

    def compute_mask(self, *args: Any, **kwargs: Any) -> None:
        return None

    def get_config(self) -> Config:
        own = {"block": serialize(self.block), "steps": self.steps, "inference_steps": self._inference_steps}
        return {**super().get_config(), **own}


def kept(found: Trace, states: Tensor, every_step: bool) -> Trace:
    """Returns what is kept of a step: its trace, and with `every_step` the states after it."""
    return {**found, "states": states} if every_step else found


alias("depth", "shared", "SharedDepth")
