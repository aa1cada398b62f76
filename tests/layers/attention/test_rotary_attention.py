"""Rotary attention: scores that depend on distance only."""

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError
from kzoo.layers.functional.sinusoid import angles, rotate


def test_scores_depend_on_distance_only(attend):
    cell = attend.build(kzoo.layers.RotaryAttention(units=4))
    memory, mask, summary, queries = attend.inputs(lengths=(5,))
    memory[:] = memory[:, :1]  # the same vector everywhere
    prepared = cell.prepare(memory, mask, summary)
    scores = [cell.score(queries[0], prepared, {"time": ops.full((1,), t, dtype="float32")}) for t in (0.0, 2.0)]
    first, second = (ops.convert_to_numpy(score)[0] for score in scores)
    np.testing.assert_allclose(second[2:], first[:-2], atol=1e-5)
    assert np.ptp(first) > 0.01


def test_a_rotation_of_known_angles():
    # Size 4: the pairs turn by p and by p / 100.
    turned = rotate(ops.convert_to_tensor([[1.0, 0.0, 0.0, 1.0]]), angles(ops.convert_to_tensor([2.0]), 4))
    expected = [np.cos(2), np.sin(2), -np.sin(0.02), np.cos(0.02)]
    np.testing.assert_allclose(ops.convert_to_numpy(turned)[0], expected, atol=1e-6)


def test_odd_units_are_refused():
    with pytest.raises(InputError, match="units must be even, not 3"):
        kzoo.layers.RotaryAttention(units=3)
    with pytest.raises(InputError, match="even, not 7"):
        kzoo.layers.RotaryAttention().build((None, 7), (None, None, 6))
