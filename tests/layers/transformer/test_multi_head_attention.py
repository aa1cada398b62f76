"""The three seams of attention against their formulas, written out."""

import keras
import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError, UnknownNameError


def numpy(x):
    return ops.convert_to_numpy(x)


def angle(position, size):
    return position * 10000.0 ** (-np.arange(0, size, 2) / size)


def sinusoid(position, size=12):
    found = np.empty(size)
    found[0::2], found[1::2] = np.sin(angle(position, size)), np.cos(angle(position, size))
    return found


def layer(randomize, **config):
    return randomize(kzoo.layers.MultiHeadAttention(heads=3, **config))


def scores(attention, states):
    """Returns the scores, as they enter the weighting."""
    attention.weighting.call = lambda scores, mask: scores
    return numpy(attention(states)[1])


def projections(attention, states):
    """Returns queries and keys, each (B, T, N, H)."""
    return [
        (states @ numpy(part.kernel)).reshape(*states.shape[:2], 3, -1) for part in (attention.query, attention.key)
    ]


def test_dot_products(randomize, padded):
    attention, (states, _) = layer(randomize), padded()
    queries, keys = projections(attention, states)
    np.testing.assert_allclose(
        scores(attention, states), np.einsum("btnh,bsnh->bnts", queries, keys) / 2, rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("gated", [False, True])
def test_relative_positions(gated, randomize, padded):
    attention, (states, _) = layer(randomize, bias="gated_relative" if gated else "relative"), padded((4, 4))
    queries, keys = projections(attention, states)
    bias = attention.bias
    table = numpy(bias.distance.kernel).reshape(12, 3, 4)
    r = 1 / (1 + np.exp(-(states @ numpy(bias.gate.kernel) + numpy(bias.gate.bias)))) if gated else np.ones((2, 4, 3))
    expected = np.einsum("btnh,bsnh->bnts", queries, keys)
    for b, n, i, j in np.ndindex(2, 3, 4, 4):
        place = r[b, i, n] * sinusoid(j - i) + (1 - r[b, i, n]) * sinusoid(j)
        expected[b, n, i, j] += (queries[b, i, n] + numpy(bias.distance_bias)[n, 0]) @ (place @ table[:, n])
    np.testing.assert_allclose(scores(attention, states), expected / 2, rtol=1e-4, atol=1e-4)


def test_rotary_positions_see_distances_only(randomize):
    attention = layer(randomize, position="rotary")
    found = scores(attention, np.ones((1, 6, 12), "float32") * np.arange(12, dtype="float32") / 12)[0]
    for distance in range(-5, 6):
        diagonals = np.diagonal(found, distance, axis1=1, axis2=2)
        np.testing.assert_allclose(diagonals, diagonals[:, :1].repeat(diagonals.shape[1], axis=1), rtol=1e-4, atol=1e-4)
    assert np.abs(found[:, 0, 0] - found[:, 0, 3]).min() > 1e-3


def test_directions(randomize, padded):
    attention, (states, _) = layer(randomize, bias="direction"), padded((4, 4))
    queries, keys = projections(attention, states)
    bias = attention.bias
    sides = (states @ numpy(bias.direction.kernel) + numpy(bias.direction.bias)).reshape(2, 4, 3, 2)
    expected = np.einsum("btnh,bsnh->bnts", queries, keys) / 2 + numpy(bias.offset)
    for i, j in np.ndindex(4, 4):
        if i != j:
            expected[:, :, i, j] += numpy(bias.scale) * sides[:, i, :, int(j > i)]
    np.testing.assert_allclose(scores(attention, states), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("bias", [None, "relative", "gated_relative", "direction"])
def test_attends_to_a_memory_of_another_length(bias, padded):
    attention = kzoo.layers.MultiHeadAttention(heads=3, bias=bias)
    memory = np.random.default_rng(1).normal(size=(3, 7, 8)).astype("float32")
    mask = np.arange(7) < np.array([7, 2, 1])[:, None]
    output, weights = attention(padded()[0], memory, mask)
    assert output.shape == (3, 5, 12) and weights.shape == (3, 3, 5, 7)
    np.testing.assert_allclose(numpy(weights).sum(axis=-1), 1, atol=1e-5)
    assert (numpy(weights)[1, :, :, 2:] == 0).all()


def test_a_mask_for_each_query(randomize, padded):
    attention, (states, _) = layer(randomize), padded()
    causal = np.tril(np.ones((1, 5, 5), bool))
    assert (numpy(attention(states, mask=causal)[1])[:, :, ~causal[0]] == 0).all()
    first = numpy(attention(states[:, :2], mask=causal[:, :2, :2])[0])
    np.testing.assert_allclose(numpy(attention(states, mask=causal)[0])[:, :2], first, atol=1e-5)


def test_dropout_is_on_the_keys(randomize, padded):
    attention, (states, mask) = layer(randomize, bias="relative", dropout=0.5), padded()
    plain = numpy(attention(states, mask=mask)[1])
    assert np.array_equal(plain, numpy(attention(states, mask=mask)[1]))
    dropped = numpy(attention(states, mask=mask, training=True)[1])
    assert np.abs(dropped - plain).max() > 1e-3
    np.testing.assert_allclose(dropped.sum(axis=-1), 1, atol=1e-5)  # a weight is never dropped


def test_what_is_refused():
    with pytest.raises(InputError, match="cannot be split between 5 heads"):
        kzoo.layers.MultiHeadAttention(heads=5)(np.ones((1, 2, 12)))
    with pytest.raises(UnknownNameError, match="did you mean 'relative'"):
        kzoo.layers.MultiHeadAttention(bias="relativ")
    with pytest.raises(InputError, match="heads must be an integer from 1"):
        kzoo.layers.MultiHeadAttention(heads=0)


def test_initial_values():
    keras.utils.set_random_seed(0)
    attention = kzoo.registry.get("multi_head", {"class": "geometric", "config": {"heads": 4}})
    attention.build((None, None, 64))
    bound = (6 / (64 + 16)) ** 0.5
    for part in (attention.query, attention.key, attention.value, attention.projection):
        assert bound * 0.98 < np.abs(numpy(part.kernel)).max() <= bound
    assert numpy(attention.scale).tolist() == [0.25] and (numpy(attention.content_bias) == 0).all()
    assert [numpy(v).tolist() for v in (attention.bias.scale, attention.bias.offset)] == [[1.0], [0.0]]
