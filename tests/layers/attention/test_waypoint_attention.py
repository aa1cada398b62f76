"""Waypoint attention with weights that a person can follow: where it steps, what it skips, that it returns."""

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError

FLAGS = [1, 1, 0, 0, 1, 0, 1, 0, 1]  # the waypoints of a memory of nine positions
OPEN = 0.97  # a visit is never quite open


def cell_with(pace=4.0, visit=-50.0, place=0.0, **config):
    """Returns a cell that marks by the first feature, and whose decisions are these numbers."""
    cell = kzoo.layers.WaypointAttention(**config)
    cell.build((None, 2), (None, None, 3))
    for variable in cell.trainable_variables:
        variable.assign(np.zeros(variable.shape, "float32"))
    cell.location.bias.assign([1.0, 0.0])
    cell.mark.kernel.assign([[6.0], [0.0], [0.0]])
    cell.mark.bias.assign([-3.0])
    decisions = {"pace": pace, "visit": visit, "place": place} if cell.visits else {"pace": pace}
    for name, value in decisions.items():
        getattr(cell, name).kernel.assign([[value], [0.0]])
    return cell


def walk(cell, steps, flags=FLAGS, states=None, least=0.99):
    """Returns where the weights are at each step, and the last states."""
    memory = np.zeros((1, len(flags), 3), "float32")
    memory[0, :, 0] = flags
    prepared = cell.prepare(memory, np.ones((1, len(flags)), bool))
    states, found = states or cell.get_initial_state(prepared), []
    for _ in range(steps):
        _, weights, states = cell(ops.zeros((1, 2)), prepared, states)
        weights = ops.convert_to_numpy(weights)[0]
        assert weights.max() > least
        found.append(int(weights.argmax()))
    return found, states


def test_a_step_leads_to_the_next_waypoint():
    assert walk(cell_with(), 5)[0] == [1, 4, 6, 8, 8]
    assert walk(cell_with(visits=False), 5)[0] == [1, 4, 6, 8, 8]


def test_it_may_stay():
    assert walk(cell_with(pace=-4.0), 3)[0] == [0, 0, 0]


def test_the_walk_holds_at_any_length():
    flags = (np.random.default_rng(0).random(3_000) < 0.4).astype(int)
    flags[0] = flags[-1] = 1
    found, _ = walk(cell_with(visits=False), flags.sum() - 1, flags.tolist())
    assert found == np.flatnonzero(flags)[1:].tolist()


def test_a_visit_counts_waypoints_and_comes_back():
    _, states = walk(cell_with(), 2)
    away, states = walk(cell_with(visit=50.0, place=3.0), 2, states=states, least=OPEN)
    back, _ = walk(cell_with(), 1, states=states)
    assert away == [6, 6] and back == [6]  # from 4, where it had been, to the next
    for place, end in ((50.0, 8), (-50.0, 0)):
        assert walk(cell_with(visit=50.0, place=place), 1, least=OPEN)[0] == [end]


def test_with_waypoints_everywhere_it_is_onestep():
    rng = np.random.default_rng(1)
    onestep, cell = kzoo.layers.MonotonicAttention(), kzoo.layers.WaypointAttention(visits=False)
    for one in (onestep, cell):
        one.build((None, 4), (None, None, 3))
    cell.mark.kernel.assign(np.zeros((3, 1), "float32"))
    cell.mark.bias.assign([10.0])
    for variable in ("location", "spread", "pace", "values"):
        getattr(cell, variable).set_weights([ops.convert_to_numpy(w) for w in getattr(onestep, variable).weights])
    memory, mask = rng.normal(size=(2, 7, 3)).astype("float32"), np.arange(7)[None, :] < [[7], [4]]
    prepared = [one.prepare(memory, mask) for one in (onestep, cell)]
    states = [one.get_initial_state(ready) for one, ready in zip((onestep, cell), prepared, strict=True)]
    for query in rng.normal(size=(4, 2, 4)).astype("float32"):
        done = [one(query, *rest) for one, *rest in zip((onestep, cell), prepared, states, strict=True)]
        for expected, found in zip(done[0][:2], done[1][:2], strict=True):
            np.testing.assert_allclose(ops.convert_to_numpy(found), ops.convert_to_numpy(expected), atol=1e-5)
        states = [state for _, _, state in done]


def test_what_is_refused():
    with pytest.raises(InputError, match="visits must be"):
        kzoo.layers.WaypointAttention(visits="yes")
