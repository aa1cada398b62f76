"""Counting attention against its formula, written out, and what it is for: counts at any length."""

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError


def numpy(x):
    return ops.convert_to_numpy(x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_one_head_averages_and_two_count(randomize, padded):
    attention = {"class": "MultiHeadAttention", "config": {"weighting": "softmax"}}
    config = {"heads": 3, "counting": 2, "sharpness": 3.0, "attention": attention}
    layer, (states, mask) = randomize(kzoo.layers.CountingAttention(**config)), padded()
    output, weights = (numpy(x) for x in layer(states, mask=mask))
    b, t, d = states.shape
    expected, first = (numpy(x) for x in layer.attention(states, mask=mask))
    assert first.shape == (b, 1, t, t) and layer.attention.size == d // 3
    likes, signs = (
        (states @ numpy(part.kernel)).reshape(b, t, 2, d // 3).transpose(0, 2, 1, 3)
        for part in (layer.match, layer.sign)
    )
    likes = likes / np.linalg.norm(likes, axis=-1, keepdims=True)
    cosines = likes @ likes.transpose(0, 1, 3, 2)
    alike = sigmoid(3 * np.exp(numpy(layer.log_gain)) * (cosines - numpy(layer.threshold))) * mask[:, None, None, :]
    counts = np.tanh(2 * alike @ np.tanh(3 * signs)).transpose(0, 2, 1, 3).reshape(b, t, -1)
    np.testing.assert_allclose(weights, np.concatenate([first, alike], 1), atol=2e-5)
    np.testing.assert_allclose(output, expected + counts @ numpy(layer.total.kernel), atol=2e-4)


@pytest.mark.parametrize("written", [4, 5])
@pytest.mark.parametrize("others", [0, 5_000])
def test_one_copy_more_is_told_at_any_length(written, others):
    layer = kzoo.layers.CountingAttention(heads=2, head_units=2, sharpness=4.0)
    layer.build((None, None, 3))
    states = np.array([[0, 0, 1]] * others + [[1, 1, 0]] * 5 + [[1, -1, 0]] * written, "float32")[None]
    # The first axis says what a token is, as the third does of others; the second, whether it was read or written.
    layer.match.kernel.assign(np.array([[1, 0], [0, 0], [0, 1]], "float32"))
    layer.sign.kernel.assign(np.array([[0, 0], [1, 0], [0, 0]], "float32"))
    layer.total.kernel.assign(np.eye(2, 3, dtype="float32"))
    layer.attention.projection.kernel.assign(np.zeros((2, 3), "float32"))
    output = numpy(layer(states)[0])[0, -1, 0]
    assert abs(output - (np.tanh(2) if written == 4 else 0)) < 0.02


def test_sharpness_is_drawn_while_training(randomize, padded):
    attention, (states, mask) = randomize(kzoo.layers.CountingAttention(heads=2, attention="dot_product")), padded()
    rest = numpy(attention(states, mask=mask)[1])
    first, again = (numpy(attention(states, mask=mask, training=True)[1]) for _ in range(2))
    np.testing.assert_array_equal(first[:, 0], rest[:, 0])  # the head that does not count
    assert np.abs(first[:, 1] - again[:, 1]).max() > 1e-3
    np.testing.assert_array_equal(rest, numpy(attention(states, mask=mask)[1]))


def test_states_are_compared_in_float32():
    layer = kzoo.layers.CountingAttention(heads=2, dtype="mixed_float16")
    states = 300 * np.random.default_rng(0).normal(size=(1, 4, 64)).astype("float16")  # squares are beyond float16
    alike = numpy(layer(states, mask=np.ones((1, 4), bool))[1])[0, -1]
    assert (np.diag(alike) > 0.7).all()


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"heads": 1}, "heads must be"),
        ({"heads": 2, "counting": 2}, "counting must be"),
        ({"sharpness": 0.5}, "sharpness must be"),
        ({"attention": "path"}, "not of PathAttention"),
        ({"attention": "delta"}, "not of DeltaMixer"),
    ],
)
def test_wrong_arguments(config, words):
    with pytest.raises(InputError, match=words):
        kzoo.layers.CountingAttention(**config)
