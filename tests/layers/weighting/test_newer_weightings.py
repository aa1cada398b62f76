"""The weightings of later papers against their formulas, by bisection or one key at a time."""

import math

import keras
import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo import registry
from kzoo.errors import InputError

pytestmark = pytest.mark.usefixtures("quick_compiler")
rng = np.random.default_rng(0)
SCORES = rng.normal(size=(2, 3, 4, 6), scale=2).astype("float32")
MASK = np.ones((2, 1, 4, 6), bool)
MASK[0, :, 1, 3:] = MASK[1, :, :, 1:] = MASK[0, :, 2, :2] = False
CAUSAL = np.arange(6) <= np.arange(2, 6)[:, None]  # the last four of six positions ask


def weigh(name, scores=SCORES, mask=MASK, states=None, **config):
    layer = registry.get("weighting", {"class": name, "config": config})
    return ops.convert_to_numpy(layer(scores, mask) if states is None else layer(scores, mask, states))


def entmax(z):
    """1.5-entmax of a row, its threshold by bisection."""
    low, high = z.max() / 2 - 1, z.max() / 2
    for _ in range(100):
        tau = (low + high) / 2
        low, high = (tau, high) if (np.maximum(z / 2 - tau, 0) ** 2).sum() > 1 else (low, tau)
    return np.maximum(z / 2 - low, 0) ** 2


def rows(function, scores, mask):
    """Applies a function of a row's unmasked scores to every row."""
    found, mask = np.zeros(scores.shape), np.broadcast_to(mask, scores.shape)
    for row in np.ndindex(scores.shape[:-1]):
        found[row][mask[row]] = function(scores[row][mask[row]].astype("float64"), row)
    return found


def softmax(z):
    return np.exp(z - z.max()) / np.exp(z - z.max()).sum()


def test_entmax():
    found = weigh("entmax")
    np.testing.assert_allclose(found, rows(lambda z, row: entmax(z), SCORES, MASK), atol=1e-5)
    assert (found == 0).sum() > (~np.broadcast_to(MASK, SCORES.shape)).sum() + 10
    for z in (np.zeros(5), np.array([1e4, 0, 0, 0, 0]), np.array([3.0, 1.0, 1.0, 0.9999, -50])):
        z = z.astype("float32")
        found = weigh("entmax", z[None, None, None], np.ones(5, bool))[0, 0, 0]
        np.testing.assert_allclose(found, entmax(z.astype("float64")), atol=1e-5)


def test_a_sharp_entmax_has_its_sharpness_drawn_while_training():
    np.testing.assert_allclose(weigh("entmax", sharpness=3.0), weigh("entmax", 3 * SCORES), atol=1e-6)
    layer, mask = kzoo.layers.EntmaxWeighting(sharpness=8.0), np.ones(2, bool)
    scores = np.tile(np.array([0.25, 0], "float32"), (500, 1, 1, 1))
    weights = ops.convert_to_numpy(layer(scores, mask, training=True))[:, 0, 0]
    gap = 2 * (np.sqrt(weights[:, 0]) - np.sqrt(weights[:, 1]))  # of the scores, as long as both have a weight
    factors = gap[weights[:, 1] > 0] / 0.25
    assert 1 <= factors.min() < 1.1 and 7 < factors.max() <= 8
    assert np.mean(factors < np.sqrt(8)) == pytest.approx(0.5, abs=0.08)


def test_far_keys_change_nothing():
    near = SCORES[:1, :1, :1]
    far = np.concatenate([near, np.full((1, 1, 1, 500), near.max() - 2.1, "float32")], -1)
    found = weigh("entmax", far, np.ones(506, bool))
    np.testing.assert_allclose(found[..., :6], weigh("entmax", near, np.ones(6, bool)), atol=1e-6)
    assert (found[..., 6:] == 0).all()


def test_entmax_has_the_gradient_of_its_definition():
    z, up = np.array([1.0, 0.5, -0.2, -4.0, -4.0, 0.9], "float32"), rng.normal(size=6)
    mask = np.array([True] * 5 + [False])

    def loss(x):
        return ops.sum(
            kzoo.layers.EntmaxWeighting()(x[None, None, None], mask)[0, 0, 0]
            * ops.convert_to_tensor(up, dtype="float32")
        )

    if keras.config.backend() == "jax":
        import jax

        found = jax.grad(loss)(z)
    elif keras.config.backend() == "tensorflow":
        import tensorflow as tf

        x = tf.convert_to_tensor(z)
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = loss(x)
        found = tape.gradient(value, x)
    else:
        import torch

        x = torch.tensor(z, requires_grad=True)
        found = torch.autograd.grad(loss(x), x)[0]
    s = np.sqrt(entmax(z[:5].astype("float64")))
    wanted = s * (up[:5] - (up[:5] @ s) / s.sum())
    np.testing.assert_allclose(ops.convert_to_numpy(found), [*wanted, 0], atol=1e-5)


def test_adaptive_entmax():
    states = rng.normal(size=(2, 4, 5)).astype("float32")
    layer = kzoo.layers.AdaptiveEntmaxWeighting(delta=0.7, plain_heads=1)
    layer.build((None, 3, None, None), None, (None, None, 5))
    found = ops.convert_to_numpy(layer(SCORES, MASK, states))
    w_b, w_g = (ops.convert_to_numpy(part.kernel) for part in (layer.slope, layer.exponent))

    def expected(z, row):
        b, h, i = row
        beta = math.log1p(math.exp(states[b, i] @ w_b[:, h]))
        gamma = 2 * math.tanh(states[b, i] @ w_g[:, h])
        return entmax(z * (1.0 if h == 0 else 0.7 + beta * math.log(len(z) + 1) ** gamma))

    np.testing.assert_allclose(found, rows(expected, SCORES, MASK), atol=1e-5)
    np.testing.assert_allclose(weigh("asentmax", delta=0.5), rows(lambda z, _: entmax(z / 2), SCORES, MASK), atol=1e-5)


def test_attention_gives_it_the_states():
    attention = kzoo.layers.MultiHeadAttention(heads=3, weighting="asentmax")
    attention.build((None, None, 12))
    names = {variable.path.split("/")[-2] for variable in attention.weighting.trainable_variables}
    assert len(attention.weighting.trainable_variables) == 2, names
    x = rng.normal(size=(2, 5, 12)).astype("float32")
    before = ops.convert_to_numpy(attention(x)[1])
    attention.weighting.slope.kernel.assign(np.full((12, 3), 5.0, "float32"))
    assert np.abs(ops.convert_to_numpy(attention(x)[1]) - before).max() > 1e-3


def test_scalable_softmax():
    layer = kzoo.layers.ScalableWeighting()
    layer.build((None, 3, None, None))
    factors = np.array([0.3, 1.0, -2.0], "float32")
    layer.factor.assign(factors[:, None, None])
    found = ops.convert_to_numpy(layer(SCORES, MASK))
    wanted = rows(lambda z, row: softmax(z * factors[row[1]] * math.log(len(z))), SCORES, MASK)
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    np.testing.assert_allclose(
        weigh("log_n"), rows(lambda z, _: softmax(z * math.log(len(z))), SCORES, MASK), atol=1e-5
    )
    fixed = registry.get("weighting", "log_n")
    fixed.build((None, 3, None, None))
    assert not fixed.trainable_variables


@pytest.mark.parametrize("current", [False, True])
@pytest.mark.parametrize("rest", ["lost", "own"])
def test_stick_breaking(current, rest):
    mask = np.array(CAUSAL)
    mask[3, 2] = False  # a masked key in between takes nothing
    found, wanted = weigh("stick_breaking", SCORES, mask, attend_current=current, rest=rest), np.zeros(SCORES.shape)
    for b, h, i in np.ndindex(2, 3, 4):
        left = 1.0
        for j in range(i + 2 if current else i + 1, -1, -1):
            if mask[i, j]:
                share = 1 / (1 + math.exp(-SCORES[b, h, i, j]))
                wanted[b, h, i, j] += left * share
                left *= 1 - share
        wanted[b, h, i, i + 2] += left if rest == "own" else 0
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    assert rest == "lost" or np.allclose(found.sum(-1), 1, atol=1e-5)


def test_stick_breaking_is_the_causal_half_of_geometric_weighting():
    scores = rng.normal(size=(2, 3, 6, 6)).astype("float32")
    causal = np.tril(np.ones((6, 6), bool))
    np.testing.assert_allclose(weigh("stick_breaking", scores, causal), weigh("geometric", scores, causal), atol=1e-6)


def test_what_is_refused():
    with pytest.raises(InputError, match="did you mean 'own'"):
        kzoo.layers.StickBreakingWeighting(rest="owns")
    with pytest.raises(InputError, match="plain_heads must be an integer from 0"):
        kzoo.layers.AdaptiveEntmaxWeighting(plain_heads=-1)
