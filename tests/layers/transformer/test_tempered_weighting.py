"""The tempered softmax against its formula, and how it does not see padding."""

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


def test_what_is_refused():
    with pytest.raises(InputError, match="beta must be a number"):
        kzoo.layers.TemperedWeighting(beta="1")
    with pytest.raises(InputError, match="shortest must be an integer from 2"):
        kzoo.layers.TemperedWeighting(shortest=1)


def test_a_beta_that_stays():
    attention = kzoo.layers.MultiHeadAttention(weighting={"class": "TemperedWeighting", "config": {"trained": False}})
    attention.build((None, None, 4))
    assert attention.weighting.beta.shape == (1,) and not attention.weighting.trainable_variables
