"""Noise on the states of the decoder: how much, at which steps, and that there is none outside training."""

import keras
import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError

T, B, D = 7, 40, 24
INPUTS = np.ones((B, T, 3), "float32"), np.ones((B, 5, D), "float32"), np.ones((B, 5), bool), np.ones((B, D), "float32")


def states_of(decoder, training):
    """Returns the hidden states (T, B, D), the first state before them."""
    if not decoder.built:
        decoder.build(*(array.shape for array in INPUTS[:2]))
    for variable in decoder.cell.trainable_variables:
        variable.assign(np.zeros(variable.shape, "float32"))
    bias = np.zeros(decoder.cell.bias.shape, "float32")
    bias[..., :D] = 50.0  # the update gate is open: the state stays
    decoder.cell.bias.assign(bias)
    hidden = ops.convert_to_numpy(decoder(*INPUTS, training=training)[0])
    return np.concatenate([INPUTS[3][None], hidden.swapaxes(0, 1)])


def test_each_step_of_training_has_noise_of_its_own():
    decoder = kzoo.layers.AttentionDecoder("content", noise=0.3)
    added = np.concatenate([np.diff(states_of(decoder, True), axis=0) for _ in range(2)])
    assert added.std(axis=(1, 2)) == pytest.approx([0.3] * 2 * T, rel=0.15)
    assert np.abs(np.corrcoef(added.reshape(2 * T, -1)) - np.eye(2 * T)).max() < 0.2
    assert (states_of(decoder, False) == 1).all()


def test_it_has_none_unless_asked_for():
    assert (states_of(kzoo.layers.AttentionDecoder("content"), True) == 1).all()
    with pytest.raises(InputError, match="noise must be a number from 0"):
        kzoo.layers.AttentionDecoder("content", noise=-1)


def test_a_model_trains_with_it_and_comes_back(tmp_path):
    model = kzoo.models.RecurrentSeq2Seq.from_task("copy", attention="tape", encoder_units=8, noise=0.5)
    x, y, weight = model.preprocessor([("4 7", "4 7")])
    once, again = (ops.convert_to_numpy(model(x, training=True)) for _ in range(2))
    assert np.abs(once - again).max() > 1e-3
    np.testing.assert_array_equal(ops.convert_to_numpy(model(x)), ops.convert_to_numpy(model(x)))
    model.compile(keras.optimizers.Adam(0.01))
    history = model.fit(x, y, sample_weight=weight, epochs=10, verbose=0).history
    assert history["loss"][-1] < history["loss"][0]
    model.save_to_preset(tmp_path / "noisy")
    back = kzoo.from_preset(tmp_path / "noisy")
    assert back.get_config()["noise"] == 0.5
    np.testing.assert_allclose(ops.convert_to_numpy(back(x)), ops.convert_to_numpy(model(x)), atol=1e-6)
