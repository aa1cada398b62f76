"""Repetition, the copy gate and adaptive computation time."""

import keras
import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo import registry

pytestmark = pytest.mark.usefixtures("quick_compiler")

NOISE_RATE = 0.5


class Noise(keras.layers.Layer):
    """A block that tells what its dropout let through."""

    def __init__(self):
        super().__init__()
        self.dropout = keras.layers.Dropout(NOISE_RATE)

    def build(self, states_shape):
        self.built = True

    def call(self, states, mask=None, training=False):
        return states, {"kept": self.dropout(ops.ones_like(states), training=training)}


def numpy(x):
    return ops.convert_to_numpy(x)


def around(block, cls=None, **config):
    """Returns a depth around a block that is in no registry."""
    layer = (cls or kzoo.layers.SharedDepth)("transformer", **config)
    layer.block = block
    return layer


def test_the_loop_is_the_block_again_and_again(randomize, padded):
    layer = randomize(kzoo.layers.SharedDepth({"class": "ndr", "config": {"heads": 3}}, steps=3))
    states, mask = padded()
    found, trace = layer(states, mask, trace=True)
    for t in range(3):
        states, one = layer.block(states, mask)
        for key, value in one.items():
            np.testing.assert_allclose(numpy(trace[key])[t], numpy(value), atol=1e-5)
    np.testing.assert_allclose(numpy(found), numpy(states), atol=1e-5)


def test_every_step_and_every_call_drops_something_else():
    layer = around(Noise(), steps=6)
    states, mask = np.ones((2, 5, 12), "float32"), np.ones((2, 5), bool)
    calls = [numpy(layer(states, mask, training=True, trace=True)[1]["kept"]) for _ in range(2)]
    kept = np.concatenate(calls).reshape(12, -1) > 0
    assert all((kept[i] != kept[j]).any() for i in range(12) for j in range(i))
    assert (numpy(layer(states, mask, trace=True)[1]["kept"]) == 1).all()


def test_an_error_in_a_step_leaves_the_layer_usable():
    layer = around(Noise(), steps=2)
    states, mask = np.ones((2, 5, 12), "float32"), np.ones((2, 5), bool)
    layer(states, mask, training=True)
    call, layer.block.call = layer.block.call, lambda *_, **__: 1 / 0
    with pytest.raises(ZeroDivisionError):
        layer(states, mask, training=True)
    layer.block.call = call
    layer(states, mask, training=True)


def test_the_gate_is_closed_at_first(padded):
    keras.utils.set_random_seed(0)
    gate = registry.get("block", {"class": "ndr", "config": {"heads": 3}})
    states, mask = padded()
    found, trace = gate(states, mask)
    assert 0.02 < numpy(trace["gates"])[mask].mean() < 0.08  # sigmoid(-3) is 0.047
    assert np.abs(numpy(found) - states)[mask].mean() < 0.2


def test_a_stretched_gate_copies_exactly(padded):
    keras.utils.set_random_seed(0)
    gate = registry.get("block", {"class": "stretched_ndr", "config": {"heads": 3}})
    plain = registry.get("block", {"class": "stretched_ndr", "config": {"heads": 3, "stretch": 0.0}})
    states, mask = padded()
    found, trace = gate(states, mask)
    plain(states, mask)
    plain.set_weights(gate.get_weights())
    expected = numpy(plain(states, mask)[1]["gates"])
    gates = numpy(trace["gates"])
    np.testing.assert_allclose(gates, np.clip(1.1 * expected - 0.05, 0, 1), atol=1e-6)
    assert (gates == 0).any() and (gates > 0).any()
    assert (numpy(found)[gates == 0] == states[gates == 0]).all()


def test_gate_drop_copies_whole_positions(randomize, padded):
    gate = randomize(registry.get("block", {"class": "ndr", "config": {"heads": 3, "gate_drop": 0.5}}))
    states, mask = padded((40, 40))
    found, trace = gate(states, mask, training=True)
    copied = (numpy(found) == states).all(axis=-1)
    assert 0.3 < copied.mean() < 0.7
    assert (numpy(trace["gates"])[copied] == 0).all() and (numpy(trace["gates"])[~copied] > 0).all()
    assert (numpy(gate(states, mask)[1]["gates"]) > 0).all()


@pytest.mark.parametrize("depth", ["act", "act_universal"])
def test_halting(depth, randomize, padded):
    layer = randomize(registry.get("depth", depth, block={"class": "rel", "config": {"heads": 3}}, steps=9))
    states, mask = padded()
    output, trace = layer(states, mask, trace=True)
    weights = numpy(trace["halting"])
    assert (weights[:, ~mask] == 0).all() and (weights >= 0).all()
    totals = weights.sum(axis=0)[mask]
    np.testing.assert_allclose(totals, 1, atol=1e-5)

    # The definition, position by position.
    expected, now = np.zeros_like(states), states
    chances = []
    for t in range(9):
        chances.append(1 / (1 + np.exp(-(now @ numpy(layer.halting.kernel) + numpy(layer.halting.bias))[..., 0])))
        now = numpy(layer.block(now, mask)[0])
        share = weights[t][..., None]
        expected = expected * (1 - share if depth == "act_universal" else 1) + share * now
    for b, i in np.argwhere(mask):
        sums = np.cumsum([chance[b, i] for chance in chances])
        last = int(np.argmax(sums > 0.99)) if (sums > 0.99).any() else 8
        np.testing.assert_allclose(weights[:last, b, i], [chance[b, i] for chance in chances[:last]], atol=1e-5)
        assert (weights[last + 1 :, b, i] == 0).all()
    np.testing.assert_allclose(numpy(output)[mask], expected[mask], atol=1e-4)


def test_only_the_papers_variant_is_forced_to_halt(randomize, padded):
    config = {"block": {"class": "rel", "config": {"heads": 3}}, "steps": 2}
    for depth, total in (("act", 1.0), ("act_universal", 0.02)):
        layer = randomize(registry.get("depth", depth, **config))
        layer.halting.kernel.assign(np.zeros((12, 1)))
        layer.halting.bias.assign(np.array([-4.6]))  # a chance of 1 % a step
        _, trace = layer(*padded(), trace=True)
        np.testing.assert_allclose(numpy(trace["halting"])[:, 0, 0].sum(), total, atol=1e-3)


def test_the_regulariser_is_a_keras_loss(randomize, padded):
    layer = randomize(kzoo.layers.AdaptiveComputation({"class": "rel", "config": {"heads": 3}}, steps=9, penalty=0.5))
    states, mask = padded()
    losses = []
    for width in (5, 12):
        layer(*padded(width=width), training=True)
        (loss,) = layer.losses
        losses.append(float(numpy(loss)))
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)  # padding costs nothing
    _, trace = layer(states, mask, trace=True)
    assert layer.losses == []
    weights = numpy(trace["halting"])
    rests = np.where(weights > 0, weights, np.nan)  # the last weight of a position is its remainder
    means = [np.mean([[w for w in rests[:, b, i] if w == w][-1] for i in range(5) if mask[b, i]]) for b in range(3)]
    assert losses[0] == pytest.approx(0.5 * np.mean(means), rel=1e-4)
