"""The second-order network, against its equations written out; and that its centroids stop errors from adding up."""

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError


def numpy(x):
    return ops.convert_to_numpy(x)


def rms_norm(x):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-6)


@pytest.mark.parametrize("centroids", [0, 3])
def test_the_equations(centroids):
    reader = kzoo.layers.SecondOrderReader(4, factors=6, centroids=centroids, keep=0.3 if centroids else None)
    reader.build((None, None, 2))
    for variable in reader.trainable_variables:
        variable.assign(np.random.default_rng(1).normal(size=variable.shape).astype("float32"))
    x = np.random.default_rng(0).normal(size=(1, 6, 2)).astype("float32")
    maps = {n: numpy(getattr(reader, n).kernel) for n in ("before", "token", "product", "alone")}
    tensor = np.einsum("nf,ef,fm->nem", maps["before"], maps["token"], maps["product"])  # the network of second order
    h = rms_norm(numpy(reader.initial))
    for row in x[0]:
        h = rms_norm(np.einsum("n,e,nem->m", h, row, tensor) + row @ maps["alone"] + numpy(reader.alone.bias))
        if centroids:
            table = rms_norm(numpy(reader.table))
            weights = np.exp(float(numpy(reader.sharpness)) / 2 * table @ h)
            h = 0.3 * h + 0.7 * (weights / weights.sum()) @ table
    np.testing.assert_allclose(numpy(reader(x, np.ones((1, 6), bool)))[0], h, atol=1e-5)


def turning(centroids):
    """Returns a network whose only token turns its state by a little more than a right angle."""
    reader = kzoo.layers.SecondOrderReader(2, centroids=centroids)
    reader.build((None, None, 1))
    angle = np.pi / 2 + 0.02
    turn = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    parts = {"before": np.eye(2), "token": np.ones((1, 2)), "product": turn, "alone": np.zeros((1, 2))}
    for name, kernel in parts.items():
        getattr(reader, name).kernel.assign(np.array(kernel, "float32"))
    reader.alone.bias.assign(np.zeros(2, "float32"))
    reader.initial.assign(np.array([1, 0], "float32"))
    if centroids:
        reader.table.assign(np.array([[1, 0], [0, 1], [-1, 0], [0, -1]], "float32"))
        reader.sharpness.assign(10.0)
    return reader


def test_centroids_stop_errors_from_adding_up():
    sequence, mask = np.ones((1, 400, 1), "float32"), np.ones((1, 400), bool)
    right = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])[np.arange(1, 401) % 4] * 2**0.5
    drawn, free = (numpy(turning(count).states(sequence, mask))[0] for count in (4, 0))
    assert np.abs(drawn - right).max() < 0.1
    assert np.abs(free[:3] - right[:3]).max() < 0.1 and np.abs(free - right).max() > 2


def test_a_share_without_centroids_is_refused():
    with pytest.raises(InputError, match="keep=0.5 does not apply: there are no centroids to draw the state to"):
        kzoo.layers.SecondOrderReader(4, centroids=0, keep=0.5)


@pytest.mark.parametrize("name", ["SecondOrderReader", "PushdownReader"])
def test_it_reads_backwards(name):
    forwards, backwards = (getattr(kzoo.layers, name)(4, go_backwards=flag) for flag in (False, True))
    x = np.random.default_rng(0).normal(size=(2, 5, 3)).astype("float32")
    for reader in (forwards, backwards):
        reader.build((None, None, 3))
        for variable in reader.trainable_variables:
            variable.assign(np.random.default_rng(1).normal(size=variable.shape).astype("float32"))
    mask = np.arange(5)[None] < [[5], [3]]
    turned = np.stack([x[0, ::-1], np.concatenate([x[1, 2::-1], x[1, 3:]])])
    np.testing.assert_allclose(numpy(backwards(x, mask)), numpy(forwards(turned, mask)), atol=1e-5)
    assert np.abs(numpy(backwards(x, mask)) - numpy(forwards(x, mask))).max() > 0.01


def test_a_state_stays_over_pads():
    reader = kzoo.layers.SecondOrderReader(4)
    x, mask = np.random.default_rng(0).normal(size=(1, 5, 3)).astype("float32"), np.arange(5)[None] < 3
    reader.build((None, None, 3))
    states = numpy(reader.states(ops.convert_to_tensor(x), mask))[0]
    assert np.abs(states[2] - states[1]).max() > 1e-3 and (states[3:] == states[2]).all()


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "float16"])
def test_the_recurrence_is_float32_under_any_policy(policy):
    x, mask = np.random.default_rng(0).normal(size=(2, 5, 3)).astype("float32"), np.ones((2, 5), bool)
    whole, half = (kzoo.layers.SecondOrderReader(6, dtype=dtype) for dtype in ("float32", policy))
    for reader in (whole, half):
        reader.build((None, None, 3))
    half.set_weights(whole.get_weights())
    found = numpy(ops.cast(half(x, mask), "float32"))
    np.testing.assert_allclose(found, numpy(whole(x, mask)), atol=0.02)


@pytest.mark.parametrize("cls", [kzoo.layers.SecondOrderReader, kzoo.layers.PushdownReader])
def test_noise_is_added_to_the_state_before_each_step(cls):
    """Against the equations, where all weights are such that h_t = RMSNorm(h_(t-1) + noise)."""
    reader = cls(64, centroids=0, noise=0.3)
    reader.build((None, None, 1))
    kernels = {"before": np.eye(64), "token": np.ones((1, 64)), "product": np.eye(64), "alone": np.zeros((1, 64))}
    for name, kernel in kernels.items():
        getattr(reader, name).kernel.assign(kernel.astype("float32"))
    reader.alone.bias.assign(np.zeros(64, "float32"))
    if cls is kzoo.layers.PushdownReader:  # the stack is left alone
        reader.actions.bias.assign(np.array([-30, -30, 30], "float32"))
    rows = reader.rows(ops.ones((5, 40, 1)), True)
    noise = numpy(rows["noise"])
    assert abs(noise.mean()) < 0.02 and np.allclose(noise.std(axis=(1, 2)), 0.3, atol=0.02)
    assert abs(np.corrcoef(noise[0].ravel(), noise[1].ravel())[0, 1]) < 0.1  # each step has its own
    step, state = reader.recurrence({**rows, "real": ops.ones((5, 40, 1), "bool")})
    h = np.repeat(rms_norm(numpy(reader.initial))[None], 40, axis=0)
    for t in range(5):
        row = {name: value[t] for name, value in rows.items()}
        state, found = step(state, {**row, "real": ops.ones((40, 1), "bool")})
        h = rms_norm(h + noise[t])
        np.testing.assert_allclose(numpy(found), h, atol=1e-4)
    assert "noise" not in reader.rows(ops.ones((5, 40, 1)), False)


def test_noise_that_is_none_is_refused():
    with pytest.raises(InputError, match="noise must be a number from 0"):
        kzoo.layers.SecondOrderReader(4, noise=-0.1)
