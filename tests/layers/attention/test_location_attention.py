"""Where the location mechanisms look, step by step, with weights chosen so that a person can follow."""

import keras
import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError

LENGTH = 6


def sigmoid(x):
    return 1 / (1 + np.exp(-np.asarray(x, float)))


def clamp(x):
    return max(0.01 * x, min(x, 1 + 0.01 * x))


def cell_with(cell, **outputs):
    """Returns a cell whose location features are (1, 0), and whose maps of them give the numbers `outputs`."""
    cell.build((None, 2), (None, None, 6))
    for variable in cell.trainable_variables:
        variable.assign(np.zeros(variable.shape, "float32"))
    cell.location.bias.assign([1.0, 0.0])
    for name, value in outputs.items():
        getattr(cell, name).kernel.assign([[value], [0.0]])
    return cell


def start(cell, **states):
    prepared = cell.prepare(np.ones((1, LENGTH, 6), "float32"), np.ones((1, LENGTH), bool))
    states = {key: np.float32([value]) for key, value in states.items()}
    return prepared, {**cell.get_initial_state(prepared), **states}


def step(cell, prepared, states):
    _, weights, states = cell(ops.zeros((1, 2)), prepared, states)
    return ops.convert_to_numpy(weights)[0], {k: ops.convert_to_numpy(v)[0] for k, v in states.items()}


@pytest.mark.parametrize(
    "position, center, weights, new",
    [(0.0, 0.1, [0.5, 0.5, 0, 0, 0, 0], 0.1), (1.0, 1.1, [0, 0, 0, 0, 0, 1], 1.0)],
)
def test_onestep_undecided_moves_half_a_position(position, center, weights, new):
    cell = cell_with(kzoo.layers.MonotonicAttention(step="sigmoid"), pace=0.0)
    found, states = step(cell, *start(cell, position=position))
    np.testing.assert_allclose(found, weights, atol=1e-5)
    assert abs(states["center"] - center) < 1e-6 and abs(states["position"] - new) < 1e-5 and states["time"] == 1


@pytest.mark.parametrize(
    "kind, raw, steps",
    [
        ("sigmoid", 0.4, sigmoid(2.0)),
        ("relu", 2.5, 2.5),
        ("relu", -1.0, 0.0),
        ("linear", -0.5, -0.5),
        ("softstair", 1.6, 1.8808),
        ("gated", 2.0, 0.5 * 2.0 + 0.5 * sigmoid(10.0)),  # the gate starts at sigmoid(0)
    ],
)
def test_monotonic_steps(kind, raw, steps):
    cell = cell_with(kzoo.layers.MonotonicAttention(step=kind), pace=raw)
    _, states = step(cell, *start(cell, position=0.4))
    assert abs(states["center"] - (0.4 + steps / 5)) < 1e-5


@pytest.mark.parametrize("kind, steps", [("softstair", 1.8808), ("sigmoid", sigmoid(8.0))])
@pytest.mark.parametrize("position", [0.0, 0.4])
def test_location_adds_gate_anchor_and_steps(kind, steps, position):
    cell = cell_with(kzoo.layers.LocationAttention(step=kind), pace=1.6, gate=0.5, anchor=-1.0, spread=0.2)
    _, states = step(cell, *start(cell, position=position))
    expected = sigmoid(0.5) * position + sigmoid(-1.0) + steps / 5
    assert abs(states["center"] - clamp(expected)) < 1e-5
    assert abs(states["spread"] - (0.2 + 0.27) / LENGTH) < 1e-6


def test_location_is_clamped():
    cell = cell_with(kzoo.layers.LocationAttention(), pace=10.0, gate=5.0, anchor=5.0)
    weights, states = step(cell, *start(cell, position=1.0))
    assert abs(states["center"] - clamp(2 * sigmoid(5.0) + 2.0)) < 1e-4 and weights.argmax() == LENGTH - 1


def test_simple_location_has_an_anchor_at_the_first_step_only():
    cell = cell_with(kzoo.layers.SimpleLocationAttention(), pace=-1.0, anchor=1.0)
    prepared, states = start(cell)
    _, first = step(cell, prepared, states)
    softstair = -1 + sigmoid(-10.0)
    assert abs(first["center"] - clamp(sigmoid(1.0) + softstair / 5)) < 1e-5
    _, second = step(cell, prepared, {key: np.float32([value]) for key, value in first.items()})
    assert abs(second["center"] - clamp(first["position"] + softstair / 5)) < 1e-5


def test_dubois_weighter_is_a_gru_with_a_learned_start(attend):
    cell = attend.build(kzoo.layers.DuboisLocationAttention(weighter_units=3))
    memory, mask, summary, queries = attend.inputs()
    _, _, states = attend.steps_of(cell, memory, mask, summary, queries)
    numpy = ops.convert_to_numpy
    omega = np.repeat(numpy(cell.start.value)[None], 3, axis=0)
    np.testing.assert_allclose(numpy(states[0]["weighter"]), omega, atol=1e-6)
    for query, state, last in zip(queries, states[1:], states, strict=False):
        resized = np.maximum(query @ numpy(cell.resize.kernel) + numpy(cell.resize.bias), 0)
        x = resized @ numpy(cell.weighter.kernel) + numpy(cell.weighter.bias)[0]
        h = omega @ numpy(cell.weighter.recurrent_kernel) + numpy(cell.weighter.bias)[1]
        update, reset = sigmoid(x[:, :3] + h[:, :3]), sigmoid(x[:, 3:6] + h[:, 3:6])
        omega = update * omega + (1 - update) * np.tanh(x[:, 6:] + reset * h[:, 6:])
        np.testing.assert_allclose(numpy(state["weighter"]), omega, atol=1e-5)
        pace, gate, anchor, spread = (
            (omega @ numpy(getattr(cell, name).kernel))[:, 0] for name in ("pace", "gate", "anchor", "spread")
        )
        steps = np.floor(pace) + sigmoid(20 * (pace - np.floor(pace) - 0.5))
        length = mask.sum(axis=1)
        center = sigmoid(gate) * numpy(last["position"]) + steps / np.maximum(length - 1, 1) + sigmoid(anchor)
        center = np.where(center < 0, 0.01 * center, np.where(center > 1, 1 + 0.01 * (center - 1), center))
        np.testing.assert_allclose(numpy(state["center"]), center, atol=1e-5)
        np.testing.assert_allclose(numpy(state["spread"]), (np.maximum(spread, 0) + 0.27) / length, atol=1e-6)


@pytest.mark.parametrize(
    "name, bound", [("MonotonicAttention", 0.2157), ("SimpleLocationAttention", 0.1525), ("LocationAttention", 0.1245)]
)
def test_initial_values_of_the_columns(name, bound):
    keras.utils.set_random_seed(0)
    cell = getattr(kzoo.layers, name)()
    cell.build((None, 128), (None, None, 6))
    largest = np.abs(ops.convert_to_numpy(cell.pace.kernel)).max()
    assert 0.9 * bound < largest <= bound + 1e-4
    assert np.abs(ops.convert_to_numpy(cell.spread.kernel)).max() <= 0.2158


def test_unknown_steps_are_refused():
    with pytest.raises(InputError, match="step"):
        kzoo.layers.LocationAttention(step="gated")
    with pytest.raises(InputError, match="softstair"):
        kzoo.layers.MonotonicAttention(step="softstairs")
