"""Reading from either end: the share of each, and what bounds it."""

import numpy as np
import pytest
from keras import ops

import kzoo

MEMORY = np.random.default_rng(0).normal(size=(2, 5, 6)).astype("float32")
MASK = np.arange(5) < np.array([[5], [3]])
SUMMARY = np.stack([np.ones(6), -np.ones(6)]).astype("float32")


def direction(bounded, size):
    """Returns alpha of two opposite summaries where the direction's kernel is filled with `size`, and no bias."""
    cell = kzoo.layers.DirectionMix("ContentAttention", bounded=bounded)
    cell.build((None, 6), (None, None, 6))
    cell.direction.set_weights([np.full((6, 1), size, "float32"), np.zeros(1, "float32")])
    return ops.convert_to_numpy(cell.prepare(MEMORY, MASK, SUMMARY)["direction"])


@pytest.mark.parametrize("size", [0.0, 0.02, 0.5])
def test_alpha_is_that_of_the_docstring(size):
    x = 6 * size * np.array([1, -1])
    np.testing.assert_allclose(direction(False, size), 1 / (1 + np.exp(-5 * x)), rtol=1e-4)
    np.testing.assert_allclose(direction(True, size), 1 / (1 + np.exp(-9 * x / (1 + abs(x)))), rtol=1e-4)


def test_only_the_bounded_one_can_still_turn():
    assert direction(False, 10.0)[0] == 1.0
    assert np.all(np.abs(direction(True, 1e6) - [1, 0]) > 1e-4)


@pytest.mark.once
def test_the_bound_is_a_part_of_the_config():
    cell = kzoo.registry.get("attention", "waypoint")
    assert cell.bounded and cell.get_config()["bounded"] is True
    assert kzoo.registry.get("attention", "bi_rope").bounded is False
    with pytest.raises(kzoo.errors.InputError, match="bounded"):
        kzoo.layers.DirectionMix("ContentAttention", bounded="yes")
