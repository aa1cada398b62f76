"""Geometric attention against the paper's formula, written out."""

import numpy as np
import pytest
from keras import ops

import kzoo


def brute_force(scores, mask, stretch=0.0):
    """Eq. 6-8 for one row of tokens: the product over every key that is closer, the right one first."""
    length = len(mask)
    matches = np.clip((1 + 2 * stretch) / (1 + np.exp(-scores.astype("float64"))) - stretch, 0, 1)
    weights = np.zeros((length, length))
    for i in range(length):
        order = sorted((j for j in range(length) if j != i and mask[j]), key=lambda j: (abs(i - j), j < i))
        left = 1.0
        for j in order:
            weights[i, j] = matches[i, j] * left
            left *= 1 - (min(matches[i, j], 1 - 1e-5) if stretch else matches[i, j])
    return weights


def weigh(scores, mask, **config):
    return ops.convert_to_numpy(kzoo.layers.GeometricWeighting(**config)(scores, mask))


def test_worked_example():
    scores = np.array([[9, 1, -1, 2], [0.5, 9, 0, -2], [1, -0.5, 9, 0.5], [-1, 2, 0.25, 9]], "float32")
    expected = [
        [0, 0.731059, 0.072329, 0.173175],
        [0.311230, 0, 0.5, 0.022502],
        [0.171801, 0.142537, 0, 0.622459],
        [0.014036, 0.385634, 0.562177, 0],
    ]
    np.testing.assert_allclose(weigh(scores[None, None], np.ones(4, bool))[0, 0], expected, atol=1e-6)


@pytest.mark.parametrize("lengths", [(7, 4, 2), (2, 1, 2), (1, 1, 1), (40, 31, 5)])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("stretch", [0.0, 0.1])
def test_equals_the_product(lengths, normalize, stretch):
    mask = np.arange(max(lengths)) < np.array(lengths)[:, None]
    scores = 2 * np.random.default_rng(0).normal(size=(3, 2, max(lengths), max(lengths))).astype("float32")
    found = weigh(scores, mask[:, None, None], normalize=normalize, stretch=stretch)
    for b in range(3):
        for n in range(2):
            expected = brute_force(scores[b, n], mask[b], stretch)
            if normalize:
                expected /= np.maximum(expected.sum(axis=-1, keepdims=True), 1e-30)
            np.testing.assert_allclose(found[b, n], expected, atol=1e-5)
    assert (found[:, :, np.eye(max(lengths), dtype=bool)] == 0).all()
    assert (np.moveaxis(found, 3, 1)[~mask] == 0).all()


def test_masks_may_differ_from_query_to_query():
    mask = np.tril(np.ones((5, 5), bool))
    scores = np.random.default_rng(1).normal(size=(1, 1, 5, 5)).astype("float32")
    found = weigh(scores, mask)[0, 0]
    for i in range(5):
        np.testing.assert_allclose(found[i], brute_force(scores[0, 0], mask[i])[i], atol=1e-6)


@pytest.mark.parametrize("normalize", [False, True])
def test_gradients_are_finite_and_right(normalize, gradients):
    mask = np.arange(6) < np.array([6, 3])[:, None]
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(2, 1, 6, 6)).astype("float32")
    scores[0, 0, 0, 1:] = (100, -100, 0, 100, -100)
    factors = rng.normal(size=scores.shape).astype("float32")
    layer = kzoo.layers.GeometricWeighting(normalize)

    def loss(z):
        return ops.sum(layer(z, mask[:, None, None]) * ops.convert_to_tensor(factors))

    (found,) = gradients(loss, scores)
    assert np.isfinite(found).all()
    for b, i, j in ((0, 2, 0), (0, 3, 4), (1, 0, 2), (1, 1, 4), (0, 5, 5)):
        step = np.zeros_like(scores)
        step[b, 0, i, j] = 1e-2
        up, down = (float(ops.convert_to_numpy(loss(scores + sign * step))) for sign in (1, -1))
        numeric = (up - down) / 2e-2
        np.testing.assert_allclose(found[b, 0, i, j], numeric, atol=2e-4)


def test_long_rows_neither_underflow_nor_overflow(gradients):
    scores = np.full((1, 1, 400, 400), 12.0, "float32")
    mask = np.ones(400, bool)
    found = weigh(scores, mask)[0, 0]
    assert np.isfinite(found).all() and (found.sum(axis=-1) <= 1 + 1e-5).all()
    assert (np.diag(found, 1) > 0.99).all()  # the right neighbour takes it
    assert found[-1, -2] > 0.99
    assert np.isfinite(gradients(lambda z: ops.sum(kzoo.layers.GeometricWeighting()(z, mask) ** 2), scores)[0]).all()


@pytest.mark.parametrize("normalize", [False, True])
def test_what_is_closed_may_score_anything(normalize, gradients):
    scores = np.zeros((1, 1, 3, 3), "float32")
    scores[..., 2] = scores[0, 0, 0, 0] = 1e3  # padding, and a query with itself
    mask = np.array([True, True, False])
    near, far = (2 / 3, 1 / 3) if normalize else (1 / 2, 1 / 4)
    share = near + far if normalize else near
    found = weigh(scores, mask, normalize=normalize)[0, 0]
    np.testing.assert_allclose(found, [[0, share, 0], [share, 0, 0], [far, near, 0]], atol=1e-6)
    layer = kzoo.layers.GeometricWeighting(normalize)
    assert np.isfinite(gradients(lambda z: ops.sum(layer(z, mask) ** 2), scores)[0]).all()


def test_stretched_what_is_no_match_takes_nothing_however_many_there_are():
    scores = np.full((1, 1, 200, 200), -4.0, "float32")
    scores[..., -1] = 6.0  # one match, far from the first query
    assert weigh(scores, np.ones(200, bool))[0, 0, 0, -1] < 0.03
    found = weigh(scores, np.ones(200, bool), stretch=0.05)[0, 0, 0]
    assert found[-1] == 1 and (found[:-1] == 0).all()


def test_stretched_what_is_cut_has_a_gradient(gradients):
    layer, mask = kzoo.layers.GeometricWeighting(stretch=0.1), np.ones(3, bool)
    for score in (-6.0, 6.0):
        scores = np.full((1, 1, 3, 3), score, "float32")
        (found,) = gradients(lambda z: ops.sum(layer(z, mask)[..., 0, 1]), scores)
        slope = 1.2 * np.exp(-6.0) / (1 + np.exp(-6.0)) ** 2
        np.testing.assert_allclose(found[0, 0, 0, 1], slope, rtol=1e-3)
    scores = np.full((1, 1, 40, 40), 30.0, "float32")
    assert np.isfinite(gradients(lambda z: ops.sum(layer(z, np.ones(40, bool)) ** 2), scores)[0]).all()
