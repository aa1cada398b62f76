"""Relative attention against a table of distances, with biases, which the golden vectors have at zero."""

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError


def sinusoid(distances, size):
    angles = np.asarray(distances, float)[..., None] / 10000 ** (np.arange(0, size, 2) / size)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(*np.shape(distances), size)


def expected_scores(cell, query, memory, t):
    weights = {name: ops.convert_to_numpy(getattr(cell, name)) for name in ("content_bias", "distance_bias")}
    maps = {name: ops.convert_to_numpy(getattr(cell, name).kernel) for name in ("query", "key", "distance")}
    q, keys = query @ maps["query"], memory @ maps["key"]
    distances = sinusoid(np.arange(memory.shape[1]) - t, memory.shape[2]) @ maps["distance"]
    content = np.einsum("bd,bsd->bs", q + weights["content_bias"], keys)
    return (content + (q + weights["distance_bias"]) @ distances.T) / np.sqrt(q.shape[-1])


@pytest.mark.parametrize("t", [0, 1, 7, 1000])
def test_scores_are_those_of_the_table(t, attend):
    cell = attend.build(kzoo.layers.RelativeAttention(units=4))
    memory, mask, summary, queries = attend.inputs()
    prepared = cell.prepare(memory, mask, summary)
    states = {"time": ops.full((3,), float(t), dtype="float32")}
    scores = ops.convert_to_numpy(cell.score(queries[0], prepared, states))
    np.testing.assert_allclose(scores, expected_scores(cell, queries[0], memory, t), atol=1e-5 if t < 100 else 2e-4)


def test_biases_start_at_zero():
    cell = kzoo.layers.RelativeAttention()
    cell.build((None, 8), (None, None, 6))
    for bias in (cell.content_bias, cell.distance_bias):
        assert bias.shape == (8,) and not ops.convert_to_numpy(bias.value).any()


def test_no_table_is_a_weight():
    cell = kzoo.layers.RelativeAttention()
    cell.build((None, 8), (None, None, 6))
    assert max(variable.shape[0] for variable in cell.variables) == 8


def test_an_odd_memory_has_no_sinusoid():
    with pytest.raises(InputError, match="the size of the memory must be even, not 5"):
        kzoo.layers.RelativeAttention().build((None, 8), (None, None, 5))
