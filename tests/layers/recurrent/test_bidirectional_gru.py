"""The encoder against a GRU in NumPy; pads cannot touch it."""

import keras
import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 6, 4)).astype("float32")
LENGTHS = (6, 4, 1)
MASK = np.arange(6) < np.array(LENGTHS)[:, None]


@pytest.fixture(scope="module")
def layer():
    layer = kzoo.layers.BidirectionalGRU(5)
    layer.build((None, None, 4))
    rng = np.random.default_rng(1)
    for variable in layer.weights:
        variable.assign(rng.normal(0, 0.7, variable.shape).astype("float32"))
    return layer


def call(layer, x, mask, training=False):
    return [keras.ops.convert_to_numpy(y) for y in layer(x.astype("float32"), mask, training=training)]


def gru(cell, x):
    """All states of a GRU over one sequence (T, E), reset after the product; gates in the order update, reset, new."""
    kernel, recurrent, bias = (
        keras.ops.convert_to_numpy(v.value).astype("float64") for v in (cell.kernel, cell.recurrent_kernel, cell.bias)
    )
    hidden, states = np.zeros(cell.units), []
    for token in x.astype("float64"):
        a = np.split(token @ kernel + bias[0], 3)
        b = np.split(hidden @ recurrent + bias[1], 3)
        update, reset = (1 / (1 + np.exp(-(a[i] + b[i]))) for i in (0, 1))
        hidden = update * hidden + (1 - update) * np.tanh(a[2] + reset * b[2])
        states.append(hidden)
    return np.stack(states)


def test_each_row_is_a_gru_in_both_directions_over_its_real_tokens(layer):
    encodings, summary = call(layer, X, MASK)
    for i, length in enumerate(LENGTHS):
        forward = gru(layer.forward_gru.cell, X[i, :length])
        backward = gru(layer.backward_gru.cell, X[i, :length][::-1])[::-1]
        np.testing.assert_allclose(encodings[i, :length], np.hstack([forward, backward]), atol=1e-5)
        np.testing.assert_allclose(summary[i], np.hstack([forward[-1], backward[0]]), atol=1e-5)
        assert (encodings[i, length:] == 0).all()


def test_what_stands_at_pads_does_not_matter(layer):
    noise = np.where(MASK[:, :, None], X, 1e3)
    for found, expected in zip(call(layer, noise, MASK), call(layer, X, MASK), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_row_is_the_same_cut_or_padded(layer):
    encodings, summary = call(layer, X, MASK)
    short_encodings, short_summary = call(layer, X[1:2, :4], MASK[1:2, :4])
    np.testing.assert_allclose(short_encodings[0], encodings[1, :4], atol=1e-6)
    np.testing.assert_allclose(short_summary[0], summary[1], atol=1e-6)


def test_first_weights_are_those_of_the_papers_framework():
    layer = kzoo.layers.BidirectionalGRU(16)
    layer.build((None, None, 64))
    for variable in layer.weights:
        values = keras.ops.convert_to_numpy(variable.value)
        assert 0.2 < np.abs(values).max() <= 0.25 and abs(values.mean()) < 0.05


@pytest.mark.parametrize("units", [0, 10**12, 2.0])
def test_bad_units_are_one_sentence(units):
    with pytest.raises(InputError, match="units must be an integer from 1 to 4096"):
        kzoo.layers.BidirectionalGRU(units)


def test_noise_is_added_to_both_directions_while_training(layer):
    noisy = kzoo.layers.BidirectionalGRU(5, noise=0.5)
    noisy.build((None, None, X.shape[-1]))
    noisy.set_weights(layer.get_weights() + noisy.get_weights()[len(layer.get_weights()) :])
    for found, expected in zip(call(noisy, X, MASK), call(layer, X, MASK), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)
    first, again = (call(noisy, X, MASK, training=True)[0] for _ in range(2))
    alone = call(layer, X, MASK)[0]
    for half in np.split(first - alone, 2, axis=-1) + np.split(first - again, 2, axis=-1):
        assert 0.05 < np.abs(half[MASK]).mean() < 1.0
    assert not first[~MASK].any()
    assert kzoo.layers.BidirectionalGRU.from_config(noisy.get_config()).noise == 0.5
