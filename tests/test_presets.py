"""Every bundled preset is whole, is what its recipe makes, and is as good as it says."""

import math

import pytest

import kzoo
from kzoo.cards.card import render_card
from kzoo.saving import catalogue
from kzoo.saving.files import sha256
from kzoo.saving.preset import Preset
from kzoo.training.build import build
from kzoo.training.recipe import load_recipe

pytestmark = pytest.mark.once  # test_parity.py shows that the other backends give the same
PARTS = {"config", "tokenizer", "metadata", "recipe", "results"}
N = 50


def marked(names):
    """Returns the presets as parameters: one of each class of models as it is, all others behind a marker."""
    classes = {name: Preset.find(name).config["class"] for name in names}
    first = {cls: name for name, cls in reversed(classes.items())}.values()
    return [name if name in first else pytest.param(name, marks=pytest.mark.all_presets) for name in names]


PRESETS = marked(kzoo.list_presets())


def test_there_are_presets():
    assert "onestep_recopy" in kzoo.list_presets()  # without any, every test here would vanish


@pytest.mark.parametrize("name", PRESETS)
def test_the_folder_is_complete(name):
    preset = Preset.find(name)
    folder = preset.folder
    assert {path.name for path in folder.iterdir()} == {f"{part}.json" for part in PARTS} | {"model.safetensors"}
    metadata = preset.metadata
    assert name == f"{preset.mechanism}_{preset.task}" and preset.supervision is not None
    assert metadata["license"] == "apache-2.0" and metadata["paper"]
    assert preset.tokenizer.get("characters", False) == kzoo.tasks.get(preset.task).characters


@pytest.mark.parametrize("name", PRESETS)
def test_the_results_belong_to_the_weights(name):
    preset = Preset.find(name)
    folder, results, own = preset.folder, preset.results, preset.rows
    task = kzoo.tasks.get(preset.task)
    assert set(task.test_lengths) <= {row["length"] for row in own if row["metric"] == "sequence_accuracy"}
    assert {row["weights_sha256"] for row in own} == {sha256(folder / "model.safetensors")}
    assert {(row["preset"], row["task"]) for row in results["rows"]} == {(name, task.name)}
    for row in own:
        if row["metric"] == "sequence_accuracy":  # no published number stands beside an unlike run
            assert row["paper"] == task.published.number(preset.mechanism, row["length"], preset.supervision)
    seeds = {run["seed"] for run in results["training"]}
    assert {row["training_seed"] for row in results["rows"]} == seeds
    assert {row["training_seed"] for row in own} == {load_recipe(name).seed}


def flat(config, path=()):
    """Returns the values of a config by where they stand."""
    if isinstance(config, (dict, list)) and config:
        pairs = config.items() if isinstance(config, dict) else enumerate(config)
        return {key: value for name, part in pairs for key, value in flat(part, (*path, name)).items()}
    return {path: config}


@pytest.mark.parametrize("name", PRESETS)
def test_the_recipe_makes_this_model(name):
    made, stored = (flat(m.get_config() | {"name": ""}) for m in (build(load_recipe(name)), kzoo.from_preset(name)))
    assert made.keys() == stored.keys()
    for path, value in stored.items():
        # What calibration finds is rounded to six digits, and the last one differs from machine to machine.
        found = "lines" in path and isinstance(value, float)
        assert made[path] == (pytest.approx(value, rel=0, abs=1.5e-6) if found else value), path


@pytest.mark.parametrize("name", PRESETS)
def test_the_accuracy_is_as_recorded(name):
    rows = Preset.find(name).rows
    recorded = {r["length"]: r["value"] for r in rows if r["metric"] == "sequence_accuracy"}
    short = {length: value for length, value in recorded.items() if length is not None and length <= 100}
    # The longest that is not mostly wrong tells most; a task without lengths is measured on its test split.
    solved = [length for length, value in short.items() if value >= 0.5]
    length = max(solved) if solved else min(short, default=None)
    value = recorded[length]
    report = kzoo.evaluate(name, lengths=[length], examples=N, seed=20_000)
    bound = 4 * math.sqrt(value * (1 - value) / N) + 2 / N  # four deviations, and a little for values near 1
    assert abs(report[length] - value) <= bound


@pytest.mark.parametrize("name", PRESETS)
def test_the_card_is_fresh(name, root):
    cards = root / "hub_cards"
    assert (cards / f"{name}.md").read_text() == render_card(name), f"run: kzoo card {name} --output hub_cards"
    assert sha256(Preset.find(name).folder / "results.json") in (cards / f"{name}.svg").read_text()


def one_of_each_model():
    """Returns a recorded run of each class of models and argument that is its mechanism."""
    found = {}
    for name in catalogue.names_of(catalogue.RUN):
        model = Preset.find(name).recipe["model"]
        found.setdefault((model["class"], str(sorted(model["config"]))), name)
    return list(found.values())


@pytest.mark.parametrize("name", one_of_each_model())
def test_a_recorded_run_says_how_many_parameters_its_model_has(name):
    preset = Preset.find(name)
    assert preset.parameters == build(load_recipe(name)).count_params()
    assert {run["parameters"] for run in preset.results["training"]} == {preset.parameters}
    assert "parameters" not in preset.metadata


def test_other_kinds_know_their_parameters_or_do_not():
    preset = Preset.find("onestep_recopy")
    assert preset.parameters == preset.metadata["parameters"] == kzoo.from_preset(preset).count_params()
    assert all(Preset.find(name).parameters is None for name in catalogue.names_of(catalogue.RECIPE))
