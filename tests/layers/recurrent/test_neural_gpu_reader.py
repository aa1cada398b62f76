"""The Neural GPU, against its equations written out token by token; and what its gates carry."""

import keras
import numpy as np
import pytest
from keras import ops

import kzoo


def numpy(x):
    return ops.convert_to_numpy(x)


def made(units=7, seed=1, **options):
    """Returns a reader of two numbers a token, with random weights."""
    reader = kzoo.layers.NeuralGPUReader(units, **options)
    reader.build((None, None, 2))
    for variable in reader.trainable_variables:
        variable.assign(np.random.default_rng(seed).normal(0, 0.6, variable.shape).astype("float32"))
    return reader


def weights(reader):
    """Returns the kernel and the bias of W, G, R and C; of the last three a kernel for each of the three tokens."""
    units = reader.units
    gates, bias = numpy(reader.gates.kernel), numpy(reader.gates.bias)
    kernels = [gates[:, :units], gates[:, units:], numpy(reader.candidate.kernel)]
    biases = [bias[:units], bias[units:], numpy(reader.candidate.bias)]
    of_three = [(kernel.reshape(3, units, units), bias) for kernel, bias in zip(kernels, biases, strict=True)]
    return (numpy(reader.inputs.kernel), numpy(reader.inputs.bias)), *of_three


def run(reader, x, kept=1.0, noise=0.0):
    """Returns the last states of one sequence, and the saturation cost; noise is added at every step."""
    (w, w0), gate, reset, candidate = weights(reader)
    n, third = len(x), reader.units // 3

    def over_three(states, kernel, bias, i):
        padded = [np.zeros(reader.units), *states, np.zeros(reader.units)]
        return sum(padded[i + k] @ kernel[k] for k in range(3)) + bias

    def excess(z):
        return np.maximum(np.abs(z) - 0.9, 0).sum()

    first = x @ w + w0
    state, cost = np.clip(first, -1, 1), excess(first) / n
    for _ in range(n):
        state = state + noise
        opened = [over_three(state, *reset, i) for i in range(n)]
        there = [np.clip((1 + z) / 2, 0, 1) * s for z, s in zip(opened, state, strict=True)]
        new = []
        for i in range(n):
            g, c = over_three(state, *gate, i), over_three(there, *candidate, i)
            cost += (excess(opened[i]) + excess(g) + excess(c)) / n**2
            g, c = np.clip((1 + g) / 2, 0, 1), np.clip(c, -1, 1) * kept
            moved = state[i].copy()
            moved[:third] = state[i - 1, :third] if i else 0
            moved[third : 2 * third] = state[i + 1, third : 2 * third] if i + 1 < n else 0
            new.append(g * moved + (1 - g) * c)
        state = np.array(new)
    return state, cost


def test_the_equations():
    reader = made()
    x = np.random.default_rng(0).normal(size=(2, 6, 2)).astype("float32")
    mask = np.arange(6) < [[6], [4]]
    found = numpy(reader.states(x, mask))
    np.testing.assert_allclose(found[0], run(reader, x[0])[0], atol=1e-5)
    np.testing.assert_allclose(found[1, :4], run(reader, x[1, :4])[0], atol=1e-5)
    assert not found[1, 4:].any()
    np.testing.assert_array_equal(numpy(reader(x, mask)), found[[0, 1], [5, 3]])


def test_the_saturation_cost():
    reader = made(penalty=0.5)
    x = np.random.default_rng(0).normal(size=(2, 6, 2)).astype("float32")
    mask = np.arange(6) < [[6], [4]]
    reader(x, mask)
    assert not reader.losses
    reader(x, mask, training=True)
    expected = (run(reader, x[0])[1] + run(reader, x[1, :4])[1]) / 2
    assert float(numpy(reader.losses[0])) == pytest.approx(0.5 * expected, rel=1e-4)


def test_dropout_leaves_out_the_same_units_everywhere(monkeypatch):
    reader = made(dropout=0.25, penalty=0.0)
    drawn = np.linspace(0, 1, 7, endpoint=False).reshape(1, 1, 7).astype("float32")

    def dropout(inputs, rate, seed):
        return inputs * np.where(drawn < rate, 0, 1 / (1 - rate)).astype("float32")

    monkeypatch.setattr(keras.random, "dropout", dropout)
    x, mask = np.random.default_rng(0).normal(size=(1, 5, 2)).astype("float32"), np.ones((1, 5), bool)
    found = numpy(reader.states(x, mask, training=True))[0]
    np.testing.assert_allclose(found, run(reader, x[0], np.where(drawn < 0.25, 0, 4 / 3)[0, 0])[0], atol=1e-5)
    np.testing.assert_allclose(numpy(reader.states(x, mask))[0], run(reader, x[0])[0], atol=1e-5)


def test_noise_is_added_before_each_step(monkeypatch):
    reader = made(noise=0.5, penalty=0.0)
    monkeypatch.setattr(keras.random, "normal", lambda shape, stddev, **kwargs: stddev * ops.ones(shape))
    x = np.random.default_rng(0).normal(size=(2, 5, 2)).astype("float32")
    mask = np.arange(5) < [[5], [3]]
    found = numpy(reader.states(x, mask, training=True))
    np.testing.assert_allclose(found[0], run(reader, x[0], noise=0.5)[0], atol=1e-5)
    np.testing.assert_allclose(found[1, :3], run(reader, x[1, :3], noise=0.5)[0], atol=1e-5)
    assert not found[1, 3:].any()
    np.testing.assert_allclose(numpy(reader.states(x, mask))[0], run(reader, x[0])[0], atol=1e-5)


def test_the_noise_has_its_size():
    reader = made(noise=0.5)
    drawn = numpy(reader.drawn(ops.zeros((4, 20, 7))))
    assert drawn.shape == (20, 4, 20, 7)
    assert abs(drawn.mean()) < 0.02 and drawn.std() == pytest.approx(0.5, rel=0.03)


def test_what_the_gates_keep_moves_or_stays():
    reader = made(3)
    for variable in reader.trainable_variables:
        variable.assign(np.zeros(variable.shape, "float32"))
    reader.inputs.kernel.assign(np.ones((2, 3), "float32"))
    reader.gates.bias.assign(np.ones(6, "float32"))  # all open
    x = np.zeros((1, 5, 2), "float32")
    x[0, 2] = 0.25
    state, real = reader.inputs(x), np.ones((1, 5, 1), "float32")
    for place in ((2, 2, 2), (3, 1, 2), (4, 0, 2)):
        np.testing.assert_allclose(numpy(state)[0], 0.5 * np.eye(5)[:, place], atol=1e-6)
        state, _ = reader.step(state, ops.convert_to_tensor(real))
    np.testing.assert_allclose(numpy(state)[0], [[0, 0, 0]] * 2 + [[0, 0, 0.5]] + [[0, 0, 0]] * 2, atol=1e-6)


@pytest.mark.once
def test_it_learns_to_reverse(tmp_path):
    keras.utils.set_random_seed(0)
    task = kzoo.tasks.get("reverse_string")
    model = kzoo.models.SequenceTagger.from_task(task, reader="neural_gpu", units=24)
    model.compile(optimizer=keras.optimizers.Adamax(0.02, beta_2=0.99, global_clipnorm=1.0))
    pairs = [pair for k in range(50) for pair in task.examples("train", 32, seed=k, length=3 + k % 3)]
    model.fit(pairs, batch_size=32, epochs=4, verbose=0)
    assert kzoo.evaluate(model, task, lengths=[5], examples=100)[5] > 0.9
    model.save_to_preset(tmp_path / "tiny")
    assert kzoo.from_preset(tmp_path / "tiny").generate(["1101", "1"]) == model.generate(["1101", "1"])


def test_docstring_examples(run_examples):
    run_examples(kzoo.layers.NeuralGPUReader)
