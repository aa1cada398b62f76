"""Wider models that begin as narrower ones."""

import keras
import numpy as np
import pytest

from kzoo.errors import InputError, PresetError
from kzoo.models import TransformerClassifier
from kzoo.saving.preset import from_preset
from kzoo.saving.safetensors_file import read_shapes
from kzoo.saving.weights import named_variables
from kzoo.training.build import build
from kzoo.training.recipe import Recipe
from kzoo.training.train import train
from kzoo.training.widen import is_wider


def classifier(units, hidden_units, **config):
    return {
        "class": "TransformerClassifier",
        "config": {"units": units, "hidden_units": hidden_units, "heads": 2, "steps": 3, "dropout": 0.0} | config,
    }


def preset(folder, **config):
    """Writes a small model with weights that are all random, biases and norms too."""
    model = TransformerClassifier.from_task("ctl_forward", **classifier(8, 12, **config)["config"])
    rng = np.random.default_rng(0)
    for variable in named_variables(model).values():
        variable.assign(keras.ops.convert_to_numpy(variable.value) + rng.normal(0, 0.3, variable.shape))
    model.save_to_preset(folder)
    return model


def recipe(start, model, seed=0):
    return Recipe.from_config({"task": "ctl_forward", "model": model, "start": str(start), "epochs": 1, "seed": seed})


@pytest.mark.parametrize("sizes", [(16, 24), (24, 24), (8, 36)])
@pytest.mark.parametrize("config", [{}, {"block": "transformer"}, {"block": "geometric", "depth": "act"}])
def test_it_begins_by_computing_the_same(tmp_path, sizes, config):
    narrow = preset(tmp_path / "narrow", **config)
    wide = build(recipe(tmp_path / "narrow", classifier(*sizes, **config)))
    assert wide.units == sizes[0]
    x, _, _ = wide.preprocessor([("101 d a b", "011"), ("011 a b c d e f", "011")])
    logits = keras.ops.convert_to_numpy(narrow(x))
    np.testing.assert_allclose(keras.ops.convert_to_numpy(wide(x)), logits, atol=1e-4 * abs(logits).max())


def test_a_stage_in_bfloat16_begins_by_computing_nearly_the_same(tmp_path):
    narrow = preset(tmp_path / "narrow")
    wide = build(recipe(tmp_path / "narrow", classifier(16, 24)), precision="bfloat16")
    assert wide.compute_dtype == "bfloat16"
    x, _, _ = wide.preprocessor([("101 d a b", "011"), ("011 a b c d e f", "011")])
    logits = keras.ops.convert_to_numpy(narrow(x))
    np.testing.assert_allclose(keras.ops.convert_to_numpy(wide(x)), logits, atol=0.05 * abs(logits).max())


@pytest.mark.once
def test_the_copies_learn_different_things(tmp_path):
    preset(tmp_path / "narrow")
    wide = build(recipe(tmp_path / "narrow", classifier(16, 24)))
    before = keras.ops.convert_to_numpy(wide.embedding.embeddings)
    np.testing.assert_array_equal(before[:, ::2], before[:, 1::2])
    wide.compile(keras.optimizers.SGD(0.1), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    x, y, _ = wide.preprocessor([("101 d a b", "011"), ("011 a b c d e f", "011")])
    wide.train_on_batch(x, y)
    seen = np.unique(x["token_ids"][x["padding_mask"].astype(bool)])
    moved = (keras.ops.convert_to_numpy(wide.embedding.embeddings) - before)[seen]
    apart = abs(moved[:, ::2] - moved[:, 1::2]).max(axis=1)
    assert (apart > 0.02 * abs(moved).max(axis=1)).all()


def test_the_noise_is_of_the_seed(tmp_path):
    preset(tmp_path / "narrow")
    models = [build(recipe(tmp_path / "narrow", classifier(16, 24), seed)) for seed in (0, 0, 1)]
    a, b, c = (keras.ops.convert_to_numpy(model.classes.kernel) for model in models)
    np.testing.assert_array_equal(a, b)
    assert abs(a - c).max() > 0.01


def test_what_cannot_be_widened(tmp_path):
    preset(tmp_path / "narrow", block="rel", encoding="sinusoidal")
    with pytest.raises(InputError, match="cannot be widened: its attention or positions depend on the width"):
        build(recipe(tmp_path / "narrow", classifier(16, 24, block="rel", encoding="sinusoidal")))
    for sizes in ((12, 12), (16, 18), (4, 12)):
        with pytest.raises(PresetError, match="but the model needs F32"):
            build(recipe(tmp_path / "narrow", classifier(*sizes, block="rel", encoding="sinusoidal")))


def test_a_shape_without_numbers_is_no_narrower_one(tmp_path):
    model = preset(tmp_path / "narrow")
    shapes = read_shapes(tmp_path / "narrow/model.safetensors")
    assert shapes == {name: tuple(variable.shape) for name, variable in named_variables(model).items()}
    assert not is_wider(model, shapes) and is_wider(model, shapes | {"classes.bias": (1,)})
    assert not is_wider(model, shapes | {"classes.bias": (0,)})


@pytest.mark.once
def test_a_stage_may_be_wider_than_the_one_before(tmp_path):
    wide, narrow = classifier(16, 24), {"units": 8, "hidden_units": 12}
    stage = {
        "budget": {"epochs": 1, "steps_per_epoch": 2},
        "data": {"fresh": True, "batch_size": 8},
        "optimizer": {"learning_rate": 1e-9},
        "selection": {"by": "last"},
    }
    config = {"task": "ctl_forward", "model": wide, "supervision": [], "stages": [{**stage, "model": narrow}, stage]}
    recipe = Recipe.from_config({**config, "evaluation": {"lengths": [2], "examples": 4}})
    trained = from_preset(train(recipe, tmp_path / "wide"))
    x, _, _ = trained.preprocessor([("101 d a b", "011"), ("011 a b c d e f", "011")])
    logits = keras.ops.convert_to_numpy(build(recipe, 0)(x))
    assert trained.units == 16
    np.testing.assert_allclose(keras.ops.convert_to_numpy(trained(x)), logits, atol=1e-4 * abs(logits).max())
