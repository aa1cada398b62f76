"""The looped depth against loops written out: injection, steps by length, and when it stops."""

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError

pytestmark = pytest.mark.usefixtures("quick_compiler")


def numpy(x):
    return ops.convert_to_numpy(x)


def looped(randomize, **config):
    block = {"class": "TransformerBlock", "config": {"heads": 3, "hidden_units": 10}}
    return randomize(kzoo.layers.LoopedDepth(block, **config))


def rounds(layer, states, mask, number, injection=True):
    """Returns the states after each round."""
    h, found = states, []
    for _ in range(number):
        h = h + states if injection else h
        for block in [layer.block, *layer.others]:
            h = numpy(block(h, mask)[0])
        found.append(h)
    return found


@pytest.mark.parametrize("config", [{}, {"layers": 2}, {"injection": False}])
def test_the_input_is_added_before_each_round(config, randomize, padded):
    layer, (states, mask) = looped(randomize, steps=4, **config), padded()
    expected = rounds(layer, states, mask, 4, config.get("injection", True))[-1]
    np.testing.assert_allclose(numpy(layer(states, mask)[0])[mask], expected[mask], atol=1e-4)


def test_each_sequence_has_the_rounds_of_its_length(randomize, padded):
    layer, (states, mask) = looped(randomize, steps=6, per_token=2.0, extra=-3), padded((5, 3, 1))
    found, trace = layer(states, mask, trace=True)
    after = rounds(layer, states, mask, 6)
    for row, number in enumerate((6, 3, 1)):  # of 7, 3 and -1
        np.testing.assert_allclose(numpy(found)[row][mask[row]], after[number - 1][row][mask[row]], atol=1e-4)
    assert trace["weights"].shape[0] == 6
    wide = numpy(layer(*padded((5, 3, 1), width=12))[0])
    np.testing.assert_allclose(wide[:, :5][mask], numpy(found)[mask], atol=1e-5)
    assert looped(randomize, steps=99, per_token=1.0)(states, mask, trace=True)[1]["weights"].shape[0] == 5


def test_padding_adds_no_round(randomize):
    layer = looped(randomize, steps=100, per_token=0.3)  # 0.3 * 95 is 28.5 in float64, and more in float32
    states = np.random.default_rng(0).normal(size=(1, 100, 12)).astype("float32")
    mask = np.arange(100)[None] < 95
    alone, padded = (numpy(layer(states[:, :n], mask[:, :n])[0])[0, :95] for n in (95, 100))
    np.testing.assert_allclose(alone, padded, atol=1e-4)


def test_it_answers_when_it_is_surest(randomize, padded):
    layer, (states, mask) = looped(randomize, steps=5, stop="confidence"), padded((5, 5, 5))
    after = rounds(layer, states, mask, 5)
    # A head that is surest of each row in another round.
    head = 4 * np.stack([after[row + 1][row, 0] for row in range(3)], axis=1)
    found = numpy(layer(states, mask, readout=lambda h: ops.matmul(h[:, 0], head))[0])
    logits = np.stack(after)[:, :, 0] @ head
    sure = (logits - np.log(np.exp(logits).sum(-1, keepdims=True))).max(-1)  # rounds, rows
    best = sure.argmax(0)
    assert len(set(best)) > 1
    for row, step in enumerate(best):
        np.testing.assert_allclose(found[row], after[step][row], atol=1e-4)
    trained = numpy(layer(states, mask, training=True)[0])
    np.testing.assert_allclose(trained, after[-1], atol=1e-4)
    with pytest.raises(InputError, match='stop="confidence" needs a readout'):
        layer(states, mask)


@pytest.mark.parametrize("stop", ["given", "confidence"])
def test_a_classifier_runs_it(stop):
    depth = {"class": "looped", "config": {"per_token": 1.0, "stop": stop, "steps": 8}}
    model = kzoo.models.TransformerClassifier.from_task("ctl_forward", depth=depth, block="rel", units=12)
    x, _, _ = model.preprocessor([("101 d a b", "011"), ("101", "101")])
    found = numpy(model(x))
    np.testing.assert_allclose(numpy(model(model.preprocessor([("101", "101")])[0]))[0], found[1], atol=1e-5)
    again = type(model).from_config(model.get_config())
    again.set_weights(model.get_weights())
    np.testing.assert_array_equal(numpy(again(x)), found)


def test_what_does_not_apply_is_refused():
    with pytest.raises(InputError, match="extra does not apply"):
        kzoo.layers.LoopedDepth("rel", extra=2)
