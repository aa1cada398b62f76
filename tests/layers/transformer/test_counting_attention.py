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
    config = {"heads": 3, "counting": 2, "sharpness": 3.0, "weighting": "softmax"}
    attention, (states, mask) = randomize(kzoo.layers.CountingAttention(**config)), padded()
    output, weights = (numpy(x) for x in attention(states, mask=mask))
    b, t, d = states.shape
    query, key, value = (
        (states @ numpy(part.kernel)).reshape(b, t, 3, d // 3).transpose(0, 2, 1, 3)
        for part in (attention.query, attention.key, attention.value)
    )
    scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(d // 3)
    first = np.where(mask[:, None, :], np.exp(scores[:, 0]), 0)
    first /= first.sum(-1, keepdims=True)
    matches = sigmoid(3 * (scores[:, 1:] + numpy(attention.offset))) * mask[:, None, None, :]
    read = [first @ value[:, 0], *np.tanh(2 * matches @ np.tanh(3 * value[:, 1:])).transpose(1, 0, 2, 3)]
    np.testing.assert_allclose(weights, np.concatenate([first[:, None], matches], 1), atol=2e-5)
    np.testing.assert_allclose(output, np.concatenate(read, -1) @ numpy(attention.projection.kernel), atol=2e-4)


@pytest.mark.parametrize("written", [4, 5])
@pytest.mark.parametrize("others", [0, 5_000])
def test_one_copy_more_is_told_at_any_length(written, others):
    attention = kzoo.layers.CountingAttention(heads=2, head_units=2, sharpness=4.0)
    attention.build((None, None, 3))
    states = np.array([[0, 0, 1]] * others + [[1, 1, 0]] * 5 + [[1, -1, 0]] * written, "float32")[None]
    match, sign = np.zeros((3, 4), "float32"), np.zeros((3, 4), "float32")
    match[0, 2], sign[1, 2] = 4.0, 1.0  # the first axis matches itself; the second says: to write, or written
    for part, kernel in (("query", match), ("key", match), ("value", sign)):
        getattr(attention, part).kernel.assign(kernel)
    attention.projection.kernel.assign(np.eye(4, 3, k=-2, dtype="float32"))
    output = numpy(attention(states[:, -1:], states)[0])[0, 0, 0]
    assert abs(output - (np.tanh(2) if written == 4 else 0)) < 0.02


def test_sharpness_is_drawn_while_training(randomize, padded):
    attention, (states, mask) = randomize(kzoo.layers.CountingAttention(heads=2)), padded()
    rest = numpy(attention(states, mask=mask)[1])
    first, again = (numpy(attention(states, mask=mask, training=True)[1]) for _ in range(2))
    np.testing.assert_array_equal(first[:, 0], rest[:, 0])  # the head that does not count
    assert np.abs(first[:, 1] - again[:, 1]).max() > 1e-3
    np.testing.assert_array_equal(rest, numpy(attention(states, mask=mask)[1]))


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"heads": 1}, "counting attention needs 2 heads or more, as one does not count"),
        ({"heads": 2, "counting": 2}, "counting must be"),
        ({"sharpness": 0.5}, "sharpness must be"),
    ],
)
def test_wrong_arguments(config, words):
    with pytest.raises(InputError, match=words):
        kzoo.layers.CountingAttention(**config)
