"""The loops for the three backends: one over time, one for as long as a condition holds."""

from collections.abc import Callable, Sequence

import keras
from keras import ops

from kzoo.annotations import Structure, Tensor
from kzoo.layers.functional.traced import exporting, traced_scan, traced_while

Step = Callable[[Structure, Structure], tuple[Structure, Structure]]
STRIDE = 16  # steps of a `while_loop` between two evaluations of its condition, on PyTorch with an accelerator


def scan(step: Step, initial: Structure, inputs: Structure) -> tuple[Structure, Structure]:
    """Runs `step` over the leading axis of `inputs`, handing a carry from one step to the next.

    `keras.ops.scan` loses outputs on TensorFlow whose structure differs from the carry's; this one does not.
    It is differentiable on every backend, compiled where the backend compiles, and a loop in what is exported.

    Args:
        step: function `(carry, x) -> (carry, y)`; the carry keeps its structure, shapes and dtypes.
        initial: nested tensors, the first carry.
        inputs: nested tensors of shape (T, ...), T at least 1.

    Returns:
        The last carry, and the outputs stacked along a new leading axis of length T.
    """
    if keras.config.backend() == "jax":
        import jax

        return jax.lax.scan(step, initial, inputs)
    if keras.config.backend() == "tensorflow":
        return _scan_tensorflow(step, initial, inputs)
    if exporting():
        return traced_scan(step, initial, inputs)
    carry, outputs = initial, []
    for t in range(keras.tree.flatten(inputs)[0].shape[0]):
        carry, output = step(carry, keras.tree.map_structure(lambda x, t=t: x[t], inputs))
        outputs.append(output)
    return carry, keras.tree.map_structure(lambda *ys: ops.stack(ys), *outputs)


def while_loop(
    condition: Callable[..., Tensor], step: Callable[..., Sequence[Structure]], initial: Sequence[Structure]
) -> tuple[Structure, ...]:
    """As `keras.ops.while_loop`, and on PyTorch a loop in what is exported too.

    On PyTorch the host evaluates the condition, and an accelerator is idle meanwhile: there it is evaluated only every
    `STRIDE` steps.

    Args:
        condition: function of the state's parts to a bool scalar.
        step: function of the state's parts to new ones of the same structure, shapes and dtypes. Steps that are made
            once the condition does not hold must change nothing that is used of the last state.
        initial: sequence of nested tensors, the first state.

    Returns:
        The parts of the last state.
    """
    if exporting():
        return traced_while(condition, step, initial)
    if keras.config.backend() != "torch":
        return ops.while_loop(condition, step, initial)
    state = tuple(initial)
    stride = 1 if keras.tree.flatten(state)[0].device.type == "cpu" else STRIDE
    while condition(*state):
        for _ in range(stride):
            state = tuple(step(*state))
    return state


def _scan_tensorflow(step: Step, initial: Structure, inputs: Structure) -> tuple[Structure, Structure]:
    import tensorflow as tf

    # tf.scan needs the structure of the outputs beforehand: one step gives it, and its values are dropped.
    first = step(initial, tf.nest.map_structure(lambda x: x[0], inputs))[1]
    empty = tf.nest.map_structure(tf.zeros_like, first)
    carries, outputs = tf.scan(lambda last, x: step(last[0], x), inputs, initializer=(initial, empty))
    return tf.nest.map_structure(lambda x: x[-1], carries), outputs
