"""What the tests of Transformer layers share: padded states, random weights, gradients on each backend."""

import keras
import numpy as np
import pytest
from keras import ops


@pytest.fixture
def padded():
    """A function that gives states (B, T, 12) and their mask (B, T); pads hold large numbers."""

    def make(lengths=(5, 3, 1), width=None, seed=0):
        mask = np.arange(width or max(lengths))[None, :] < np.array(lengths)[:, None]
        rng = np.random.default_rng(seed)
        rows = [rng.normal(size=(length, 12)) for length in lengths]
        states = np.full((*mask.shape, 12), 9.0, "float32")
        states[mask] = np.concatenate(rows)
        return states, mask

    return make


@pytest.fixture
def randomize():
    """A function that builds a layer for states of size 12 and gives every weight, zeros included, a random value."""

    def give(layer, seed=1):
        layer.build((None, None, 12))
        rng = np.random.default_rng(seed)
        for variable in layer.trainable_variables:
            variable.assign(rng.normal(size=variable.shape, scale=0.4).astype("float32"))
        return layer

    return give


@pytest.fixture
def gradients():
    """A function of arrays and of a loss of tensors: the loss's gradients, as NumPy arrays."""

    def compute(loss, *values):
        values = [ops.convert_to_tensor(value) for value in values]
        if keras.config.backend() == "jax":
            import jax

            found = jax.grad(lambda inputs: loss(*inputs))(values)
        elif keras.config.backend() == "tensorflow":
            import tensorflow as tf

            with tf.GradientTape() as tape:
                tape.watch(values)
                total = loss(*values)
            found = tape.gradient(total, values)
        else:
            import torch

            values = [value.clone().detach().requires_grad_() for value in values]
            found = torch.autograd.grad(loss(*values), values)
        return [ops.convert_to_numpy(gradient) for gradient in found]

    return compute


@pytest.fixture
def weight_gradients(gradients):
    """A function of a layer and of a loss without arguments: the gradient by each trainable variable."""

    def compute(layer, loss):
        variables = layer.trainable_variables

        def stateless(*values):
            with keras.StatelessScope(state_mapping=list(zip(variables, values, strict=True))):
                return loss()

        return gradients(stateless, *[ops.convert_to_numpy(variable.value) for variable in variables])

    return compute
