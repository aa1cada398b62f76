"""Triangular systems solved by blocks, against NumPy in double precision."""

import keras
import numpy as np
import pytest
from keras import ops

from kzoo.layers.functional.solve_unit_lower import blocks_of, solve_unit_lower, substituted


def system(rng, length, size):
    """Returns what a DeltaMixer solves: twice the overlaps of vectors of length one, below the diagonal."""
    keys = rng.normal(size=(3, 2, length, size))
    keys /= np.linalg.norm(keys, axis=-1, keepdims=True)
    return np.tril(2.0 * keys @ keys.swapaxes(-1, -2), -1), rng.normal(size=(3, 2, length, 5))


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def solved(lower, right):
    found = solve_unit_lower(*(ops.convert_to_tensor(x.astype("float32")) for x in (lower, right)))
    return ops.convert_to_numpy(found), np.linalg.solve(lower + np.eye(lower.shape[-1]), right)


@pytest.mark.parametrize("length", [1, 2, 3, 5, 8, 17, 31, 64, 65, 100])
def test_the_solution_is_that_of_numpy(rng, length):
    found, expected = solved(*system(rng, length, 6))
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def test_two_blocks_at_most():
    sizes = (1, 3, 5, 16, 17, 32, 40, 65, 100, 128, 400)
    found = [[1], [4], [8], [16], [32], [32], [32, 16], [64, 16], [128], [128], [512]]
    assert [blocks_of(size) for size in sizes] == found


def test_substitution_has_the_same_solution(rng):
    lower, right = system(rng, 9, 6)
    found = substituted(*(ops.convert_to_tensor(x.astype("float32")) for x in (lower, right)))
    np.testing.assert_allclose(ops.convert_to_numpy(found), solved(lower, right)[1], atol=1e-5)


def test_alternating_sums_of_large_powers_stay_exact(rng):
    """Of equal keys every power of L is huge; its inverse has ones and twos only."""
    found, expected = solved(*system(rng, 400, 1))
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_an_unknown_length_is_solved_too(rng):
    inputs = [keras.Input((2, None, None)), keras.Input((2, None, 5))]
    model = keras.Model(inputs, keras.layers.Lambda(lambda x: solve_unit_lower(*x), (2, None, 5))(inputs))
    for length in (4, 9):
        lower, right = system(rng, length, 4)
        found = model.predict_on_batch([lower.astype("float32"), right.astype("float32")])
        np.testing.assert_allclose(found, np.linalg.solve(lower + np.eye(length), right), atol=1e-5)
