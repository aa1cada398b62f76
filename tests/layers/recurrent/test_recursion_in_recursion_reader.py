"""Beam trees over chunks, against the same written out over lists."""

import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError
from tests.layers.recurrent.trees import assert_every_weight_learns, leaves, mean, numpy, randomized, search

SIZE, UNITS, BEAMS, CHUNK = 3, 6, 3, 4
LENGTHS = (30, 1, 4, 5, 17, 2, 6)


def roots(reader, nodes, levels):
    """Returns the beams of the root over nodes, which are k beams each, a score and a vector."""
    size = reader.chunk if levels > 1 else len(nodes)
    found = []
    for start in range(0, len(nodes), size):
        children = nodes[start : start + size]
        ranks = [(sum(score for score, _ in row), [x for _, x in row]) for row in zip(*children, strict=True)]
        beams = search(reader, ranks)
        found.append([*beams, *[beams[0]] * (reader.beams - len(beams))])
    return found[0] if levels == 1 else roots(reader, found, levels - 1)


@pytest.fixture(scope="module", params=[2, 3, 4])
def reader(request):
    config = {"chunk": CHUNK, "levels": request.param, "units": UNITS, "beams": BEAMS, "score_units": 4}
    return randomized(kzoo.layers.RecursionInRecursionReader(**config), SIZE)


def test_chunks_of_chunks(reader):
    x = np.random.default_rng(0).normal(size=(len(LENGTHS), max(LENGTHS), SIZE)).astype("float32")
    mask = np.arange(max(LENGTHS)) < np.array(LENGTHS)[:, None]
    found = numpy(reader(x, mask))
    for row, tokens, length in zip(found, x, LENGTHS, strict=True):
        nodes = [[(0.0, leaf)] for leaf in leaves(reader, tokens[:length].astype("float64"))]
        np.testing.assert_allclose(row, mean(roots(reader, nodes, reader.levels)), atol=1e-4)
    np.testing.assert_allclose(numpy(reader(x[1:, :17], mask[1:, :17])), found[1:], atol=1e-5)  # padding


def test_one_level_is_a_beam_tree():
    config = {"units": UNITS, "beams": BEAMS}
    chunks = randomized(kzoo.layers.RecursionInRecursionReader(chunk=CHUNK, levels=1, **config), SIZE)
    whole = randomized(kzoo.layers.BeamTreeReader(**config), SIZE)
    x, mask = np.random.default_rng(0).normal(size=(2, 9, SIZE)).astype("float32"), np.ones((2, 9), bool)
    np.testing.assert_allclose(numpy(chunks(x, mask)), numpy(whole(x, mask)), atol=1e-6)


def test_every_weight_learns():
    config = {"units": 8, "chunk": 4, "beams": 2, "dropout": 0.2}
    assert_every_weight_learns({"class": "RecursionInRecursionReader", "config": config})


@pytest.mark.parametrize("wrong", [{"chunk": 1}, {"levels": 0}])
def test_wrong_arguments(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        kzoo.layers.RecursionInRecursionReader(**wrong)
