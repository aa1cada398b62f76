"""The depth with values against a loop written out: what is kept of a state, its noise, and what a classifier reads."""

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError

pytestmark = pytest.mark.usefixtures("quick_compiler")


def numpy(x):
    return ops.convert_to_numpy(ops.stop_gradient(x))


def discrete(randomize, **config):
    block = {"class": "TransformerBlock", "config": {"heads": 3, "hidden_units": 10}}
    layer = randomize(kzoo.layers.DiscreteDepth(block, **{"values": 4, **config}))
    # The values have equal chances: on the average of some states their scores are 0.
    states = np.random.default_rng(4).normal(size=(1, 50, 12)).astype("float32")
    updated = numpy(layer.block(states, np.ones((1, 50), bool))[0])
    layer.scores.bias.assign(-(updated @ numpy(layer.scores.kernel)).mean((0, 1)))
    return layer


def scores(layer, updated):
    return updated @ numpy(layer.scores.kernel) + numpy(layer.scores.bias)


def test_a_position_is_its_token_and_a_value(randomize, padded):
    layer, (states, mask) = discrete(randomize, steps=4), padded()
    h, taken = states, []
    for _ in range(4):
        updated = numpy(layer.block(h, mask)[0])
        taken.append(scores(layer, updated).argmax(-1))
        h = states + numpy(layer.vectors)[taken[-1]]
    found, trace = layer(states, mask, trace=True)
    np.testing.assert_allclose(numpy(found)[mask], updated[mask], atol=1e-4)
    assert len(np.unique(np.stack(taken)[:, mask])) > 2
    np.testing.assert_array_equal(numpy(trace["values"])[:, mask], np.stack(taken)[:, mask])
    _, read = layer(states, mask, every_step=True)
    np.testing.assert_allclose(numpy(read["states"])[-1][mask], numpy(found)[mask], atol=1e-6)
    assert set(read) == {"states"}


def test_a_small_error_leaves_nothing(randomize, padded):
    layer, (states, mask) = discrete(randomize), padded()
    block, calls = layer.block, []

    def disturbed(states, mask, training=False):
        calls.append(1)
        updated, trace = block(states, mask, training=training)
        return updated + 1e-4 * (-1) ** len(calls), trace

    clean = numpy(layer(states, mask, steps=3, trace=True)[1]["values"])
    h, taken = states, []
    for _ in range(3):
        taken.append(scores(layer, numpy(disturbed(h, mask)[0])).argmax(-1))
        h = states + numpy(layer.vectors)[taken[-1]]
    np.testing.assert_array_equal(np.stack(taken)[:, mask], clean[:, mask])


def test_training_mixes_values_with_noise(randomize):
    layer = discrete(randomize, values=3)
    wanted = np.array([0.2, 0.5, 0.3])
    logits = ops.convert_to_tensor(np.tile(np.log(wanted).astype("float32"), (1, 20_000, 1)))
    share = numpy(layer.share(logits, training=True))[0]
    np.testing.assert_allclose(share.sum(-1), 1, atol=1e-5)
    # The largest of logits with Gumbel noise is each with its probability.
    np.testing.assert_allclose(np.bincount(share.argmax(-1)) / 20_000, wanted, atol=0.02)
    assert not np.allclose(share, numpy(layer.share(logits, training=True))[0])
    np.testing.assert_array_equal(numpy(layer.share(logits, training=False))[0], np.tile([[0, 1, 0]], (20_000, 1)))


def test_every_weight_has_a_gradient(randomize, padded, weight_gradients):
    layer, (states, mask) = discrete(randomize, steps=2), padded()
    factors = ops.convert_to_tensor(np.random.default_rng(2).normal(size=(3, 5, 12)).astype("float32"))

    def loss():
        found, _ = layer(ops.convert_to_tensor(states), mask, training=True)
        return ops.sum((found + ops.sum(layer.scores(found), axis=-1, keepdims=True)) * factors)

    for gradient in weight_gradients(layer, loss):
        assert np.isfinite(gradient).all() and np.abs(gradient).max() > 0


def model_of(**config):
    depth = {"class": "discrete", "config": {"values": 10, "steps": 6}}
    return kzoo.models.TransformerClassifier.from_task("ctl_forward", depth=depth, units=12, **config)


def test_a_classifier_answers_with_the_values():
    model = model_of()
    x, _, _ = model.preprocessor([("101 d a b", "011"), ("101 a", "101")])
    found = numpy(model(x))
    assert found.shape == (2, 8) and numpy(model(x, training=True)).shape == (2, 10)
    trace = model.trace("101 d a b")
    assert trace["values"].shape == (6, 6) and trace["values"].dtype == np.int32
    assert trace.axes["values"] == ("step", "column") and trace["gates"].shape[0] == 6
    again = type(model).from_config(model.get_config())
    again.set_weights(model.get_weights())
    np.testing.assert_allclose(numpy(again(x)), found, atol=1e-6)
    assert set(model.generate(["101 d a b", "011 c"])) <= set(model.preprocessor.labels)
    with pytest.raises(InputError, match="values must be at least the number of labels, 8, not 7"):
        kzoo.models.TransformerClassifier.from_task("ctl_forward", depth={"class": "discrete", "config": {"values": 7}})


@pytest.mark.parametrize("depth", ["shared", "discrete", "looped"])
def test_logits_after_the_last_steps(depth):
    model = kzoo.models.TransformerClassifier.from_task("ctl_forward", depth=depth, units=12, steps=5)
    x, _, _ = model.preprocessor([("101 d a b", "011"), ("101 a", "101")])
    x["columns"] = np.array([[2, 3], [2, 0]], "int32")
    held = numpy(model({**x, "steps_before_last": np.tile(np.arange(3, dtype="int32"), (2, 1))}))
    assert held.shape == (2, 3, 3, 8)
    for k in range(3):
        np.testing.assert_allclose(held[:, k], numpy(model(x, steps=5 - k)), atol=1e-5)
    with pytest.raises(InputError, match="7 steps are to be read, and 5 are made"):
        model({**x, "steps_before_last": np.zeros((2, 7), "int32")})
