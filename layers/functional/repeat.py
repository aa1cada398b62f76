"""The loop that runs one block many times."""

from collections.abc import Sequence

import keras
from keras import ops

from kzoo.annotations import Structure, Tensor
from kzoo.layers.functional.scan import Step, scan


def repeat(
    step: Step, initial: Structure, steps: int, seeds: Sequence[keras.Variable] = ()
) -> tuple[Structure, Structure]:
    """Runs `step` so many times, handing a carry on; it is traced and compiled once.

    JAX allows no variable to change within its loop. The seeds of dropout must, else every step drops the same; they
    travel in the carry there.

    Args:
        step: function `(carry, t) -> (carry, y)`, t the number of steps made, an int32 scalar.
        initial: nested tensors, the first carry.
        steps: int, at least 1.
        seeds: the variables that `step` changes: those of its dropout.

    Returns:
        The last carry, and the outputs stacked along a new leading axis of length `steps`.
    """
    times = ops.arange(steps, dtype="int32")
    if keras.config.backend() != "jax" or not seeds:
        return scan(step, initial, times)
    first = [seed.value for seed in seeds]

    def seeded(carry: Structure, t: Tensor) -> tuple[Structure, Structure]:
        state, values = carry
        assign(seeds, values)
        state, output = step(state, t)
        return (state, [seed.value for seed in seeds]), output

    try:
        (state, last), outputs = scan(seeded, (initial, first), times)
    except BaseException:
        assign(seeds, first)  # what was traced means nothing outside
        raise
    assign(seeds, last)
    return state, outputs


def assign(variables: Sequence[keras.Variable], values: Sequence[Tensor]) -> None:
    """Assigns to each variable its value."""
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)
