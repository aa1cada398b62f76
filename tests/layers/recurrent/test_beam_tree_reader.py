"""The trees that a beam search finds, against the search written out over lists."""

import math

import keras
import numpy as np
import pytest
from keras import ops

import kzoo

SIZE, UNITS, BEAMS, SEEN = 3, 6, 3, 4


def numpy(x):
    return ops.convert_to_numpy(x)


def affine(layer, x):
    return x @ numpy(layer.kernel) + numpy(layer.bias)


def gelu(x):
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / 2**0.5))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def norm(layer, x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * numpy(layer.gamma) + numpy(
        layer.beta
    )


def cell(layer, left, right):
    outer = affine(layer.outer, gelu(affine(layer.inner, np.concatenate([left, right]))))
    for_left, for_right, for_new, new = outer.reshape(4, -1)
    return norm(layer.norm, sigmoid(for_left) * left + sigmoid(for_right) * right + sigmoid(for_new) * new)


def search(reader, tokens):
    """Returns the result for one sequence."""
    beams = [(0.0, list(norm(reader.norm, affine(reader.leaves, tokens))))]
    while len(beams[0][1]) > 1:
        found = []
        for score, vectors in beams:
            seen = [np.concatenate([a[:SEEN], b[:SEEN]]) for a, b in zip(vectors, vectors[1:], strict=False)]
            scores = np.array([gelu(affine(reader.hidden, pair)) @ numpy(reader.score.kernel)[:, 0] for pair in seen])
            known = scores - np.log(np.exp(scores).sum())
            found += [(score + known[i], vectors, i) for i in range(len(scores))]
        found = sorted(found, key=lambda row: -row[0])[:BEAMS]
        beams = [(score, [*v[:i], cell(reader.cell, v[i], v[i + 1]), *v[i + 2 :]]) for score, v, i in found]
    weights = np.exp([score for score, _ in beams])
    return weights @ np.stack([vectors[0] for _, vectors in beams]) / weights.sum()


@pytest.fixture(scope="module")
def reader():
    made = kzoo.layers.BeamTreeReader(UNITS, beams=BEAMS, score_units=SEEN)
    made.build((None, None, SIZE))
    rng = np.random.default_rng(1)
    for variable in made.trainable_variables:
        variable.assign(rng.normal(size=variable.shape).astype("float32"))
    return made


def test_the_search(reader):
    lengths = np.array([7, 1, 2, 4, 3])
    x = np.random.default_rng(0).normal(size=(5, 7, SIZE)).astype("float32")
    found = numpy(reader(x, np.arange(7) < lengths[:, None]))
    for row, tokens, length in zip(found, x, lengths, strict=True):
        np.testing.assert_allclose(row, search(reader, tokens[:length].astype("float64")), atol=1e-4)


def test_a_cell_of_two_vectors(reader):
    left, right = np.random.default_rng(2).normal(size=(2, 4, UNITS)).astype("float32")
    expected = [cell(reader.cell, *rows) for rows in zip(left, right, strict=True)]
    np.testing.assert_allclose(numpy(reader.cell(left, right)), expected, atol=1e-5)
    kept = np.zeros((4, 4 * UNITS), "float32")  # as if the inner layer were zero
    outer = numpy(reader.cell.outer.bias).reshape(4, -1)
    gated = sigmoid(outer[0]) * left + sigmoid(outer[1]) * right + sigmoid(outer[2]) * outer[3]
    np.testing.assert_allclose(numpy(reader.cell(left, right, kept)), norm(reader.cell.norm, gated), atol=1e-5)


def test_training_draws_trees_and_every_weight_learns():
    keras.utils.set_random_seed(0)
    config = {"class": "BeamTreeReader", "config": {"units": 8, "beams": 2, "dropout": 0.2}}
    model = kzoo.models.RecurrentClassifier.from_task("listops", reader=config, dropout=0.0)
    task = kzoo.tasks.get("listops")
    x, y, _ = model.preprocessor([(x.source, x.target) for x in task.examples("train", 8)])
    first, second = (numpy(model(x, training=True)) for _ in range(2))
    assert np.abs(first - second).max() > 1e-4
    np.testing.assert_array_equal(numpy(model(x)), numpy(model(x)))
    before = [numpy(v).copy() for v in model.trainable_variables]
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.train_on_batch(x, y)
    for old, variable in zip(before, model.trainable_variables, strict=True):
        assert np.abs(numpy(variable) - old).max() > 0, variable.path
