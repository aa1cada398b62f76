"""Composition to degrees, against the same written out over lists."""

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.layers.recurrent.continuous_recursive_reader import HALT, neighbours
from tests.layers.recurrent.trees import affine, assert_every_weight_learns, cell, gelu, leaves, numpy, randomized

SIZE, UNITS = 3, 5
LENGTHS = (9, 1, 2, 5, 3)


def degrees(exist):
    """Returns L and R for one sequence, from their definition."""
    size = len(exist)
    left, right = np.zeros((2, size, size))
    for i in range(size):
        for j in range(i + 1, size):
            right[i, j] = min(1, sum(exist[i + 1 : j + 1])) - min(1, sum(exist[i + 1 : j]))
        for j in range(i):
            left[i, j] = min(1, sum(exist[j:i])) - min(1, sum(exist[j + 1 : i]))
    return left, right


def read(reader, tokens):
    """Returns the result for one sequence, and the existence of its tokens."""
    count = len(tokens)
    v = np.stack([numpy(reader.ends.start), *leaves(reader, tokens), numpy(reader.ends.end)])
    e, q, free = np.ones(count + 2), np.zeros(count + 2), range(1, count)
    for _ in range(count):
        if not any(e[i] > HALT for i in free):
            break
        left, right = degrees(e)
        window = np.concatenate([left @ left @ v, left @ v, v, right @ v, right @ right @ v, q[:, None]], axis=1)
        scores = affine(reader.score, gelu(affine(reader.hidden, window)))[:, 0]
        weights = np.array([np.exp(scores[i]) if i in free else 0.0 for i in range(count + 2)])
        p = weights / (weights + 1 + left @ weights + right @ weights)
        q, before = left @ p, left @ v
        parents = np.stack([cell(reader.cell, *pair) for pair in zip(before, v, strict=True)])
        v = q[:, None] * parents + (1 - q[:, None]) * v
        e = e * (1 - p)
    return v[count], e[1:-1]


@pytest.fixture(scope="module")
def reader():
    made = randomized(kzoo.layers.ContinuousRecursiveReader(UNITS), SIZE)
    made.score.bias.assign([3.0])  # some halt before the n-th step
    return made


@pytest.fixture(scope="module")
def inputs():
    x = np.random.default_rng(0).normal(size=(len(LENGTHS), max(LENGTHS), SIZE)).astype("float32")
    return x, np.arange(max(LENGTHS)) < np.array(LENGTHS)[:, None]


def test_the_degrees_of_neighbours():
    exist = np.random.default_rng(3).random((4, 7)).astype("float32")
    by_side = zip(*map(degrees, exist), strict=True)
    for found, expected in zip(neighbours(ops.convert_to_tensor(exist)), by_side, strict=True):
        np.testing.assert_allclose(numpy(found), expected, atol=1e-6)


def test_the_composition(reader, inputs):
    x, mask = inputs
    found = numpy(reader(x, mask))
    steps = []
    for row, tokens, length in zip(found, x, LENGTHS, strict=True):
        expected, exist = read(reader, tokens[:length].astype("float64"))
        np.testing.assert_allclose(row, expected, atol=1e-4)
        steps.append(exist[:-1].max(initial=0.0) <= HALT)
    assert any(steps) and not all(steps)
    np.testing.assert_allclose(numpy(reader(x[1:, :5], mask[1:, :5])), found[1:], atol=1e-5)  # padding


def test_what_is_left_is_penalized(reader, inputs):
    x, mask = inputs
    reader(x, mask, training=True)
    left = [read(reader, tokens[:length].astype("float64"))[1] for tokens, length in zip(x, LENGTHS, strict=True)]
    expected = [np.log(exist.sum()) if exist[:-1].max(initial=0.0) > HALT else 0.0 for exist in left]
    np.testing.assert_allclose(numpy(reader.losses[-1]), 0.01 * np.mean(expected), rtol=1e-4)


def test_every_weight_learns():
    config = {"units": 8, "dropout": 0.2}
    assert_every_weight_learns({"class": "ContinuousRecursiveReader", "config": config})
