"""The loop over time: carries and outputs of any structure, compiled and with gradients."""

import keras
import numpy as np
import pytest
from keras import ops

from kzoo.layers.functional.scan import scan

X = np.random.default_rng(0).normal(size=(5, 2, 3)).astype("float32")


def step(carry, x):
    """Sums and counts; its outputs differ from its carry in structure, shape and dtype."""
    total = carry["total"] + x["a"] * x["b"]
    count = carry["count"] + 1
    return {"total": total, "count": count}, {"mean": ops.mean(total, axis=-1), "even": ops.equal(count % 2, 0)}


def run(x):
    initial = {"total": ops.zeros_like(x[0]), "count": ops.zeros((2,), dtype="int32")}
    return scan(step, initial, {"a": x, "b": 2.0 * x})


def compiled(function):
    """The function as the backend compiles it; PyTorch runs it as it is."""
    backend = keras.config.backend()
    if backend == "jax":
        import jax

        return jax.jit(function)
    if backend == "tensorflow":
        import tensorflow as tf

        return tf.function(function)
    return function


def gradient(function, x):
    """The gradient of a scalar function of one array."""
    backend = keras.config.backend()
    if backend == "jax":
        import jax

        return np.asarray(jax.grad(function)(x))
    if backend == "tensorflow":
        import tensorflow as tf

        x = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = function(x)
        return tape.gradient(value, x).numpy()
    import torch

    x = torch.tensor(x, requires_grad=True)
    function(x).backward()
    return x.grad.numpy()


@pytest.mark.parametrize("wrap", [lambda f: f, compiled], ids=["eager", "compiled"])
@pytest.mark.parametrize("length", [1, 5])
def test_by_hand(wrap, length):
    last, outputs = keras.tree.map_structure(ops.convert_to_numpy, wrap(run)(ops.convert_to_tensor(X[:length])))
    sums = np.cumsum(2 * X[:length] ** 2, axis=0)
    np.testing.assert_allclose(last["total"], sums[-1], rtol=1e-5)
    np.testing.assert_array_equal(last["count"], [length, length])
    np.testing.assert_allclose(outputs["mean"], sums.mean(-1), rtol=1e-5)
    np.testing.assert_array_equal(outputs["even"], np.arange(1, length + 1)[:, None].repeat(2, 1) % 2 == 0)
    assert last["count"].dtype == np.int32 and outputs["even"].dtype == bool


@pytest.mark.parametrize("wrap", [lambda f: f, compiled], ids=["eager", "compiled"])
def test_gradients_flow_through_carry_and_outputs(wrap):
    def loss(x):
        last, outputs = run(x)
        return ops.sum(last["total"]) + ops.sum(outputs["mean"])

    # x_t counts once in the last total and, over three columns, in the means of all steps from t on.
    expected = 4 * X * (1 + np.arange(5, 0, -1)[:, None, None] / 3)
    np.testing.assert_allclose(gradient(wrap(loss), X), expected, rtol=1e-4)


def test_a_carry_alone_may_be_a_tensor():
    last, outputs = scan(lambda carry, x: (carry + x, carry), ops.zeros((2, 3)), ops.convert_to_tensor(X))
    np.testing.assert_allclose(ops.convert_to_numpy(last), X.sum(0), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ops.convert_to_numpy(outputs[1]), X[0], rtol=1e-6)
