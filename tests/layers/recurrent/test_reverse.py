"""Reversal of the real tokens alone."""

import keras
import numpy as np

from kzoo.layers.functional.reverse import reverse

MASK = np.arange(4) < np.array([[4], [3], [1]])


def numpy_reverse(sequence, mask):
    return keras.ops.convert_to_numpy(reverse(keras.ops.convert_to_tensor(sequence), keras.ops.convert_to_tensor(mask)))


def test_by_hand():
    sequence = np.arange(12.0).reshape(3, 4, 1).astype("float32")
    found = numpy_reverse(sequence, MASK)[:, :, 0].tolist()
    assert found == [[3, 2, 1, 0], [6, 5, 4, 7], [8, 9, 10, 11]]


def test_twice_is_nothing():
    sequence = np.random.default_rng(0).normal(size=(3, 4, 5)).astype("float32")
    found = numpy_reverse(sequence, MASK)
    assert not np.array_equal(found, sequence)
    np.testing.assert_array_equal(numpy_reverse(found, MASK), sequence)
