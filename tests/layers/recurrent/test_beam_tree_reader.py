"""The trees that a beam search finds, against the search written out over lists."""

import numpy as np
import pytest

import kzoo
from tests.layers.recurrent.trees import (
    assert_every_weight_learns,
    cell,
    leaves,
    mean,
    norm,
    numpy,
    randomized,
    search,
    sigmoid,
)

SIZE, UNITS, BEAMS, SEEN = 3, 6, 3, 4


@pytest.fixture(scope="module")
def reader():
    return randomized(kzoo.layers.BeamTreeReader(UNITS, beams=BEAMS, score_units=SEEN), SIZE)


def test_the_search(reader):
    lengths = np.array([7, 1, 2, 4, 3])
    x = np.random.default_rng(0).normal(size=(5, 7, SIZE)).astype("float32")
    found = numpy(reader(x, np.arange(7) < lengths[:, None]))
    for row, tokens, length in zip(found, x, lengths, strict=True):
        found = search(reader, [(0.0, leaves(reader, tokens[:length].astype("float64")))])
        np.testing.assert_allclose(row, mean(found), atol=1e-4)


def test_a_cell_of_two_vectors(reader):
    left, right = np.random.default_rng(2).normal(size=(2, 4, UNITS)).astype("float32")
    expected = [cell(reader.cell, *rows) for rows in zip(left, right, strict=True)]
    np.testing.assert_allclose(numpy(reader.cell(left, right)), expected, atol=1e-5)
    kept = np.zeros((4, 4 * UNITS), "float32")  # as if the inner layer were zero
    outer = numpy(reader.cell.outer.bias).reshape(4, -1)
    gated = sigmoid(outer[0]) * left + sigmoid(outer[1]) * right + sigmoid(outer[2]) * outer[3]
    np.testing.assert_allclose(numpy(reader.cell(left, right, kept)), norm(reader.cell.norm, gated), atol=1e-5)


def test_training_draws_trees_and_every_weight_learns():
    config = {"class": "BeamTreeReader", "config": {"units": 8, "beams": 2, "dropout": 0.2}}
    model, x = assert_every_weight_learns(config)
    first, second = (numpy(model(x, training=True)) for _ in range(2))
    assert np.abs(first - second).max() > 1e-4
    np.testing.assert_array_equal(numpy(model(x)), numpy(model(x)))
