"""The Gaussian of location attention, its clamp and its staircase: numbers worked out from the formulas."""

import keras
import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.layers.attention.gaussian_attention import gaussian


def places_of(length, padded=None):
    mask = np.arange(padded or length)[None, :] < length
    places = (np.arange(padded or length)[None, :] / (length - 1)).astype("float32")
    return ops.convert_to_tensor(places), ops.convert_to_tensor(mask)


def tensor(x):
    return ops.convert_to_tensor([x], dtype="float32")


def weigh(center, spread, length, padded=None):
    places, mask = places_of(length, padded)
    return ops.convert_to_numpy(gaussian(places, tensor(center), tensor(spread), mask))[0]


def linear_space(center, spread, length):
    """The form of the paper's Eq. 6 and 9, in double precision."""
    places = np.arange(length) / (length - 1)
    bell = np.exp(-((places - center) ** 2) / (2 * spread**2))
    return bell / bell.sum()


@pytest.mark.parametrize(
    "length, padded, center, raw, weights, position",
    [
        (5, 5, 0.3, 0.0, [0, 0.99839, 0.00161, 0, 0], 0.25040),
        (5, 5, 0.3, 0.5, [0.09719, 0.61485, 0.27888, 0.00907, 0.00002], 0.29997),
        (5, 7, 0.25, 0.0, [0.00002, 0.99996, 0.00002, 0, 0, 0, 0], 0.25),
        (
            12,
            12,
            3 / 11,
            1.0,
            [0.0124, 0.07842, 0.23719, 0.34302, 0.23719, 0.07842, 0.0124, 0.00094, 0.00003, 0, 0, 0],
            0.27308,
        ),
    ],
)
def test_known_weights(length, padded, center, raw, weights, position):
    found = weigh(center, (raw + 0.27) / length, length, padded)
    np.testing.assert_allclose(found, weights, atol=6e-6)
    assert abs((found * np.arange(padded)).sum() / (length - 1) - position) < 6e-6


@pytest.mark.parametrize("center", [-0.2, -0.05, 0.0, 0.21, 0.5, 1.0, 1.05, 1.2])
@pytest.mark.parametrize("spread", [0.27, 1.0, 5.0])
def test_equals_the_linear_space_form_where_that_is_defined(center, spread):
    np.testing.assert_allclose(weigh(center, spread / 9, 9), linear_space(center, spread / 9, 9), atol=1e-6)


@pytest.mark.parametrize("center, nearest", [(5.0, 8), (-3.0, 0), (1e6, 8), (-1e6, 0)])
def test_far_outside_it_looks_at_the_nearest_place_with_finite_gradients(center, nearest, gradients):
    places, mask = places_of(9, 11)
    variables = [keras.Variable([center], dtype="float32"), keras.Variable([0.27 / 9], dtype="float32")]
    factors = ops.convert_to_tensor(np.arange(11, dtype="float32"))

    def weights():
        return gaussian(places, ops.convert_to_tensor(variables[0]), ops.convert_to_tensor(variables[1]), mask)

    found = gradients(variables, lambda: ops.sum(weights() * factors))
    np.testing.assert_allclose(ops.convert_to_numpy(weights())[0], np.eye(11)[nearest], atol=1e-6)
    assert all(np.isfinite(gradient).all() and np.abs(gradient).max() < 1 for gradient in found)


def test_outside_the_gradient_is_that_of_the_formula(gradients):
    places, mask = places_of(9)
    center, spread = keras.Variable([1.1], dtype="float32"), 1.0 / 9

    def last_weight():
        return gaussian(places, ops.convert_to_tensor(center), tensor(spread), mask)[0, -1]

    found = gradients([center], last_weight)[0][0]
    numeric = (linear_space(1.1 + 1e-6, spread, 9)[-1] - linear_space(1.1 - 1e-6, spread, 9)[-1]) / 2e-6
    assert abs(found - numeric) < 1e-4 * abs(numeric)


def test_leaky_clamp():
    x = np.float32([-2, -0.1, 0.5, 1.005, 1.02, 3])
    found = ops.convert_to_numpy(kzoo.layers.leaky_clamp(x))
    np.testing.assert_allclose(found, [-0.02, -0.001, 0.5, 1.005, 1.0102, 1.03], atol=1e-6)


def test_softstair():
    x = np.float32([-0.5, 0, 0.25, 0.5, 0.75, 1.0, 1.6])
    found = ops.convert_to_numpy(kzoo.layers.softstair(x))
    np.testing.assert_allclose(found, [-0.5, 0.00005, 0.00669, 0.5, 0.99331, 1.00005, 1.8808], atol=6e-6)
