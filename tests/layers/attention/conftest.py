"""What the tests of attention cells share: memories with pads, one loop over steps, gradients on each backend."""

import keras
import numpy as np
import pytest
from keras import ops


class Attend:
    """Runs a cell over queries; every size differs from every other."""

    lengths, steps, query_units, memory_units = (5, 3, 1), 3, 8, 6

    def inputs(self, lengths=lengths, seed=0):
        """Returns memory (B, S, D), mask (B, S), summary (B, D) and queries (T, B, Q)."""
        rng = np.random.default_rng(seed)
        mask = np.arange(max(lengths))[None, :] < np.array(lengths)[:, None]
        memory = rng.normal(size=(*mask.shape, self.memory_units)).astype("float32") * mask[:, :, None]
        summary = rng.normal(size=(len(lengths), self.memory_units)).astype("float32")
        queries = rng.normal(size=(self.steps, len(lengths), self.query_units)).astype("float32")
        return memory, mask, summary, queries

    def build(self, cell, seed=1):
        """Builds a cell and gives every weight, zeros included, a random value."""
        cell.build((None, self.query_units), (None, None, self.memory_units))
        rng = np.random.default_rng(seed)
        for variable in cell.trainable_variables:
            variable.assign(rng.normal(size=variable.shape, scale=0.4).astype("float32"))
        return cell

    def steps_of(self, cell, *inputs):
        """Returns the contexts (T, B, D), the weights (T, B, S), and the states before and after each step."""
        return self.compiled(cell)(*inputs)

    def compiled(self, cell):
        """Returns `steps_of` for a cell that does not change any more, so that inputs of one shape compile it once."""
        return as_one(lambda *inputs: self.loop(cell, *inputs))

    def loop(self, cell, memory, mask, summary, queries):
        prepared = cell.prepare(memory, mask, summary)
        states = [cell.get_initial_state(prepared)]
        contexts, weights = [], []
        for query in queries:
            context, weight, state = cell(ops.convert_to_tensor(query), prepared, states[-1])
            contexts, weights, states = [*contexts, context], [*weights, weight], [*states, state]
        return ops.stack(contexts), ops.stack(weights), states

    def __call__(self, cell, *inputs):
        """Returns the contexts, the weights and the last states, as NumPy arrays."""
        return self.arrays(self.steps_of(cell, *inputs))

    @staticmethod
    def arrays(found):
        """Returns what `steps_of` found as NumPy arrays, of the states the last."""
        contexts, weights, states = found
        numpy = ops.convert_to_numpy
        return numpy(contexts), numpy(weights), {key: numpy(value) for key, value in states[-1].items()}


def as_one(function):
    """On JAX, returns a function compiled as a whole: operation by operation takes ten times as long."""
    if keras.config.backend() != "jax":
        return function
    import jax

    return jax.jit(function)


@pytest.fixture(autouse=True, scope="module")
def compiler(request):
    """The golden vectors see the compiler as it is; everything else is compiled quickly."""
    if "golden" not in request.module.__name__:
        request.getfixturevalue("quick_compiler")


@pytest.fixture(scope="session")
def attend():
    return Attend()


@pytest.fixture
def gradients():
    """A function of variables and of a loss without arguments: the gradients of the loss, as NumPy arrays."""

    def compute(variables, loss):
        if keras.config.backend() == "jax":
            import jax

            def stateless(values):
                with keras.StatelessScope(state_mapping=list(zip(variables, values, strict=True))):
                    return loss()

            found = as_one(jax.grad(stateless))([variable.value for variable in variables])
        elif keras.config.backend() == "tensorflow":
            import tensorflow as tf

            with tf.GradientTape() as tape:
                value = loss()
            found = tape.gradient(value, [variable.value for variable in variables])
        else:
            import torch

            found = torch.autograd.grad(loss(), [variable.value for variable in variables], allow_unused=True)
        return [None if gradient is None else ops.convert_to_numpy(gradient) for gradient in found]

    return compute
