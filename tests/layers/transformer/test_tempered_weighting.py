"""The tempered softmax against its formula, and how it does not see padding."""

import keras
import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError


def weigh(scores, mask, **config):
    layer = kzoo.layers.TemperedWeighting(**config)
    return ops.convert_to_numpy(layer(np.asarray(scores, "float32"), np.asarray(mask)))


def test_the_formula():
    scores = np.random.default_rng(0).normal(size=(2, 3, 4, 5))
    mask = np.ones((2, 1, 4, 5), bool)
    mask[0, :, 1, 3:] = mask[1, :, :, 1:] = False
    found = weigh(scores, mask, beta=1.7)
    for b, n, i in np.ndindex(2, 3, 4):
        keys = mask[b, 0, i]
        powers = np.where(keys, np.maximum(keys.sum(), 2.0) ** (1.7 * scores[b, n, i]), 0)  # e^(ln(n) z) = n^z
        np.testing.assert_allclose(found[b, n, i], powers / powers.sum(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("columns", [8, 64])
def test_padding_does_not_count(columns):
    scores, mask = np.zeros((1, 1, 1, columns)), np.arange(columns)[None, None, None] < 8
    scores[..., 0] = 1
    np.testing.assert_allclose(weigh(scores, mask, beta=1.0)[0, 0, 0, :8], [8 / 15, *[1 / 15] * 7], rtol=1e-5)


def test_one_good_match_outweighs_any_number_of_others():
    found = [weigh([[[[3.0, *[0.0] * n]]]], np.ones((1, 1, 1, n + 1), bool), beta=1.0)[0, 0, 0, 0] for n in (9, 999)]
    assert min(found) > 0.98  # the plain softmax leaves 2 % to it among 999
    plain = kzoo.layers.SoftmaxWeighting()(np.array([[[[3.0, *[0.0] * 999]]]], "float32"), np.ones(1000, bool))
    assert float(plain[0, 0, 0, 0]) < 0.03


def test_beta_is_one_weight_a_layer():
    attention = kzoo.layers.MultiHeadAttention(heads=3, weighting="tempered")
    attention.build((None, None, 12))
    assert attention.weighting.beta.shape == (1,) and float(attention.weighting.beta[0]) == pytest.approx(1 / 3)


def test_a_sequence_counts_as_longer_while_training():
    layer = kzoo.layers.TemperedWeighting(beta=1.0, stretch=16.0)
    scores = np.broadcast_to(np.array([1.0, 0, 0, 0], "float32"), (200, 2, 3, 4))
    plain, found = (keras.ops.convert_to_numpy(layer(scores, np.ones(4, bool), training=t)) for t in (False, True))
    np.testing.assert_allclose(plain[..., 0], 4 / 7, rtol=1e-5)
    taken = 3 * found[:, 0, 0, 0] / (1 - found[:, 0, 0, 0])  # n of each sequence
    assert 4 <= taken.min() < 6 and 45 < taken.max() <= 64.1
    assert np.median(np.log2(taken)) == pytest.approx(4, abs=0.5)
    assert np.ptp(found.reshape(200, 6, 4), axis=1).max() < 1e-6  # heads and queries of a sequence alike


def test_a_model_hands_training_on_to_it():
    weighting = {"class": "TemperedWeighting", "config": {"stretch": 16.0}}
    attention = kzoo.layers.MultiHeadAttention(weighting=weighting)
    x = np.random.default_rng(0).normal(size=(2, 5, 4)).astype("float32")
    plain, again, training = (keras.ops.convert_to_numpy(attention(x, training=t)[1]) for t in (False, False, True))
    np.testing.assert_array_equal(plain, again)
    assert np.abs(training - plain).max() > 1e-3


def test_what_is_refused():
    with pytest.raises(InputError, match="stretch must be a number from 1"):
        kzoo.layers.TemperedWeighting(stretch=0.5)
    with pytest.raises(InputError, match="beta must be a number"):
        kzoo.layers.TemperedWeighting(beta="1")
    with pytest.raises(InputError, match="shortest must be an integer from 2"):
        kzoo.layers.TemperedWeighting(shortest=1)


def test_a_beta_that_stays():
    attention = kzoo.layers.MultiHeadAttention(weighting={"class": "TemperedWeighting", "config": {"trained": False}})
    attention.build((None, None, 4))
    assert attention.weighting.beta.shape == (1,) and not attention.weighting.trainable_variables
