"""A recipe whose model gets its biases from a trained one."""

import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.saving.files import read_json
from kzoo.training.build import build
from kzoo.training.recipe import Recipe
from kzoo.training.train import train

CONFIG = {
    "task": "successor",
    "model": {"class": "TransformerSeq2Seq", "config": {"units": 8, "heads": 2, "layers": 1}},
    "layout": {"digits": 7},
    "epochs": 1,
    "batch_size": 16,
    "fresh": True,
    "steps_per_epoch": 2,
    "selection": "last",
    "evaluation": {"lengths": [10], "examples": 4},
}
CALIBRATION = {"examples": 100, "cross_kappa": 2.0, "cross_directions": ["anti_diagonal"]}


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """The preset of a first stage, whose heads look along known lines."""
    bias = {"class": "CalibratedBias", "config": {"lines": [[[-1, 0, -1, 0.0]], [[-1, 0, 0, 0.0]]]}}
    layout = {"digits": 7}
    model = kzoo.models.TransformerSeq2Seq.from_task("successor", layout=layout, units=8, heads=2, cross_bias=bias)
    folder = tmp_path_factory.mktemp("stages") / "first_successor"
    model.save_to_preset(folder)
    return str(folder)


@pytest.mark.once
def test_the_second_stage(first, tmp_path):
    recipe = Recipe.from_config({**CONFIG, "calibration": {"preset": first, **CALIBRATION}})
    folder = train(recipe, tmp_path / "abc_successor")
    config = read_json(folder / "config.json")["config"]
    assert config["cross_bias"]["config"]["lines"] == [[[-1, 0, -1, 0.0]], [[-1, 0, 0, 0.0]]]
    assert config["self_bias"]["class"] == "CalibratedBias" and config["encoding"] is None
    assert read_json(folder / "recipe.json") == recipe.to_config()
    model = kzoo.from_preset(folder)  # which needs the first stage no more
    assert model.preprocessor.digits == 7 and len(model.generate("9" * 30)) <= 32
    assert build(recipe).get_config()["cross_bias"] == config["cross_bias"]


@pytest.mark.parametrize(
    "change, message",
    [
        ({"layout": {"digit": 7}}, "layout may have digits, aligned, running, filled and behind, and nothing else"),
        ({"calibration": {"examples": 100}}, "calibration must name a preset"),
        (
            {"calibration": {"preset": "x"}, "model": {**CONFIG["model"], "config": {"self_bias": "windowed"}}},
            "the biases come from the calibration",
        ),
    ],
)
def test_a_bad_recipe_is_one_sentence(change, message):
    with pytest.raises(InputError, match=message):
        Recipe.from_config({**CONFIG, **change})


def test_unknown_arguments_of_the_calibration(first):
    recipe = Recipe.from_config({**CONFIG, "calibration": {"preset": first, "kappas": 3}})
    with pytest.raises(InputError, match="calibration has unknown arguments: kappas"):
        build(recipe)


@pytest.mark.parametrize("key, value", [("layout", {"digits": 7}), ("calibration", {"preset": "x"})])
def test_a_model_without_calculations_refuses_them(key, value):
    recipe = Recipe.from_config({**CONFIG, "layout": {}, "model": {"class": "RecurrentSeq2Seq"}, key: value})
    with pytest.raises(InputError, match=f"a RecurrentSeq2Seq has no {key}"):
        build(recipe)
