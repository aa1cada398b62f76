"""The second-order network with a stack, against its equations written out; and that it calls and returns."""

import keras
import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError


def numpy(x):
    return ops.convert_to_numpy(x)


def rms_norm(x):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-6)


def softmax(z):
    return np.exp(z) / np.exp(z).sum()


def made(seed=1, **options):
    """Returns a reader of two numbers a token, with random weights."""
    reader = kzoo.layers.PushdownReader(4, **options)
    reader.build((None, None, 2))
    for variable in reader.trainable_variables:
        variable.assign(np.random.default_rng(seed).normal(size=variable.shape).astype("float32"))
    return reader


@pytest.fixture
def no_noise(monkeypatch):
    """Has the noise on actions be 0."""
    half = float(np.exp(-1.0))
    monkeypatch.setattr(keras.random, "uniform", lambda shape, *args, **kwargs: ops.full(shape, half, dtype="float32"))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("centroids", [0, 3])
@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.usefixtures("no_noise")
def test_the_equations(guarded, centroids, training):
    reader = made(factors=6, centroids=centroids, keep=0.3 if centroids else None, cells=3, guarded=guarded)
    x = np.random.default_rng(0).normal(size=(1, 9, 2)).astype("float32")
    maps = {n: numpy(getattr(reader, n).kernel) for n in ("before", "token", "product", "alone", "returned", "actions")}
    h0 = rms_norm(numpy(reader.initial))
    h, stack, there, taken = h0, np.zeros((3, 4)), np.zeros(3), []
    for row in x[0]:
        actions = softmax(row @ maps["actions"] + numpy(reader.actions.bias))
        if not training:
            actions = np.eye(3)[actions.argmax()]
        taken.append(int(actions.argmax()))
        push, pop, none = actions
        start = push * h0 + (1 - push) * h
        itself = 1 - pop * (there[0] if guarded else 1)
        scale = pop * stack[0] @ maps["returned"] + itself * row @ maps["token"]
        z = (start @ maps["before"] * scale) @ maps["product"] + row @ maps["alone"] + numpy(reader.alone.bias)
        above, below = np.vstack([h, stack[:-1]]), np.vstack([stack[1:], np.zeros(4)])
        stack = push * above + pop * below + none * stack
        there = push * np.append(1, there[:-1]) + pop * np.append(there[1:], 0) + none * there
        h = rms_norm(z)
        if centroids:
            table = rms_norm(numpy(reader.table))
            h = 0.3 * h + 0.7 * softmax(float(numpy(reader.sharpness)) / 2 * table @ h) @ table
    assert {0, 1} <= set(taken)  # it did push, and pop
    np.testing.assert_allclose(numpy(reader(x, np.ones((1, 9), bool), training=training))[0], h, atol=1e-5)


def calling(**options):
    """Returns a reader in which the first token pushes, the second pops, and others do nothing to the stack."""
    reader = kzoo.layers.PushdownReader(8, **options)
    reader.build((None, None, 4))
    for variable in reader.trainable_variables:
        variable.assign(np.random.default_rng(2).normal(size=variable.shape).astype("float32"))
    reader.actions.kernel.assign(40 * np.eye(4, 3, dtype="float32"))
    reader.actions.bias.assign(np.array([0, 0, 20], "float32"))
    return reader


def states(reader, tokens, training=False):
    x = np.eye(4, dtype="float32")[[list("()ab").index(token) for token in tokens]][None]
    return numpy(reader.states(ops.convert_to_tensor(x), np.ones((1, len(tokens)), bool), training))[0]


def test_what_is_within_is_read_in_one_way_wherever_it_stands():
    reader = calling()
    alone, within, deeper = (states(reader, tokens) for tokens in ("(abba", "ba(abba", "b(b(a(abba"))
    np.testing.assert_allclose(alone, within[-5:], atol=1e-5)
    np.testing.assert_allclose(alone, deeper[-5:], atol=1e-5)
    assert (
        np.abs(states(reader, "ba(abba)")[-1] - states(reader, "ab(abba)")[-1]).max() > 0.1
    )  # what came before is back


def test_what_was_pushed_last_is_returned_first():
    reader = calling()
    one, other = states(reader, "a(b(a)b)"), states(reader, "b(b(a)b)")
    np.testing.assert_allclose(one[1:7], other[1:7], atol=1e-5)  # the inner return knows nothing of the outer call
    assert np.abs(one[7] - other[7]).max() > 0.1


@pytest.mark.usefixtures("no_noise")
def test_a_stack_does_not_blur():
    depth = 100
    reader = calling(cells=depth)
    deep = states(reader, "a" + "(" * depth + "b" + ")" * depth)
    assert np.abs(deep - states(reader, "b" + "(" * depth + "b" + ")" * depth))[-2].max() < 1e-5
    assert np.isfinite(deep).all()
    soft = calling(cells=depth)
    soft.actions.kernel.assign(np.eye(4, 3, dtype="float32") * 3)  # the same choices, and not sharp
    soft.actions.bias.assign(np.array([0, 0, 1.5], "float32"))
    np.testing.assert_allclose(states(soft, "ab(a(b)a)b"), states(reader, "ab(a(b)a)b"), atol=1e-5)
    assert np.abs(states(soft, "ab(a(b)a)b", training=True) - states(reader, "ab(a(b)a)b"))[-1].max() > 0.1


def test_what_an_empty_stack_returns():
    for guarded in (False, True):
        reader = calling(guarded=guarded)
        one, other = states(reader, "a)"), states(reader, "b)")
        assert np.allclose(one[1], other[1], atol=1e-5) is not guarded  # guarded, the token goes on from the state
        np.testing.assert_allclose(states(reader, "a(b)"), states(calling(), "a(b)"), atol=1e-5)


def test_actions_are_drawn_in_training():
    reader = kzoo.layers.PushdownReader(4)
    reader.build((None, None, 2))
    x = ops.zeros((8, 500, 2))
    shares = numpy(reader.rows(x, training=True)["actions"]).reshape(-1, 3)
    likely = softmax(np.array([0, 0, -1]))  # how often each is the largest, where all tokens are alike
    np.testing.assert_allclose(np.bincount(shares.argmax(axis=1)) / len(shares), likely, atol=0.03)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-5)
    assert (shares > 0).all() and (shares < 1).all()
    assert (numpy(reader.rows(x, training=False)["actions"]) == [1, 0, 0]).all()


def test_what_is_pushed_beyond_the_stack_is_lost():
    few, enough = calling(cells=2), calling(cells=3)
    np.testing.assert_allclose(states(few, "a(b(a)b)a"), states(enough, "a(b(a)b)a"), atol=1e-5)
    assert np.abs(states(few, "a(b(a(b)b)a)")[-1] - states(enough, "a(b(a(b)b)a)")[-1]).max() > 0.1


def test_a_state_stays_over_pads():
    reader, mask = made(), np.arange(5)[None] < 3
    x = ops.convert_to_tensor(np.random.default_rng(0).normal(size=(1, 5, 2)).astype("float32"))
    found = numpy(reader.states(x, mask))[0]
    assert np.abs(found[2] - found[1]).max() > 1e-3 and (found[3:] == found[2]).all()


@pytest.mark.parametrize("cells", [1, 5000, 2.5])
def test_cells_out_of_range(cells):
    with pytest.raises(InputError, match="cells must be an integer from 2 to 4096"):
        kzoo.layers.PushdownReader(4, cells=cells)
