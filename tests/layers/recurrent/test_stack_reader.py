"""The network with a stack, against its equations written out; and that a stack is one."""

import numpy as np
from keras import ops

import kzoo


def numpy(x):
    return ops.convert_to_numpy(x)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def test_the_equations():
    reader = kzoo.layers.StackReader(5, cells=4, cell_units=3, stacks=2)
    reader.build((None, None, 2))
    for variable in reader.trainable_variables:
        variable.assign(np.random.default_rng(1).normal(size=variable.shape).astype("float32"))
    x = np.random.default_rng(0).normal(size=(1, 6, 2)).astype("float32")
    maps = {n: numpy(getattr(reader, n).kernel) for n in ("inputs", "recurrent", "top", "actions", "pushed")}
    h, stacks = np.zeros(5), np.full((2, 4, 3), -1.0)
    for row in x[0]:
        h = sigmoid(
            row @ maps["inputs"]
            + numpy(reader.inputs.bias)
            + h @ maps["recurrent"]
            + stacks[:, 0].ravel() @ maps["top"]
        )
        actions, new = np.exp((h @ maps["actions"]).reshape(2, 3)), sigmoid(h @ maps["pushed"]).reshape(2, 3)
        actions /= actions.sum(-1, keepdims=True)
        following = np.empty_like(stacks)
        for s, i in np.ndindex(2, 4):
            above = new[s] if i == 0 else stacks[s, i - 1]
            below = stacks[s, i + 1] if i < 3 else np.full(3, -1.0)
            following[s, i] = actions[s] @ np.stack([above, below, stacks[s, i]])
        stacks = following
    np.testing.assert_allclose(numpy(reader(x, np.ones((1, 6), bool)))[0], h, atol=1e-5)


def test_what_was_pushed_last_is_popped_first():
    reader = kzoo.layers.StackReader(3, cells=5, cell_units=1)
    reader.build((None, None, 3))
    for name in ("recurrent", "top", "actions", "pushed"):
        getattr(reader, name).kernel.assign(np.zeros(getattr(reader, name).kernel.shape, "float32"))
    # h is (push, pop, value): the first two choose the action, the third is what is pushed.
    reader.actions.kernel.assign(np.array([[40, 0, 0], [0, 40, 0], [0, 0, 0]], "float32"))
    reader.pushed.kernel.assign(np.array([[-20], [0], [40]], "float32"))
    state = {"hidden": ops.zeros((1, 3)), "stack": -ops.ones((1, 1, 5, 1))}
    tops = []
    for push, value in ((1, 1), (1, 0), (1, 1), (0, 0), (0, 0), (0, 0)):
        given = 40 * np.array([[2 * push - 1, 1 - 2 * push, 2 * value - 1]], "float32")
        state, _ = reader.step(state, ops.convert_to_tensor(given))
        tops.append(float(numpy(state["stack"])[0, 0, 0, 0]))
    np.testing.assert_allclose(tops, [1, 0, 1, 0, 1, -1], atol=1e-4)


def test_without_a_number_of_cells_nothing_that_is_pushed_is_lost():
    x = np.random.default_rng(0).normal(size=(2, 9, 3)).astype("float32")
    mask = np.ones((2, 9), bool)
    grows, holds, loses = (kzoo.layers.StackReader(4, cells=cells, cell_units=2) for cells in (None, 9, 2))
    outputs = []
    for reader in (grows, holds, loses):
        reader.build((None, None, 3))
        for variable in reader.trainable_variables:
            variable.assign(2 * np.random.default_rng(1).normal(size=variable.shape).astype("float32"))
        outputs.append(numpy(reader(x, mask)))
    np.testing.assert_allclose(outputs[0], outputs[1], atol=1e-6)
    assert np.abs(outputs[0] - outputs[2]).max() > 1e-4
    assert grows.get_config()["cells"] is None and numpy(grows(x[:, :1], mask[:, :1])).shape == (2, 4)
