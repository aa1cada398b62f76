"""The forward-backward algorithm against the sum over every path, and over long sources."""

import itertools

import keras
import numpy as np
import pytest

from kzoo.training.alignment.forward_backward import forward, next_waypoint, posterior

STAY, MOVE, LOOK = range(3)
TARGET, SOURCE = 3, 4


def draw(target, source, seed=0, rows=1):
    """Returns random chances, and the marks that `next` is made of."""
    rng = np.random.default_rng(seed)
    marks = rng.uniform(0.1, 0.9, (rows, source)).astype("float32")
    chances = {
        "emit": rng.uniform(0.1, 0.9, (rows, target, source)),
        "kinds": rng.dirichlet(np.ones(3), (rows, target)),
        "elsewhere": rng.dirichlet(np.ones(source), (rows, source)),
        "mask": np.ones((rows, target)),
    }
    chances = {name: keras.ops.convert_to_tensor(value.astype("float32")) for name, value in chances.items()}
    return {**chances, "next": next_waypoint(keras.ops.convert_to_tensor(marks), np.log1p(-marks))}, marks


def paths():
    """Yields every sequence of (kind, where the walk is then, where the step looks)."""
    steps = [(kind, j, k) for kind in range(3) for j in range(SOURCE) for k in (range(SOURCE) if kind == LOOK else [j])]
    return itertools.product(steps, repeat=TARGET)


def test_it_is_the_sum_over_every_path():
    chances, marks = draw(TARGET, SOURCE)
    emit, kinds, elsewhere = (
        keras.ops.convert_to_numpy(chances[name])[0].astype("float64") for name in ("emit", "kinds", "elsewhere")
    )
    total, looks, shares = 0.0, np.zeros((TARGET, SOURCE)), np.zeros((TARGET, 3))
    for path in paths():
        at, chance = -1, 1.0
        for t, (kind, j, k) in enumerate(path):
            if kind == MOVE:
                chance *= float(np.prod(1.0 - marks[0, at + 1 : j], dtype="float64")) * marks[0, j] if j > at else 0.0
            else:
                chance *= float(j == at) * (elsewhere[j, k] if kind == LOOK else 1.0)
            chance *= kinds[t, kind] * emit[t, k]
            at = j
        total += chance
        for t, (kind, _, k) in enumerate(path):
            looks[t, k] += chance
            shares[t, kind] += chance
    found = [keras.ops.convert_to_numpy(part)[0] for part in posterior(chances)]
    assert found[0] == pytest.approx(np.log(total), rel=1e-5)
    np.testing.assert_allclose(found[1], looks / total, atol=1e-5)
    np.testing.assert_allclose(found[2], shares / total, atol=1e-5)
    assert keras.ops.convert_to_numpy(forward(chances)[0])[0] == pytest.approx(np.log(total), rel=1e-5)


def test_padding_changes_nothing():
    chances, _ = draw(5, 6, rows=2)
    short = {
        **chances,
        "emit": chances["emit"][:, :3],
        "kinds": chances["kinds"][:, :3],
        "mask": chances["mask"][:, :3],
    }
    mask = np.array([[1, 1, 1, 0, 0]] * 2, "float32")
    padded = [keras.ops.convert_to_numpy(part) for part in posterior({**chances, "mask": mask})]
    expected = [keras.ops.convert_to_numpy(part) for part in posterior(short)]
    np.testing.assert_allclose(padded[0], expected[0], rtol=1e-5)
    for part, wanted in zip(padded[1:], expected[1:], strict=True):
        np.testing.assert_allclose(part[:, :3], wanted, atol=1e-6)
        assert not part[:, 3:].any()


def test_long_skips_give_numbers():
    """A walk that must skip hundreds of positions that are waypoints all but surely."""
    size = 300
    chances, _ = draw(size, size)
    logits = np.full((1, size), 30.0, "float32")
    logits[:, ::100] = -30.0
    marks, skip = keras.ops.sigmoid(logits), keras.ops.log_sigmoid(-logits)
    emit = np.where(np.arange(size) % 100 == 0, 0.9, 1e-6).astype("float32")
    chances |= {"next": next_waypoint(marks, skip), "emit": np.broadcast_to(emit, (1, size, size))}
    total, looks, shares = (keras.ops.convert_to_numpy(part) for part in posterior(chances))
    assert np.isfinite(total).all() and np.isfinite(looks).all()
    np.testing.assert_allclose(looks.sum(axis=2), 1.0, atol=1e-3)
    np.testing.assert_allclose(shares.sum(axis=2), 1.0, atol=1e-3)
