"""Recipes: what they may say."""

import json

import pytest

from kzoo.errors import InputError, PresetError, UnknownNameError
from kzoo.saving.catalogue import list_recipes, list_runs
from kzoo.saving.files import sha256
from kzoo.saving.weights import weights_sha256
from kzoo.training.build import build
from kzoo.training.recipe import Recipe, load_recipe


def test_a_recipe_is_written_as_it_was_read(config):
    recipe = Recipe.from_config(config)
    assert recipe.to_config().items() >= config.items()
    assert Recipe.from_config(recipe.to_config()) == recipe
    assert Recipe.from_config(json.loads(json.dumps(recipe.to_config()))) == recipe


def test_what_is_left_out_has_a_default():
    recipe = Recipe.from_config({"task": "recopy", "model": {"class": "RecurrentSeq2Seq"}, "epochs": 1})
    assert (recipe.seed, recipe.batch_size, recipe.selection, recipe.schedule) == (0, 32, "validation", "constant")


BAD = {
    "unknown key": ({"epoch": 3}, r"unknown key of a recipe 'epoch'; did you mean 'epochs'"),
    "unknown task": ({"task": "recpy"}, r"unknown task 'recpy'; did you mean 'recopy'"),
    "task version": ({"task_version": 99}, "the recipe is for version 99 of recopy; this is 1"),
    "format": ({"format": 2}, "format must be 1, not 2"),
    "model no mapping": ({"model": "RecurrentSeq2Seq"}, "model must have 'class' and 'config'"),
    "model without class": ({"model": {"config": {}}}, "model must have 'class' and 'config'"),
    "model with more": ({"model": {"class": "A", "weights": "b"}}, "model must have 'class' and 'config'"),
    "model config": ({"model": {"class": "A", "config": [1]}}, "config of model must be a mapping"),
    "model vocabulary": ({"model": {"class": "A", "config": {"vocabulary_size": 3}}}, "without the vocabulary"),
    "epochs": ({"epochs": 0}, "epochs must be an integer from 1"),
    "epochs text": ({"epochs": "3"}, "epochs must be an integer"),
    "batch size": ({"batch_size": 10**9}, "batch_size must be an integer from 1 to 65536"),
    "examples": ({"examples": 0}, "examples must be an integer from 1"),
    "learning rate": ({"learning_rate": -1.0}, "learning_rate must be a number"),
    "clip norm": ({"clip_norm": 0}, "clip_norm must be a number"),
    "schedule": ({"schedule": "cosin"}, r"unknown schedule 'cosin'; did you mean 'cosine'\?"),
    "selection": ({"selection": "best"}, "unknown selection 'best'"),
    "start": ({"start": 3}, "start must name a preset"),
    "seed": ({"seed": -1}, "seed must be an integer from 0"),
    "patience": ({"patience": 0}, "patience must be an integer from 1"),
    "patience without selection": ({"patience": 3, "selection": "last"}, "need the selection"),
    "plateau without selection": (
        {"schedule": "plateau", "warmup_steps": 0, "selection": "last"},
        "need the selection",
    ),
    "average without selection": ({"ema_momentum": 0.9}, 'ema_momentum needs the selection "last"'),
    "supervision": (
        {"model": {"class": "TransformerDecoder"}, "attention_supervision": 1},
        "attention_supervision is for a RecurrentSeq2Seq",
    ),
    "intermediate": ({"intermediate": True}, "intermediate results are for a TransformerClassifier"),
    "average": ({"ema_momentum": 2, "selection": "last"}, "ema_momentum must be a number from 0 to 1"),
    "warm-up of a constant rate": ({"schedule": "constant"}, "warmup_steps are for the schedule"),
    "watch": ({"watch": [0]}, "a length of watch must be an integer from 1"),
    "watch a number": ({"watch": 3}, "the lengths of watch must be a list"),
    "weight decay": ({"weight_decay": -0.1}, "weight_decay must be a number"),
    "steps": ({"steps_per_epoch": 0}, "steps_per_epoch must be an integer from 1"),
    "fresh without steps": ({"fresh": True, "examples": None}, "fresh examples need steps_per_epoch"),
    "fresh with examples": ({"fresh": True, "steps_per_epoch": 3, "examples": 3}, "and no number of examples"),
    "lengths": ({"lengths": "like"}, "unknown lengths 'like'"),
    "evaluation": ({"evaluation": {"n": 3}}, "evaluation may have lengths, examples and seed"),
    "evaluation lengths": ({"evaluation": {"lengths": ["15"]}}, "a length of evaluation must be an integer"),
    "evaluation examples": ({"evaluation": {"examples": 0}}, "examples of evaluation must be an integer"),
    "evaluation seed": ({"evaluation": {"seed": -1}}, "seed of evaluation must be an integer"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_recipe_is_one_sentence(case, config, tmp_path):
    change, message = BAD[case]
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps({**config, **change}))
    with pytest.raises(InputError, match=message) as error:
        load_recipe(path)
    assert "\n" not in str(error.value) and str(error.value).startswith(str(path))


@pytest.mark.parametrize("key", ["task", "model", "epochs"])
def test_what_is_needed_is_named(key, config):
    del config[key]
    with pytest.raises(InputError, match=f"a recipe needs {key}"):
        Recipe.from_config(config)


def test_recipes_come_from_files_and_presets(config, own_preset, tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps(config))
    (own_preset / "recipe.json").write_text(json.dumps(config))
    assert load_recipe(tmp_path / "mine.json") == load_recipe(own_preset) == Recipe.from_config(config)


@pytest.mark.parametrize("name", [*list_runs(), *list_recipes()])
def test_bundled_recipes_build_their_models(name):
    assert build(load_recipe(name)).count_params() > 1000


@pytest.mark.parametrize(
    "source, error, message",
    [
        ("no.json", PresetError, "there is no recipe no.json"),
        ("no/such", PresetError, "there is no recipe no/such"),
        ("nosuch", UnknownNameError, "unknown preset 'nosuch'"),
    ],
)
def test_a_missing_recipe_is_one_sentence(source, error, message):
    with pytest.raises(error, match=message):
        load_recipe(source)


def test_training_starts_from_a_preset(config, own_preset):
    model = {"class": "RecurrentSeq2Seq", "config": {"embedding_units": 6, "encoder_units": 5}}
    recipe = {**config, "model": model, "start": str(own_preset)}
    assert weights_sha256(build(Recipe.from_config(recipe))) == sha256(own_preset / "model.safetensors")
    with pytest.raises(PresetError, match="but the model needs F32"):
        build(Recipe.from_config({**recipe, "model": config["model"]}))
    with pytest.raises(InputError, match="has another vocabulary than the task"):
        build(Recipe.from_config({**recipe, "task": "lookup"}))


def test_a_preset_without_recipe_says_so(own_preset):
    with pytest.raises(PresetError, match=r"recipe\.json is missing"):
        load_recipe(own_preset)
