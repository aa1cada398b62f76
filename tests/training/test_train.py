"""From recipe to preset: whole, repeatable, and the same after a kill."""

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import keras
import numpy as np
import pytest
from safetensors.numpy import load_file

import kzoo
from kzoo.errors import InputError, PresetError, TrainingError
from kzoo.saving.files import read_json, sha256, write_json
from kzoo.tasks.base import Split
from kzoo.tasks.copying import DigitTask
from kzoo.training.batches import Drawn
from kzoo.training.build import build
from kzoo.training.recipe import Recipe
from kzoo.training.train import train

SPLITS = {"train": Split((3, 5), 10_000), "validation": Split((3, 5), 20)}
# The same in a fresh process; there it ends by SIGKILL in the middle of the given step.
TRAIN = """
import json, os, signal, sys
from kzoo.tasks.base import Split
from kzoo.tasks.copying import DigitTask
DigitTask.splits.update(train=Split((3, 5), 10_000), validation=Split((3, 5), 20))
from kzoo.training import fit
from kzoo.training.recipe import Recipe
from kzoo.training.train import train
config, output, step = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])

class Bomb(fit.Progress):
    steps = 0
    def on_train_batch_end(self, batch, logs=None):
        Bomb.steps += 1
        if Bomb.steps == step:
            os.kill(os.getpid(), signal.SIGKILL)

fit.Progress = Bomb
train(Recipe.from_config(config), output)
"""


@pytest.fixture(autouse=True)
def short_splits(monkeypatch):
    """Short examples, and few to validate on."""
    for name, split in SPLITS.items():
        monkeypatch.setitem(DigitTask.splits, name, split)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """A function that makes an unbroken run of a recipe, once, and returns its preset; read only."""
    made = {}

    def run(config):
        key = json.dumps(config)
        if key not in made:
            made[key] = train(Recipe.from_config(config), tmp_path_factory.mktemp("run") / "tiny_recopy")
        return made[key]

    return run


def without_seconds(results):
    for run in results["training"]:
        del run["seconds"]
        for row in run["history"]:
            del row["seconds"]
    return results


AVERAGED = {"selection": "last", "ema_momentum": 0.8}


def staged(config, **changes):
    """Returns a recipe of three stages, 16 steps: the second selects by validation."""
    config = Recipe.from_config(config).to_config()
    own = {"data": {"examples": 64, "batch_size": 16}, "optimizer": {"schedule": "cosine", "warmup_steps": 1}}
    last, two, one = {"by": "last"}, {"epochs": 2}, {"epochs": 1}
    stages = [
        {**own, "budget": one, "selection": last},
        {**own, "budget": two, "selection": {"examples": 10}, "model": {"dropout": 0.1}},
        {**own, "budget": one, "selection": last, "optimizer": {"ema_momentum": 0.8}, "seed": 9},
    ]
    return {**config, "supervision": [], "stages": stages, **changes}


# Steps 6 and 13 are the second step of the second stage, and the first of the third.
@pytest.mark.slow
@pytest.mark.parametrize("step", [6, pytest.param(13, marks=pytest.mark.once)])
def test_a_run_killed_in_any_stage_goes_on_to_the_same_weights(step, config, unbroken, python, tmp_path):
    config = staged(config)
    done = python(TRAIN, json.dumps(config), tmp_path / "tiny_recopy", step)
    assert done.returncode == -signal.SIGKILL, done.stderr
    notes = read_json(tmp_path / "tiny_recopy.training" / "notes.json")
    assert (notes["stage"], len(notes["finished"]), notes["epoch"]) == ((1, 1, 0) if step == 6 else (2, 2, 0))
    resumed, whole = train(Recipe.from_config(config), tmp_path / "tiny_recopy", resume=True), unbroken(config)
    assert (resumed / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    results = [without_seconds(read_json(folder / "results.json")) for folder in (resumed, whole)]
    assert results[0] == results[1]
    found = [(run["stage"], run["epoch"], run["steps"], run["seed"]) for run in results[0]["training"]]
    assert found == [(0, 1, 4, 0), (1, 2, 8, 0), (2, 1, 4, 0)]


@pytest.mark.slow
@pytest.mark.once
def test_stages_train_as_presets_that_begin_with_each_other(config, unbroken, tmp_path):
    config = staged(config)
    start = None
    for index, stage in enumerate(config["stages"]):
        model = {**config["model"], "config": {**config["model"]["config"], **stage.get("model", {})}}
        own = {**config, "model": model, "stages": [{**stage, "model": {}}], "seed": stage.get("seed", index)}
        start = train(Recipe.from_config({**own, "init_from": start}), tmp_path / f"stage_{index}")
        start = str(start)
    weights = [folder / "model.safetensors" for folder in (tmp_path / "stage_2", unbroken(config))]
    assert weights[0].read_bytes() == weights[1].read_bytes()


@pytest.mark.slow
def test_a_stage_in_bfloat16_ends_in_float32(config, unbroken):
    config = staged(config)
    (stage, *_) = config["stages"]
    whole = unbroken({**config, "stages": [stage]})
    folder = unbroken({**config, "stages": [{**stage, "precision": "bfloat16"}]})
    model = kzoo.from_preset(folder)
    assert "dtype" not in read_json(folder / "config.json")["config"] and model.compute_dtype == "float32"
    pairs = list(zip(model.get_weights(), kzoo.from_preset(whole).get_weights(), strict=True))
    assert any((a != b).any() for a, b in pairs) and all(np.abs(a - b).max() < 0.1 for a, b in pairs)


@pytest.mark.parametrize("changes", [{"selection": "validation"}, AVERAGED])
@pytest.mark.slow
@pytest.mark.once
def test_a_killed_run_goes_on_to_the_same_weights(changes, config, unbroken, python, tmp_path):
    config |= changes
    done = python(TRAIN, json.dumps(config), tmp_path / "tiny_recopy", 6)  # the second step of the second epoch
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert os.listdir(tmp_path / "tiny_recopy.training") and not (tmp_path / "tiny_recopy").exists()
    recipe = Recipe.from_config(config)

    with pytest.raises(PresetError, match="holds an unfinished run: resume it, or remove the folder"):
        train(recipe, tmp_path / "tiny_recopy")
    with pytest.raises(PresetError, match="holds an unfinished run of another recipe"):
        train(Recipe.from_config({**config, "seed": 1}), tmp_path / "tiny_recopy", resume=True)
    # A run of an older version, whose recipes had format 1, is still this recipe's.
    notes = read_json(tmp_path / "tiny_recopy.training" / "notes.json")
    assert notes["recipe"]["format"] == 2
    notes["recipe"] = config
    write_json(tmp_path / "tiny_recopy.training" / "notes.json", notes)

    resumed = train(recipe, tmp_path / "tiny_recopy", resume=True)
    whole = unbroken(config)
    assert (resumed / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    results = [without_seconds(read_json(folder / "results.json")) for folder in (resumed, whole)]
    assert results[0] == results[1]
    assert not (tmp_path / "tiny_recopy.training").exists()


@pytest.mark.once
def test_the_moving_average_of_the_weights(config, unbroken):
    config |= {"selection": "last", "schedule": "constant", "warmup_steps": 0, "steps_per_epoch": 1, "watch": []}
    first, *later = (load_file(unbroken({**config, "epochs": n}) / "model.safetensors") for n in (1, 2, 3))
    found = load_file(unbroken({**config, "epochs": 3, "ema_momentum": 0.8}) / "model.safetensors")
    expected = dict(first)
    for weights in later:
        expected = {name: 0.8 * expected[name] + 0.2 * weights[name] for name in weights}
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, atol=1e-6)
    assert max(np.abs(found[name] - value).max() for name, value in later[-1].items()) > 1e-3


@pytest.mark.parametrize("error", [InputError("no more examples"), KeyboardInterrupt()])
@pytest.mark.once
def test_what_stops_an_averaged_run_is_what_is_raised(error, config, monkeypatch, tmp_path):
    draw = Drawn.__call__

    def stopping(self, epoch):
        if epoch == 2:
            raise error
        return draw(self, epoch)

    monkeypatch.setattr(Drawn, "__call__", stopping)
    config |= {**AVERAGED, "fresh": True, "steps_per_epoch": 2}
    del config["examples"]
    with pytest.raises(type(error)) as raised:
        train(Recipe.from_config(config), tmp_path / "tiny_recopy")
    assert raised.value is error


def test_a_run_ends_as_a_whole_preset(config, unbroken):
    folder = unbroken({**config, "selection": "validation"})
    model = kzoo.from_preset(folder)
    assert model.encoder_units == 4 and len(model.generate("4 7", max_length=3).split()) <= 3
    info = kzoo.preset_info(folder)
    assert Recipe.from_config(info["recipe"]) == Recipe.from_config({**config, "selection": "validation"})
    (run,) = info["results"]["training"]
    assert (run["epoch"], run["steps"], run["examples_seen"], run["seed"]) == (3, 12, 192, 0)
    assert run["parameters"] == info["metadata"]["parameters"]
    assert [row["epoch"] for row in run["history"]] == [1, 2, 3]
    assert all({"loss", "accuracy_at_3", "validation_accuracy"} <= set(row) for row in run["history"])
    digest = sha256(folder / "model.safetensors")
    rows = info["results"]["rows"]
    assert {(row["length"], row["n"], row["seed"]) for row in rows} == {(3, 8, 1), (5, 8, 1)}
    assert {row["weights_sha256"] for row in rows} == {digest} and {row["preset"] for row in rows} == {"tiny_recopy"}
    report = kzoo.evaluate(folder, lengths=[3, 5], examples=8, seed=1)
    assert report.accuracy("token_accuracy") == {
        r["length"]: r["value"] for r in rows if r["metric"] == "token_accuracy"
    }


def test_training_learns(config, unbroken):
    history = kzoo.preset_info(unbroken({**config, "selection": "validation"}))["results"]["training"][0]["history"]
    assert history[-1]["loss"] < history[0]["loss"]


def test_a_finished_run_is_left_as_it_is(config, unbroken):
    config["selection"] = "validation"
    folder = unbroken(config)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert train(Recipe.from_config(config), folder, resume=True) == folder
    for changed, resume in ((config, False), ({**config, "seed": 1}, True)):
        with pytest.raises(PresetError, match="exists; nothing was trained"):
            train(Recipe.from_config(changed), folder, resume=resume)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_is_there_is_not_overwritten(kind, config, tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "notes.txt").write_text("mine")
    target = tmp_path / "precious" / ("notes.txt" if kind == "file" else "")
    with pytest.raises(PresetError, match="exists; nothing was trained"):
        train(Recipe.from_config(config), target)
    assert (tmp_path / "precious" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "model, error, message",
    [
        ({"class": "RecurentSeq2Seq"}, LookupError, "did you mean 'RecurrentSeq2Seq'"),
        ({"class": "RecurrentSeq2Seq", "config": {"attenton": "onestep"}}, InputError, "did you mean 'attention'"),
        ({"class": "RecurrentSeq2Seq", "config": {"encoder_units": 10**12}}, InputError, "encoder_units must be"),
        ({"class": "RecurrentSeq2Seq", "config": {"attention": "onestp"}}, LookupError, "did you mean 'onestep'"),
    ],
)
def test_a_bad_model_is_one_sentence_and_leaves_nothing(model, error, message, config, tmp_path):
    config["model"] = model
    with pytest.raises(error, match=message):
        train(Recipe.from_config(config), tmp_path / "tiny_recopy")
    assert os.listdir(tmp_path) == []


def test_the_seed_gives_the_first_weights(config):
    from kzoo.saving.weights import serialize

    first, again, other = (serialize(build(Recipe.from_config({**config, "seed": seed}))) for seed in (0, 0, 1))
    assert first == again != other


@pytest.mark.once
def test_a_loss_that_is_not_finite_ends_the_run(config, monkeypatch, tmp_path):
    from kzoo.training import fit

    class Poison(fit.Progress):
        """Sets a weight to NaN behind the second step of the second epoch."""

        steps = 0

        def on_train_batch_end(self, batch, logs=None):
            Poison.steps += 1
            if Poison.steps == 6:
                variable = self.model.trainable_variables[0]
                variable.assign(variable * float("nan"))
                if keras.config.backend() == "jax":
                    self.model._jax_state["trainable_variables"][0] *= float("nan")

    config |= {"selection": "last", "watch": []}
    recipe = Recipe.from_config(config)
    with monkeypatch.context() as patch:
        patch.setattr(fit, "Progress", Poison)
        with pytest.raises(TrainingError, match="the loss is nan at step 3 of epoch 2; training stopped"):
            train(recipe, tmp_path / "tiny_recopy")
    assert not (tmp_path / "tiny_recopy").exists()
    assert read_json(tmp_path / "tiny_recopy.training" / "notes.json")["epoch"] == 1
    assert train(recipe, tmp_path / "tiny_recopy", resume=True) == tmp_path / "tiny_recopy"  # from the first epoch on


@pytest.mark.once
def test_weights_that_are_not_finite_are_never_kept(config, monkeypatch, tmp_path):
    from kzoo.training import fit

    class Poison(fit.Timing):
        """Sets a weight to infinity behind the last step of the second epoch."""

        def on_epoch_end(self, epoch, logs=None):
            super().on_epoch_end(epoch, logs)
            if epoch == 1:
                variable = self.model.trainable_variables[0]
                variable.assign(variable + float("inf"))

    monkeypatch.setattr(fit, "Timing", Poison)
    with pytest.raises(TrainingError, match="the weights '.*' are not finite after epoch 2"):
        train(Recipe.from_config({**config, "selection_examples": 10}), tmp_path / "tiny_recopy")
    assert read_json(tmp_path / "tiny_recopy.training" / "notes.json")["epoch"] == 1
    assert not (tmp_path / "tiny_recopy").exists()


@pytest.mark.once
@pytest.mark.parametrize("name", ["NVIDIA H200", None])
def test_a_run_names_its_accelerator(name, config, monkeypatch, tmp_path):
    monkeypatch.setattr("kzoo.training.callbacks.timing.accelerator", lambda: name)
    folder = train(Recipe.from_config({**config, "epochs": 1, "selection_examples": 10}), tmp_path / "tiny_recopy")
    assert [run.get("device") for run in read_json(folder / "results.json")["training"]] == [name]


@pytest.mark.slow
@pytest.mark.once
def test_two_threads_train_one_after_another(config, unbroken, tmp_path):
    configs = [{**config, "seed": seed, "selection": "last", "watch": []} for seed in (3, 4)]
    recipes = [Recipe.from_config(own) for own in configs]
    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda k: train(recipes[k], tmp_path / f"tiny_{k}"), range(2)))
    for folder, own in zip(made, configs, strict=True):
        alone = unbroken(own)
        assert (folder / "model.safetensors").read_bytes() == (alone / "model.safetensors").read_bytes()
