"""Recipes: what they may say."""

import json
from dataclasses import replace

import pytest

from kzoo.errors import InputError, PresetError, UnknownNameError
from kzoo.saving.catalogue import RECIPE, RUN, list_presets, names_of
from kzoo.saving.files import read_json, sha256
from kzoo.saving.preset import Preset
from kzoo.saving.save import write_metadata
from kzoo.saving.weights import weights_sha256
from kzoo.training.build import build
from kzoo.training.recipe import Recipe, load_recipe


def test_a_recipe_is_written_as_it_was_read(config):
    recipe = Recipe.from_config(config)
    assert recipe.to_config() == {
        "format": 2,
        "task": "recopy",
        "task_version": 1,
        "mechanism": None,
        "supervision": None,
        "model": config["model"],
        "stages": [
            {
                "budget": {"epochs": 3},
                "data": {"examples": 64, "batch_size": 16},
                "optimizer": {"learning_rate": 0.01, "schedule": "cosine", "warmup_steps": 4},
                "selection": {"watch": [3]},
            }
        ],
        "evaluation": config["evaluation"],
    }
    assert Recipe.from_config(recipe.to_config()) == recipe
    assert Recipe.from_config(json.loads(json.dumps(recipe.to_config()))) == recipe


def test_what_is_left_out_has_a_default():
    recipe = Recipe.from_config({"task": "recopy", "model": {"class": "RecurrentSeq2Seq"}, "epochs": 1})
    (stage,) = recipe.stages
    found = (recipe.seed, stage.data.batch_size, stage.selection.by, stage.optimizer.schedule)
    assert found == (0, 32, "validation", "constant")


BAD = {
    "unknown key": ({"epoch": 3}, r"unknown key of a recipe 'epoch'; did you mean 'epochs'"),
    "unknown task": ({"task": "recpy"}, r"unknown task 'recpy'; did you mean 'recopy'"),
    "task version": ({"task_version": 99}, "the recipe is for version 99 of recopy; this is 1"),
    "format": ({"format": 3}, "format must be 2, or 1, not 3"),
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
    "start": ({"start": 3}, "init_from must name a preset"),
    "seed": ({"seed": -1}, "seed must be an integer from 0"),
    "patience": ({"patience": 0}, "patience must be an integer from 1"),
    "patience without selection": ({"patience": 3, "selection": "last"}, "need the selection"),
    "plateau without selection": (
        {"schedule": "plateau", "warmup_steps": 0, "selection": "last"},
        "need the selection",
    ),
    "average without selection": ({"ema_momentum": 0.9}, 'ema_momentum needs the selection "last"'),
    "average": ({"ema_momentum": 2, "selection": "last"}, "ema_momentum must be a number from 0 to 1"),
    "warm-up of a constant rate": ({"schedule": "constant"}, "warmup_steps are for the schedule"),
    "watch": ({"watch": [0]}, "a length of watch must be an integer from 1"),
    "watch a number": ({"watch": 3}, "the lengths of watch must be a list"),
    "weight decay": ({"weight_decay": -0.1}, "weight_decay must be a number"),
    "steps": ({"steps_per_epoch": 0}, "steps_per_epoch must be an integer from 1"),
    "fresh without steps": ({"fresh": True, "examples": None}, "fresh examples need steps_per_epoch"),
    "fresh with examples": ({"fresh": True, "steps_per_epoch": 3, "examples": 3}, "and no number of examples"),
    "lengths": ({"lengths": "like"}, "unknown sampling 'like'"),
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


STAGE = {"budget": {"epochs": 2}}
TWO = {
    "format": 2,
    "task": "recopy",
    "mechanism": "content",
    "supervision": [],
    "model": {"class": "RecurrentSeq2Seq", "config": {"encoder_units": 5}},
    "stages": [{**STAGE, "model": {"encoder_units": 4}}, {**STAGE, "seed": 7}, STAGE],
    "seed": 3,
}


def test_stages_have_their_own_seed_and_model():
    recipe = Recipe.from_config(TWO)
    assert recipe.to_config() == {**TWO, "task_version": 1} and Recipe.from_config(recipe.to_config()) == recipe
    assert [recipe.stage_seed(k) for k in range(3)] == [3, 7, 5]
    assert [recipe.model_config(k)["encoder_units"] for k in range(3)] == [4, 5, 5]
    assert recipe.with_seed(0).stage_seed(2) == 2 and recipe.seed == 3


BAD_STAGES = {
    "old key": ({"epochs": 3}, "unknown key of a recipe 'epochs'"),
    "no supervision": ({"supervision": ...}, "a recipe needs supervision"),
    "no stages": ({"stages": []}, "RecurrentSeq2Seq is trained, so it needs stages"),
    "stages no list": ({"stages": STAGE}, "stages must be a list"),
    "stage no mapping": ({"stages": [3]}, "a stage must be a mapping"),
    "no budget": ({"stages": [STAGE, {}]}, "stage 2: a stage needs budget"),
    "budget no mapping": ({"stages": [{"budget": 3}]}, "budget must be a mapping"),
    "no epochs": ({"stages": [{"budget": {}}]}, "budget needs epochs"),
    "unknown part": ({"stages": [{**STAGE, "optimiser": {}}]}, "unknown key of a stage 'optimiser'; did you mean"),
    "unknown option": ({"stages": [{**STAGE, "data": {"lengths": 1}}]}, "unknown key of data 'lengths'"),
    "bad option": ({"stages": [STAGE, {"budget": {"epochs": 0}}]}, "stage 2: epochs must be an integer from 1"),
    "bad seed": ({"stages": [{**STAGE, "seed": -1}]}, "the seed of a stage must be an integer"),
    "bad model": ({"stages": [{**STAGE, "model": []}]}, "the model of a stage must be a mapping"),
    "vocabulary": ({"stages": [{**STAGE, "model": {"preprocessor": {}}}]}, "without the vocabulary"),
    "dtype": ({"model": {**TWO["model"], "config": {"dtype": "float16"}}}, "the config of model may not set 'dtype'"),
    "name": (
        {"stages": [{**STAGE, "model": {"attention": {"class": "x", "config": {"name": "a"}}}}]},
        "not set 'name'",
    ),
    "trainable": ({"model": {**TWO["model"], "config": {"trainable": False}}}, "may not set 'trainable'"),
    "split": ({"stages": [{**STAGE, "data": {"split": "trian"}}]}, "unknown split of recopy 'trian'"),
    "mechanism": ({"mechanism": "On Step"}, "mechanism must be a word of small letters"),
    "supervision no list": ({"supervision": "none"}, "supervision must be a list, empty where there was none"),
    "supervision": ({"supervision": ["gold atention"]}, "unknown supervision 'gold atention'; did you mean"),
    "supervision twice": ({"supervision": ["longer inputs"] * 2}, "supervision names a word twice"),
    "undeclared gold attention": (
        {"stages": [{**STAGE, "objective": {"attention_supervision": 1}}]},
        "supervision must declare 'gold attention', which this recipe trains with",
    ),
    "undeclared, not stated": (
        {"stages": [STAGE, {**STAGE, "objective": {"intermediate": True}}], "supervision": None},
        "supervision must declare 'intermediate results'",
    ),
    "precision": ({"stages": [{**STAGE, "precision": "float16"}]}, "unknown precision 'float16'; did you mean"),
    "hold": ({"stages": [{**STAGE, "objective": {"hold": 0}}]}, "hold must be an integer from 1 to 10000, not 0"),
    "undeclared length": ({"stages": [{**STAGE, "selection": {"length": 11}}]}, "must declare 'longer inputs'"),
    "undeclared alignment": ({"layout": {"aligned": True}}, "must declare 'built-in alignment'"),
    "undeclared construction": (
        {"task": "sorter", "model": {"class": "construct_sorter"}, "stages": []},
        "must declare 'constructed'",
    ),
}


@pytest.mark.parametrize("case", BAD_STAGES)
def test_a_bad_stage_is_one_sentence(case):
    change, message = BAD_STAGES[case]
    config = {key: value for key, value in {**TWO, **change}.items() if value is not ...}
    with pytest.raises(InputError, match=message) as error:
        Recipe.from_config(config)
    assert "\n" not in str(error.value)


def test_supervision_of_format_1_is_what_it_implies(config):
    assert Recipe.from_config(config).supervision is None
    assert Recipe.from_config({**config, "attention_supervision": 1}).supervision == ("gold attention",)
    assert Recipe.from_config({**config, "selection_length": 11}).supervision == ("longer inputs",)
    assert Recipe.from_config({**config, "selection_length": 10}).supervision is None


@pytest.mark.parametrize("name", list_presets())
def test_bundled_presets_state_mechanism_and_supervision(name):
    recipe = load_recipe(name)
    assert recipe.mechanism and recipe.supervision is not None
    assert recipe.to_config() == read_json(Preset.find(name).folder / "recipe.json")


@pytest.mark.parametrize(
    "model, objective",
    [("TransformerDecoder", "attention_supervision"), ("RecurrentSeq2Seq", "intermediate")],
)
def test_a_model_is_trained_on_what_it_can_be(model, objective, config):
    recipe = Recipe.from_config({**config, "model": {"class": model}, objective: True if "inter" in objective else 1})
    with pytest.raises(InputError, match=f"a {model} cannot be trained with the objective {objective}"):
        build(recipe)


@pytest.mark.parametrize("key", ["task", "model", "epochs"])
def test_what_is_needed_is_named(key, config):
    del config[key]
    with pytest.raises(InputError, match=f"a recipe needs {key}"):
        Recipe.from_config(config)


def test_recipes_come_from_files_and_presets(config, own_preset, tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps(config))
    (own_preset / "recipe.json").write_text(json.dumps(config))
    assert load_recipe(tmp_path / "mine.json") == load_recipe(own_preset) == Recipe.from_config(config)


# Hundreds: on every backend test_parity.py builds the presets, and test_board.py one of each mechanism compared.
@pytest.mark.once
@pytest.mark.parametrize("name", names_of(RUN, RECIPE))
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


def test_the_supervision_of_the_first_weights_is_declared_too(config, own_preset):
    write_metadata(own_preset, read_json(own_preset / "metadata.json") | {"supervision": ["gold attention"]})
    model = {"class": "RecurrentSeq2Seq", "config": {"embedding_units": 6, "encoder_units": 5}}
    recipe = Recipe.from_config({**config, "model": model, "start": str(own_preset)})
    assert build(recipe).encoder_units == 5  # not stated
    assert build(replace(recipe, supervision=("gold attention",))).encoder_units == 5
    with pytest.raises(InputError, match="supervision must declare 'gold attention', which .* was trained with"):
        build(replace(recipe, supervision=()))


def test_a_preset_without_recipe_says_so(own_preset):
    with pytest.raises(PresetError, match=r"recipe\.json is missing"):
        load_recipe(own_preset)
