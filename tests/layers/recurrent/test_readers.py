"""What every reader of whole sequences holds to; and what is special about two of them."""

import keras
import numpy as np
import pytest
from keras import ops

import kzoo.layers
from kzoo import registry
from kzoo.errors import InputError
from kzoo.layers.recurrent import dnc_reader
from kzoo.saving import weights

pytestmark = pytest.mark.usefixtures("quick_compiler")
READERS = sorted(registry.classes("reader"))
SIZES = {"LSTMReader": {"layers": 2}, "BidirectionalLSTMReader": {"layers": 2}, "DNCReader": {"cells": 5, "heads": 2}}


def make(name, seed=1):
    reader = registry.get("reader", {"class": name, "config": {"units": 4, **SIZES.get(name, {})}})
    reader.build((None, None, 3))
    rng = np.random.default_rng(seed)
    for variable in reader.trainable_variables:
        variable.assign(rng.normal(size=variable.shape, scale=0.5).astype("float32"))
    return reader


def inputs(lengths=(6, 3, 1), width=None):
    mask = np.arange(width or max(lengths)) < np.array(lengths)[:, None]
    sequence = np.full((*mask.shape, 3), 9.0, "float32")
    sequence[mask] = np.random.default_rng(0).normal(size=(mask.sum(), 3))
    return sequence, mask


def read(reader, sequence, mask):
    return ops.convert_to_numpy(reader(ops.convert_to_tensor(sequence), mask))


@pytest.mark.parametrize("name", READERS)
def test_padding_and_batching_change_nothing(name):
    reader, (sequence, mask) = make(name), inputs()
    found = read(reader, sequence, mask)
    assert found.shape == (3, *reader.compute_output_shape((3, 6, 3))[1:]) and np.isfinite(found).all()
    np.testing.assert_allclose(read(reader, *inputs(width=9)), found, atol=1e-5)
    np.testing.assert_allclose(read(reader, sequence[1:2, :3], mask[1:2, :3])[0], found[1], atol=1e-5)
    assert np.isfinite(read(reader, *inputs((24, 12, 4)))).all()


@pytest.mark.parametrize("name", READERS)
def test_the_states_of_all_tokens(name):
    reader, (sequence, mask) = make(name), inputs()
    states = ops.convert_to_numpy(reader.states(ops.convert_to_tensor(sequence), mask))
    assert states.shape == (3, 6, *reader.compute_output_shape((3, 6, 3))[1:])
    last = states[np.arange(3), mask.sum(axis=1) - 1]
    if name == "BidirectionalLSTMReader":  # which gives the backward state of the first token
        last[:, 4:] = states[:, 0, 4:]
    np.testing.assert_allclose(last, read(reader, sequence, mask), atol=1e-6)
    shorter = ops.convert_to_numpy(reader.states(ops.convert_to_tensor(sequence[:, :2]), mask[:, :2]))
    if name not in ("BidirectionalLSTMReader", "NeuralGPUReader", "RewritingReader"):  # the others see what was before
        np.testing.assert_allclose(shorter[:2], states[:2, :2], atol=1e-5)


@pytest.mark.parametrize("mixer", ["dot_product", "canon", "path", "geometric", "delta_product"])
def test_whatever_mixes_sees_no_token_behind(mixer):
    keras.utils.set_random_seed(0)
    reader, (sequence, mask) = kzoo.layers.MixerReader(8, mixer=mixer, heads=2), inputs((6, 6))
    reader.build((None, None, 3))
    other = sequence.copy()
    other[:, 4:] += 1.0
    found, changed = (ops.convert_to_numpy(reader.states(ops.convert_to_tensor(x), mask)) for x in (sequence, other))
    np.testing.assert_allclose(found[:, :4], changed[:, :4], atol=1e-5)
    assert np.abs(found[:, 4:] - changed[:, 4:]).max() > 1e-3


@pytest.mark.parametrize("name", READERS)
def test_config_and_weights_come_back(name, tmp_path):
    reader = make(name)
    weights.save_weights(reader, tmp_path / "reader.safetensors")
    copy = registry.get("reader", registry.serialize(reader))
    copy.build((None, None, 3))
    weights.load_weights(copy, tmp_path / "reader.safetensors")
    assert registry.serialize(copy) == registry.serialize(reader)
    np.testing.assert_array_equal(read(copy, *inputs()), read(reader, *inputs()))


def test_the_last_layer_answers_in_both_directions():
    reader, (sequence, mask) = make("BidirectionalLSTMReader"), inputs((5,))
    first, last = reader.stack
    between = ops.concatenate(first(sequence, mask), axis=-1)
    forward = last.forward_lstm(between)[:, -1]
    backward = last.backward_lstm(ops.flip(between, axis=1))[:, -1]
    expected = ops.convert_to_numpy(ops.concatenate([forward, backward], axis=-1))
    np.testing.assert_allclose(read(reader, sequence, mask), expected, atol=1e-6)


def test_the_least_used_cell_is_written_first():
    usage = np.array([[0.9, 0.2, 0.5, 0.2, 1.0]], "float32")
    found = ops.convert_to_numpy(dnc_reader.allocation(ops.convert_to_tensor(usage)))[0]
    left, expected = 1.0, np.zeros(5)
    for cell in np.argsort(usage[0], kind="stable"):
        expected[cell] = (1 - usage[0, cell]) * left
        left *= usage[0, cell]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    np.testing.assert_allclose(ops.convert_to_numpy(dnc_reader.allocation(ops.zeros((1, 3))))[0], [1, 0, 0], atol=1e-5)


def test_a_walk_follows_the_order_of_writing():
    links = np.zeros((1, 3, 3), "float32")
    links[0, 2, 0] = 1.0  # cell 2 was written after cell 0
    read_weights = np.array([[[1.0, 0.0, 0.0]]], "float32")
    forward = ops.matmul(ops.convert_to_tensor(read_weights), ops.swapaxes(ops.convert_to_tensor(links), 1, 2))
    sharp = ops.convert_to_numpy(dnc_reader.sharpen(forward, ops.zeros((1, 1, 1))))
    np.testing.assert_allclose(sharp[0, 0], [0, 0, 1], atol=1e-4)


def test_a_cell_holds_what_was_written():
    reader = make("DNCReader")
    state = {name: ops.zeros((1, *shape)) for name, shape in {
        "hidden": (4,), "cell": (4,), "memory": (5, 4), "links": (5, 5), "usage": (5,), "write": (5,),
        "precedence": (5,), "read": (2, 5), "vectors": (2, 4),
    }.items()}  # fmt: skip
    for t in range(4):
        state, _ = reader.step(state, ops.convert_to_tensor(inputs((4,))[0][:, t]))
        for name in ("usage", "write", "precedence", "read"):
            values = ops.convert_to_numpy(state[name])
            assert (values >= -1e-6).all() and (values <= 1 + 1e-5).all(), name
        assert (ops.convert_to_numpy(state["links"])[0].diagonal() == 0).all()
        np.testing.assert_allclose(ops.convert_to_numpy(state["read"]).sum(axis=-1), 1, atol=1e-4)
    assert kzoo.layers.DNCReader is type(reader)


def test_dropout_without_a_second_layer_is_refused():
    with pytest.raises(InputError, match="dropout=0.1 does not apply: it is between layers, and there is one"):
        kzoo.layers.LSTMReader(units=4, layers=1, dropout=0.1)
    assert kzoo.layers.LSTMReader(units=4, layers=2, dropout=0.1).get_config()["dropout"] == 0.1


def test_noise_is_added_to_the_cell_before_each_step():
    keras.utils.set_random_seed(0)
    reader = kzoo.layers.LSTMReader(64, noise=0.3)
    sequence, mask = np.zeros((40, 2, 3), "float32"), np.ones((40, 2), bool)
    reader.build((None, None, 3))
    for variable in reader.trainable_variables:  # all gates are a half, and h_t = tanh(c_t) / 2
        variable.assign(ops.zeros(variable.shape))
    found = ops.convert_to_numpy(reader.states(ops.convert_to_tensor(sequence), mask, training=True))
    cells = np.arctanh(2 * found)
    added = np.stack([2 * cells[:, 0], 2 * cells[:, 1] - cells[:, 0]])  # of c_t = (c_(t-1) + noise) / 2
    assert abs(added.mean()) < 0.02 and np.allclose(added.std(axis=(1, 2)), 0.3, atol=0.02)
    assert abs(np.corrcoef(added[0].ravel(), added[1].ravel())[0, 1]) < 0.05  # each step has its own
    assert not ops.convert_to_numpy(reader.states(ops.convert_to_tensor(sequence), mask)).any()


@pytest.mark.parametrize("name", ["LSTMReader", "BidirectionalLSTMReader", "SecondOrderReader", "PushdownReader"])
def test_noise_is_for_training_alone(name):
    plain, (sequence, mask) = make(name), inputs()
    noisy = registry.get("reader", {"class": name, "config": {**plain.get_config(), "noise": 0.5}})
    noisy.build((None, None, 3))
    for mine, other in zip(noisy.trainable_variables, plain.trainable_variables, strict=True):
        mine.assign(other)
    np.testing.assert_allclose(read(noisy, sequence, mask), read(plain, sequence, mask), atol=1e-6)
    trained = [ops.convert_to_numpy(noisy(ops.convert_to_tensor(sequence), mask, training=True)) for _ in range(2)]
    assert np.abs(trained[0] - read(plain, sequence, mask)).max() > 1e-2 < np.abs(trained[0] - trained[1]).max()
