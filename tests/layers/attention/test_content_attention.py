"""Content, multiplicative, additive and sinusoidal scores against their formulas in NumPy."""

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError


def softmax(scores, mask):
    exponentials = np.where(mask, np.exp(scores - scores.max(axis=-1, keepdims=True)), 0)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def sinusoid(positions, size):
    angles = np.asarray(positions, float)[..., None] / 10000 ** (np.arange(0, size, 2) / size)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(*np.shape(positions), size)


def content(cell, query, memory, t):
    return np.einsum("bd,bsd->bs", query @ matrix(cell.query), memory @ matrix(cell.key)) / 2  # sqrt(4)


def multiplicative(cell, query, memory, t):
    return np.einsum("bd,bsd->bs", query @ matrix(cell.query) + vector(cell.query), memory)


def additive(cell, query, memory, t):
    projected = query @ matrix(cell.query) + vector(cell.query)
    return (np.tanh(projected[:, None] + memory @ matrix(cell.key)) @ matrix(cell.energy))[:, :, 0]


def sinusoidal(cell, query, memory, t):
    return content(cell, query + sinusoid(t, 8), memory + sinusoid(np.arange(5), 6), t)


def matrix(layer):
    return ops.convert_to_numpy(layer.kernel)


def vector(layer):
    return ops.convert_to_numpy(layer.bias)


@pytest.mark.parametrize(
    "name, formula",
    [
        ("ContentAttention", content),
        ("MultiplicativeAttention", multiplicative),
        ("AdditiveAttention", additive),
        ("SinusoidalAttention", sinusoidal),
    ],
)
def test_formula(name, formula, attend):
    cell = attend.build(getattr(kzoo.layers, name)(units=4))
    memory, mask, summary, queries = attend.inputs()
    _, weights, _ = attend(cell, memory, mask, summary, queries)
    for t, query in enumerate(queries):
        expected = softmax(formula(cell, query, memory, t), mask)
        np.testing.assert_allclose(weights[t], expected, atol=1e-5)


def test_additive_has_the_size_of_the_code():
    cell = kzoo.layers.AdditiveAttention()
    cell.build((None, 8), (None, None, 6))
    assert cell.energy.kernel.shape == (32, 1)


def test_an_odd_size_has_no_sinusoid():
    for query, memory in ((8, 5), (5, 8)):
        with pytest.raises(InputError, match="even, not 5"):
            kzoo.layers.SinusoidalAttention().build((None, query), (None, None, memory))


def test_bad_sizes_are_refused():
    with pytest.raises(InputError, match="units"):
        kzoo.layers.ContentAttention(units=0)
    with pytest.raises(InputError, match="hidden_units"):
        kzoo.layers.AdditiveAttention(hidden_units=2.5)
