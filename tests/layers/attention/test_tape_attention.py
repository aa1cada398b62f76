"""Tape attention: moves that a person can follow, and a NumPy version from its formulas."""

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError

N = 7  # positions of the memory of `walk`
STAY, FIRST, LAST = 2, 5, 8  # of the moves of a reach of 2


def cell_with(move, gamma=1.0, **config):
    """Returns a cell that makes the move of this index, nearly alone."""
    cell = kzoo.layers.TapeAttention(**config)
    cell.build((None, 2), (None, None, 3))
    for variable in cell.trainable_variables:
        variable.assign(np.zeros(variable.shape, "float32"))
    bias = np.zeros(cell.moves.bias.shape, "float32")
    bias[move] = 8.0
    cell.moves.bias.assign(bias)
    cell.gamma.bias.assign([gamma])
    return cell


def walk(cell, steps, length=N, pads=2, states=None):
    """Returns where the weights are at each step, and the last states."""
    memory = np.zeros((1, length + pads, 3), "float32")
    prepared = cell.prepare(memory, np.arange(length + pads)[None] < length)
    states, found = states or cell.get_initial_state(prepared), []
    for _ in range(steps):
        _, weights, states = cell(ops.zeros((1, 2)), prepared, states)
        weights = ops.convert_to_numpy(weights)[0]
        assert weights.max() > 0.99 and (weights[length:] == 0).all()
        found.append(int(weights.argmax()))
    return found, states


@pytest.mark.parametrize(
    ("move", "expected"),
    [
        (STAY, [0, 0, 0, 0]),
        (STAY + 1, [1, 2, 3, 4]),
        (STAY + 2, [2, 4, 6, 6]),  # what would be beyond an end is at that end
        (STAY - 1, [0, 0, 0, 0]),
        (FIRST, [0, 0, 0, 0]),
        (FIRST + 1, [1, 1, 1, 1]),
        (FIRST + 2, [2, 2, 2, 2]),
        (LAST, [6, 6, 6, 6]),
        (LAST + 2, [4, 4, 4, 4]),
    ],
)
def test_each_move(move, expected):
    assert walk(cell_with(move), 4)[0] == expected


def test_moves_follow_each_other():
    _, states = walk(cell_with(LAST), 1)
    found, states = walk(cell_with(STAY - 2), 2, states=states)
    assert found == [4, 2]
    found, states = walk(cell_with(STAY - 2), 2, states=states)
    assert found == [0, 0] and float(states["center"][0]) < 1e-3
    assert float(walk(cell_with(LAST), 1)[1]["center"][0]) > 1 - 1e-3


def test_the_walk_holds_at_any_length():
    found, _ = walk(cell_with(STAY + 1), 2_000, length=1_500, pads=0)
    assert found == [min(step, 1_499) for step in range(1, 2_001)]


def test_a_memory_shorter_than_the_reach():
    assert walk(cell_with(FIRST + 2), 1, length=2)[0] == [1]
    assert walk(cell_with(LAST + 2), 1, length=1)[0] == [0]


def in_numpy(cell, query, last, length):
    """Returns the next weights of one row without pads."""

    def map_by(layer, x):
        return x @ ops.convert_to_numpy(layer.kernel) + ops.convert_to_numpy(layer.bias)

    features = map_by(cell.location, query)
    scores = map_by(cell.moves, features)
    moves = np.exp(scores) / np.exp(scores).sum()
    gamma = cell.sharpness + np.log1p(np.exp(map_by(cell.gamma, features)[0]))
    moved, reach = np.zeros(length), cell.reach
    for p, k in zip(moves, range(-reach, reach + 1), strict=False):
        for i, weight in enumerate(last):
            moved[min(max(i + k, 0), length - 1)] += p * weight
    for k in range(reach + 1):
        moved[min(k, length - 1)] += moves[2 * reach + 1 + k]
        moved[max(length - 1 - k, 0)] += moves[3 * reach + 2 + k]
    return moved**gamma / (moved**gamma).sum()


@pytest.mark.parametrize(("reach", "sharpness"), [(1, 1.0), (2, 2.0), (4, 1.5)])
def test_the_formulas(reach, sharpness, attend):
    cell = attend.build(kzoo.layers.TapeAttention(reach=reach, sharpness=sharpness))
    memory, mask, summary, queries = attend.inputs()
    _, weights, _ = attend(cell, memory, mask, summary, queries)
    for row, length in enumerate(attend.lengths):
        last = np.eye(length)[0]
        for query, found in zip(queries[:, row], weights[:, row], strict=True):
            last = in_numpy(cell, query, last, length)
            np.testing.assert_allclose(found[:length], last, atol=1e-5)


def test_what_is_refused():
    with pytest.raises(InputError, match="reach must be"):
        kzoo.layers.TapeAttention(reach=0)
    with pytest.raises(InputError, match="sharpness must be"):
        kzoo.layers.TapeAttention(sharpness=0.5)
