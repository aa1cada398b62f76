"""The recursive readers written out over lists, in NumPy."""

import math

import keras
import numpy as np
from keras import ops

import kzoo


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


def leaves(reader, tokens):
    return list(norm(reader.norm, affine(reader.leaves, tokens)))


def search(reader, beams):
    """Returns the beams, a score and a vector each, that `BeamTreeReader` finds from beams, a score and a list each."""
    size = reader.score_units
    while len(beams[0][1]) > 1:
        found = []
        for score, vectors in beams:
            seen = [np.concatenate([a[:size], b[:size]]) for a, b in zip(vectors, vectors[1:], strict=False)]
            scores = np.array([gelu(affine(reader.hidden, pair)) @ numpy(reader.score.kernel)[:, 0] for pair in seen])
            known = scores - np.log(np.exp(scores).sum())
            found += [(score + known[i], vectors, i) for i in range(len(scores))]
        found = sorted(found, key=lambda row: -row[0])[: reader.beams]
        beams = [(score, [*v[:i], cell(reader.cell, v[i], v[i + 1]), *v[i + 2 :]]) for score, v, i in found]
    return [(score, vectors[0]) for score, vectors in beams]


def mean(beams):
    weights = np.exp([score for score, _ in beams])
    return weights @ np.stack([vector for _, vector in beams]) / weights.sum()


def randomized(reader, size):
    """Gives a reader of vectors of this size random weights; returns it."""
    reader.build((None, None, size))
    rng = np.random.default_rng(1)
    for variable in reader.trainable_variables:
        inputs = variable.shape[0] if len(variable.shape) > 1 else 1  # steps must not enlarge errors of rounding
        variable.assign((rng.normal(size=variable.shape) * inputs**-0.5).astype("float32"))
    return reader


def assert_every_weight_learns(reader):
    """Asserts that one step of training changes every weight of a classifier with a reader, a config; returns it."""
    keras.utils.set_random_seed(0)
    model = kzoo.models.RecurrentClassifier.from_task("listops", reader=reader, dropout=0.0)
    x, y, _ = model.preprocessor([(x.source, x.target) for x in kzoo.tasks.get("listops").examples("train", 8)])
    model(x)
    before = [numpy(v).copy() for v in model.trainable_variables]
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.train_on_batch(x, y)
    for old, variable in zip(before, model.trainable_variables, strict=True):
        assert np.abs(numpy(variable) - old).max() > 0, variable.path
    return model, x
