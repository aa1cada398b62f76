"""What every block, and every depth around it, holds to: new ones are tested by being registered."""

import inspect

import keras
import numpy as np
import pytest
from keras import ops

import kzoo.layers
from kzoo import registry
from kzoo.saving import weights

pytestmark = pytest.mark.usefixtures("quick_compiler")

KINDS = ("position", "bias", "weighting", "encoding", "multi_head", "block", "depth")
BLOCKS = sorted({*registry.names("block")} - {"CopyGate"})  # which needs a block
DEPTHS = sorted(registry.classes("depth"))
SIZES = {"heads": 3, "hidden_units": 10}


def make(name, **config):
    return registry.get("block", {"class": name, "config": {**SIZES, **config}})


def run(layer, states, mask, **arguments):
    """Returns the states and the trace, as NumPy arrays."""
    found, trace = layer(ops.convert_to_tensor(states), mask, **arguments)
    return ops.convert_to_numpy(found), {key: ops.convert_to_numpy(value) for key, value in trace.items()}


@pytest.mark.parametrize("name", BLOCKS)
def test_shapes_and_masks(name, randomize, padded):
    states, mask = padded()
    found, trace = run(randomize(make(name)), states, mask)
    assert found.shape == (3, 5, 12) and np.isfinite(found).all()
    assert trace["weights"].shape == (3, 3, 5, 5)
    assert (np.moveaxis(trace["weights"], 3, 1)[~mask] == 0).all() and (trace["weights"] >= 0).all()
    assert (trace["weights"].sum(axis=-1) <= 1 + 1e-5).all()


@pytest.mark.parametrize("name", BLOCKS)
def test_padding_and_batching_change_nothing(name, randomize, padded):
    block = randomize(make(name))
    states, mask = padded()
    found, _ = run(block, states, mask)
    wide, _ = run(block, *padded(width=20))
    np.testing.assert_allclose(wide[:, :5][mask], found[mask], atol=1e-5)
    alone, _ = run(block, states[1:2, :3], mask[1:2, :3])
    np.testing.assert_allclose(alone[0], found[1, :3], atol=1e-5)


@pytest.mark.parametrize("name", BLOCKS)
def test_four_times_the_length(name, randomize, padded):
    found, trace = run(randomize(make(name)), *padded(lengths=(20, 12, 4)))
    assert np.isfinite(found).all() and np.isfinite(trace["weights"]).all()


@pytest.mark.parametrize("name", BLOCKS)
def test_every_weight_has_a_gradient(name, randomize, padded, weight_gradients):
    block = randomize(make(name))
    states, mask = padded()
    names = {id(variable): key for key, variable in weights.named_variables(block).items()}
    factors = np.random.default_rng(2).normal(size=(3, 5, 12)) * mask[:, :, None]

    def loss():
        return ops.sum(block(ops.convert_to_tensor(states), mask)[0] * ops.convert_to_tensor(factors.astype("float32")))

    for variable, gradient in zip(block.trainable_variables, weight_gradients(block, loss), strict=True):
        assert np.isfinite(gradient).all() and np.abs(gradient).max() > 0, names[id(variable)]


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("name", ["ndr", "rel"])
def test_config_and_weights_come_back(name, depth, randomize, padded, tmp_path):
    block = make(name, dropout=0.2)
    layer = randomize(registry.get("depth", depth, block=block, steps=3, inference_steps=4))
    weights.save_weights(layer, tmp_path / "layer.safetensors")
    config = registry.serialize(layer)
    copy = randomize(registry.get("depth", config), seed=9)
    assert type(copy) is type(layer) and registry.serialize(copy) == config
    weights.load_weights(copy, tmp_path / "layer.safetensors")
    for one, other in zip(*(run(x, *padded(), trace=True)[1].values() for x in (layer, copy)), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("depth", DEPTHS)
def test_steps_at_call(depth, randomize, padded):
    layer = randomize(registry.get("depth", depth, block=make("ndr"), steps=2, inference_steps=3))
    states, mask = padded()
    for number, arguments in ((3, {}), (2, {"training": True}), (7, {"steps": 7})):
        found, trace = run(layer, states, mask, trace=True, **arguments)
        assert found.shape == states.shape and trace["gates"].shape == (number, 3, 5, 12)
    layer.inference_steps = 1
    assert run(layer, states, mask, trace=True)[1]["weights"].shape == (1, 3, 3, 5, 5)
    assert run(layer, states, mask)[1] == {}
    found, trace = run(layer, states, mask, steps=3, every_step=True)
    assert set(trace) == {"states"} and trace["states"].shape == (3, *states.shape)
    np.testing.assert_allclose(trace["states"][-1][mask], found[mask], atol=1e-6)
    with pytest.raises(kzoo.errors.InputError, match="steps must be an integer from 1"):
        layer(states, mask, steps=0)


@pytest.mark.parametrize("name", BLOCKS)
def test_mixed_precision(name, padded):
    layer = kzoo.layers.SharedDepth(make(name, dtype="mixed_bfloat16"), steps=2, dtype="mixed_bfloat16")
    states, mask = padded()
    found, trace = layer(states, mask, trace=True)
    assert keras.backend.standardize_dtype(found.dtype) == "bfloat16"
    assert keras.backend.standardize_dtype(trace["weights"].dtype) == "float32"
    assert {keras.backend.standardize_dtype(v.dtype) for v in layer.trainable_variables} == {"float32"}


@pytest.mark.parametrize("kind", KINDS)
def test_every_part_has_an_example(kind):
    for name, cls in registry.classes(kind).items():
        assert getattr(kzoo.layers, name) is cls
        assert "```python" in (inspect.getdoc(cls) or ""), name
