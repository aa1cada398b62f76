"""Seek attention: moves that a person can follow, and a NumPy version from its formulas."""

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError

N = 7  # positions of the memory of `walk`
OF_A_KIND = (2, 3, 6)  # the positions of the one kind
STAY, NEXT, STEP, BEFORE, BACK = range(5)  # moves of one kind


def cell_with(move):
    """Returns a cell of one kind, marked by the memory, that makes the move of this index nearly alone."""
    cell = kzoo.layers.SeekAttention(kinds=1)
    cell.build((None, 2), (None, None, 1))
    for variable in cell.trainable_variables:
        variable.assign(np.zeros(variable.shape, "float32"))
    cell.mark.kernel.assign([[20.0]])
    cell.mark.bias.assign([-10.0])
    bias = np.zeros(5, "float32")
    bias[move] = 12.0
    cell.moves.bias.assign(bias)
    cell.gamma.bias.assign([1.0])
    return cell


def walk(move, steps=4, at=(), length=N, pads=2, kind=OF_A_KIND):
    """Returns where the weights are at each step, from a position on."""
    cell = cell_with(move)
    memory = np.zeros((1, length + pads, 1), "float32")
    memory[0, list(kind)] = 1.0
    memory[0, length:] = 1.0  # of the kind, but pads
    prepared = cell.prepare(memory, np.arange(length + pads)[None] < length)
    states, found = cell.get_initial_state(prepared), []
    for position in at:
        states = {**states, "weights": ops.convert_to_tensor(np.eye(length + pads, dtype="float32")[position][None])}
    for _ in range(steps):
        _, weights, states = cell(ops.zeros((1, 2)), prepared, states)
        weights = ops.convert_to_numpy(weights)[0]
        assert weights.max() > 0.99 and (weights[length:] == 0).all()
        found.append(int(weights.argmax()))
    return found


@pytest.mark.parametrize(
    ("move", "at", "expected"),
    [
        (STAY, 4, [4, 4, 4, 4]),
        (NEXT, 0, [2, 3, 6, 0]),  # what is not found leads to the first
        (STEP, 4, [5, 6, 0, 1]),
        (BEFORE, 6, [3, 2, 0, 0]),
        (BACK, 2, [1, 0, 0, 0]),
    ],
)
def test_each_move(move, at, expected):
    assert walk(move, at=[at]) == expected


def test_a_search_is_right_at_any_distance():
    assert walk(NEXT, steps=3, length=400, pads=0, kind=(1, 390)) == [1, 390, 0]
    assert walk(STEP, steps=300, length=200, pads=0) == [step % 200 for step in range(1, 301)]


def test_a_memory_of_one():
    for move in range(5):
        assert walk(move, steps=1, length=1, kind=()) == [0]


def in_numpy(cell, query, last, memory):
    """Returns the next weights of one row without pads."""

    def map_by(layer, x):
        return x @ ops.convert_to_numpy(layer.kernel) + ops.convert_to_numpy(layer.bias)

    features, n = map_by(cell.location, query), len(memory)
    scores = map_by(cell.moves, features)
    moves = list(np.exp(scores) / np.exp(scores).sum())
    gamma = 1 + np.log1p(np.exp(map_by(cell.gamma, features)[0]))
    kinds = [*(1 / (1 + np.exp(-map_by(cell.mark, memory)))).T, np.ones(n)]

    def search(kind, order):
        found, left = np.zeros(n), 1.0
        for position in order:
            found[position] = left * kind[position]
            left -= found[position]
        found[0] += left
        return found

    right = [lambda i, kind=kind: search(kind, range(i + 1, n)) for kind in kinds]
    left = [lambda i, kind=kind: search(kind, range(i - 1, -1, -1)) for kind in kinds]
    found = moves.pop(0) * last
    for way in (*right, *left):
        found = found + moves.pop(0) * sum(last[i] * way(i) for i in range(n))
    return found**gamma / (found**gamma).sum()


@pytest.mark.parametrize("kinds", [1, 4])
def test_the_formulas(kinds, attend):
    cell = attend.build(kzoo.layers.SeekAttention(kinds=kinds))
    memory, mask, summary, queries = attend.inputs()
    _, weights, _ = attend(cell, memory, mask, summary, queries)
    for row, length in enumerate(attend.lengths):
        last = np.eye(length)[0]
        for query, found in zip(queries[:, row], weights[:, row], strict=True):
            last = in_numpy(cell, query, last, memory[row, :length])
            np.testing.assert_allclose(found[:length], last, atol=1e-5)


def test_what_is_refused():
    with pytest.raises(InputError, match="kinds must be"):
        kzoo.layers.SeekAttention(kinds=0)
