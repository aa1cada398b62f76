"""What every attention cell of the registry holds to, whoever wrote it: new ones are tested by being registered."""

import keras
import numpy as np
import pytest
from keras import ops

import kzoo.layers
from kzoo import registry
from kzoo.saving import weights

PARTS = {  # for the classes that cannot be made without
    "DirectionMix": {"attention": "RelativeAttention"},
    "MixAttention": {"content": "ContentAttention", "location": "LocationAttention"},
}


def resolved(name):
    return str(registry.resolve("attention", {"class": name, "config": PARTS.get(name, {})}))


# Every name of the registry; of those that stand for the same thing, as a class and its plain alias, one.
NAMES = sorted({resolved(name): name for name in registry.names("attention")}.values())


def make(name, **config):
    config = {**PARTS.get(name, {}), "units": 4, "value_units": 7, **config}
    return registry.get("attention", {"class": name, "config": config})


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def cell(name, attend):
    """A cell of each name, which no test changes."""
    return attend.build(make(name))


@pytest.fixture(scope="module")
def run(cell, attend):
    """Runs that cell, compiled once for each shape of its inputs."""
    return attend.compiled(cell)


def test_shapes_masks_and_states(run, attend):
    memory, mask, summary, queries = attend.inputs()
    contexts, found, states = run(memory, mask, summary, queries)
    found = ops.convert_to_numpy(found)
    assert contexts.shape == (3, 3, 6) and found.shape == (3, 3, 5)
    assert np.isfinite(ops.convert_to_numpy(contexts)).all()
    assert (found >= 0).all() and (found[:, ~mask] == 0).all()  # the last row has length 1
    np.testing.assert_allclose(found.sum(axis=-1), 1, atol=1e-5)
    structures = [{key: (value.shape, value.dtype) for key, value in state.items()} for state in states]
    assert all(structure == structures[0] for structure in structures)
    assert all(value.shape[0] == 3 and value.ndim <= 2 for value in states[0].values())


def test_padding_and_batching_change_nothing(run, attend):
    memory, mask, summary, queries = attend.inputs()
    contexts, found, states = attend.arrays(run(memory, mask, summary, queries))

    wider = np.full((3, 20, 6), 9.0, "float32")
    padded = np.zeros((3, 20), bool)
    wider[:, :5][mask], padded[:, :5] = memory[mask], mask
    wide_contexts, wide_weights, wide_states = attend.arrays(run(wider, padded, summary, queries))
    np.testing.assert_allclose(wide_contexts, contexts, atol=1e-6)
    np.testing.assert_allclose(wide_weights[:, :, :5], found, atol=1e-6)

    one = run(memory[1:2, :3], mask[1:2, :3], summary[1:2], queries[:, 1:2])
    alone, alone_weights, alone_states = attend.arrays(one)
    np.testing.assert_allclose(alone, contexts[:, 1:2], atol=1e-6)
    np.testing.assert_allclose(alone_weights, found[:, 1:2, :3], atol=1e-6)
    for key, value in states.items():
        wide, last = wide_states[key], alone_states[key]
        if value.shape == mask.shape:  # one number a position: more pads are more zeros
            assert (wide[:, 5:] == 0).all() and (value[~mask] == 0).all()
            wide, last = wide[:, :5], np.pad(last, ((0, 0), (0, 2)))
        np.testing.assert_allclose(wide, value, atol=1e-6)
        np.testing.assert_allclose(last, value[1:2], atol=1e-6)


def test_four_times_the_length(run, attend):
    memory, mask, summary, queries = attend.inputs(lengths=(20, 12, 4))
    contexts, found, _ = attend.arrays(run(memory, mask, summary, queries))
    assert np.isfinite(contexts).all() and (found[:, ~mask] == 0).all()
    np.testing.assert_allclose(found.sum(axis=-1), 1, atol=1e-5)


def test_every_weight_has_a_gradient(cell, attend, gradients):
    inputs = attend.inputs()
    names = {id(variable): key for key, variable in weights.named_variables(cell).items()}
    factors = np.random.default_rng(2).normal(size=(3, 3, 6)).astype("float32")

    def loss():
        return ops.sum(attend.steps_of(cell, *inputs)[0] * ops.convert_to_tensor(factors))

    for variable, gradient in zip(cell.trainable_variables, gradients(cell.trainable_variables, loss), strict=True):
        assert gradient is not None and np.isfinite(gradient).all(), names[id(variable)]
        assert np.abs(gradient).max() > 0, names[id(variable)]


def test_config_and_weights_come_back(cell, run, attend, tmp_path):
    weights.save_weights(cell, tmp_path / "cell.safetensors")
    config = registry.serialize(cell)
    copy = attend.build(registry.get("attention", config), seed=9)
    assert type(copy) is type(cell) and registry.serialize(copy) == config
    weights.load_weights(copy, tmp_path / "cell.safetensors")
    inputs = attend.inputs()
    for one, other in zip(attend.arrays(run(*inputs))[:2], attend(copy, *inputs)[:2], strict=True):
        np.testing.assert_array_equal(one, other)


def test_weights_and_states_are_float32_in_mixed_precision(name, attend):
    cell = attend.build(make(name, dtype="mixed_bfloat16"))
    parts = [layer for layer in cell._flatten_layers() if isinstance(layer, kzoo.layers.AttentionCell)]
    assert all(part.dtype_policy.name == "mixed_bfloat16" for part in parts)
    memory, mask, summary, queries = attend.inputs()
    half = [ops.cast(x, "bfloat16") for x in (memory, summary, queries)]
    contexts, found, states = attend.steps_of(cell, half[0], mask, half[1], half[2])
    assert keras.backend.standardize_dtype(contexts.dtype) == "bfloat16"
    kept = [found, *states[0].values(), *states[-1].values()]
    assert {keras.backend.standardize_dtype(x.dtype) for x in kept} == {"float32"}
    assert all(keras.backend.standardize_dtype(variable.dtype) == "float32" for variable in cell.trainable_variables)


@pytest.mark.parametrize("name", registry.classes("attention"))
def test_the_compiled_scan_is_the_loop(name, attend):
    decoder = kzoo.layers.AttentionDecoder(make(name))
    decoder.build((None, None, 2), (None, None, 6))

    def scan_and_loop(inputs, memory, mask, summary):
        hidden, trace = decoder(inputs, memory, mask, summary)
        prepared, state = decoder.start(memory, mask, summary)
        looped = []
        for t in range(2):
            state, found = decoder.step(inputs[:, t], prepared, state)
            looped.append({**state, "weights": found})
        return {**trace, "hidden": hidden}, looped

    memory, mask, summary, _ = attend.inputs()
    inputs = np.random.default_rng(3).normal(size=(3, 2, 2)).astype("float32")
    scanned, looped = compiled(scan_and_loop)(inputs, memory, mask, summary)
    for t, step in enumerate(looped):
        assert scanned.keys() == step.keys()
        for key, value in step.items():
            np.testing.assert_allclose(
                ops.convert_to_numpy(scanned[key])[:, t], ops.convert_to_numpy(value), atol=1e-5, err_msg=key
            )


def compiled(function):
    """Returns a function of inputs, memory, mask and summary compiled by the backend, on TensorFlow for any sizes."""
    if keras.config.backend() == "jax":
        import jax

        return jax.jit(function)
    if keras.config.backend() == "tensorflow":
        import tensorflow as tf

        shapes = [(None, None, 2), (None, None, 6), (None, None), (None, 6)]
        dtypes = ["float32", "float32", "bool", "float32"]
        signature = [tf.TensorSpec(shape, dtype) for shape, dtype in zip(shapes, dtypes, strict=True)]
        return tf.function(function, input_signature=signature)
    return lambda *inputs: function(*map(ops.convert_to_tensor, inputs))
