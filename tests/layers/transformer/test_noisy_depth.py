"""The depth with noise: how much, at which steps, and that there is none outside training."""

import keras
import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo import registry
from kzoo.errors import InputError

pytestmark = pytest.mark.usefixtures("quick_compiler")
STATES, MASK = np.zeros((2, 50, 12), "float32"), np.ones((2, 50), bool)


class Same(keras.layers.Layer):
    """A block that changes nothing."""

    def build(self, states_shape):
        self.built = True

    def call(self, states, mask=None, training=False):
        return states, {}


def around_same(**config):
    """Returns a depth around the block that changes nothing."""
    layer = kzoo.layers.NoisyDepth("transformer", **config)
    layer.block = Same()
    return layer


def after_every_step(layer, training):
    return ops.convert_to_numpy(layer(STATES, MASK, training=training, every_step=True)[1]["states"])


def test_each_step_of_training_adds_noise_of_its_own():
    layer = around_same(steps=6, noise=0.3)
    found = np.concatenate([after_every_step(layer, True), after_every_step(layer, True)])
    added = np.concatenate([found[:1], np.diff(found[:6], axis=0), found[6:7], np.diff(found[6:], axis=0)])
    assert added.std(axis=(1, 2, 3)) == pytest.approx([0.3] * 12, rel=0.15)
    assert np.abs(np.corrcoef(added.reshape(12, -1)) - np.eye(12)).max() < 0.2
    assert (after_every_step(layer, False) == 0).all()


def test_without_training_it_is_the_shared_depth(randomize, padded):
    layer, (states, mask) = randomize(kzoo.layers.NoisyDepth("ndr", steps=3, inference_steps=5)), padded()
    plain = kzoo.layers.SharedDepth("ndr", steps=3, inference_steps=5)
    plain.build((None, None, 12))
    plain.block.set_weights(layer.block.get_weights())
    np.testing.assert_array_equal(
        ops.convert_to_numpy(layer(states, mask)[0]), ops.convert_to_numpy(plain(states, mask)[0])
    )
    again = registry.get("depth", registry.serialize(layer))
    assert again.noise == 0.2 and again.inference_steps == 5 and registry.serialize(again) == registry.serialize(layer)
    with pytest.raises(InputError, match="noise must be a number from 0"):
        kzoo.layers.NoisyDepth("ndr", noise=-0.1)


@pytest.mark.once
def test_a_classifier_is_trained_with_it():
    task = kzoo.tasks.get("ctl_forward")
    depth = {"class": "noisy", "config": {"noise": 0.1, "steps": 3}}
    model = kzoo.models.TransformerClassifier.from_task(task, depth=depth, units=12)
    model.compile(keras.optimizers.Adam(0.01))
    history = model.fit(task.dataset("train", 32), epochs=10, verbose=0).history
    assert np.isfinite(history["loss"]).all() and history["loss"][-1] < history["loss"][0]
    text = "101 d a b"
    assert model.generate(text) == model.generate(text)
