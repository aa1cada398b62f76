"""Several devices share a batch and train the same model; elsewhere the way is named."""

import json

import keras
import pytest

import kzoo
from kzoo.accelerator import accelerator
from kzoo.errors import BackendError, InputError
from kzoo.training.recipe import Recipe

CODE = """
import json, sys
import kzoo, keras
from kzoo.saving.files import read_json
from kzoo.training.recipe import Recipe

recipe = Recipe.from_config(json.loads(sys.argv[1]))
found, used, plain = [], [], keras.Model.fit

def fit(model, *arguments, **options):
    plain(model, *arguments, **options)
    used.append(len(model.weights[0].value.sharding.device_set))

keras.Model.fit = fit
for devices in (None, 4):
    folder = kzoo.train(recipe, f"{sys.argv[2]}/{devices}", devices=devices)
    results = read_json(folder / "results.json")
    found.append([results["training"][0]["history"], [row["value"] for row in results["rows"]]])
print(json.dumps([used, *found]))
"""


def test_a_processor_is_no_accelerator():
    assert accelerator() is None or not accelerator().lower().startswith("cpu")


@pytest.mark.once
@pytest.mark.slow
def test_four_devices_have_the_losses_of_one(config, python, tmp_path):
    flags = "--xla_force_host_platform_device_count=4 --xla_backend_optimization_level=0"
    config["model"]["config"]["dropout"] = 0.0  # several devices do not drop the same as one
    recipe = {**config, "selection_examples": 10}
    done = python(CODE, json.dumps(recipe), tmp_path, KERAS_BACKEND="jax", XLA_FLAGS=flags)
    assert done.returncode == 0, done.stderr
    used, one, four = json.loads(done.stdout)
    assert used == [1, 4]
    losses = [[row["loss"] for row in history] for history, _ in (one, four)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-4) and losses[0][-1] < losses[0][0]
    assert four[1] == pytest.approx(one[1], abs=0.02)  # of 8 examples: the accuracies


def test_what_cannot_be_shared_is_one_sentence(config, tmp_path):
    recipe = Recipe.from_config(config)
    backend = keras.config.backend()
    launcher = {"torch": "torchrun", "tensorflow": "tf.distribute.MirroredStrategy"}.get(backend)
    if launcher:
        with pytest.raises(BackendError, match=f"on the {backend} backend use its own launcher, {launcher}"):
            kzoo.train(recipe, tmp_path / "out", devices=2)
    else:
        with pytest.raises(InputError, match="64 devices were asked for, and JAX sees 1: "):
            kzoo.train(recipe, tmp_path / "out", devices=64)
    with pytest.raises(InputError, match="devices must be an integer from 1"):
        kzoo.train(recipe, tmp_path / "out", devices=0)
    assert list(tmp_path.iterdir()) == []
