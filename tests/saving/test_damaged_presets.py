"""Thousands of damaged presets: each is refused with one sentence, or loads exactly what its files say.

Every mutation is a function of its number, so that a failure can be repeated: the number is in the message.
"""

import random

import pytest

import kzoo
from kzoo.cards.card import render_card
from kzoo.cli.main import main
from kzoo.errors import PresetError
from kzoo.saving.preset import Preset
from kzoo.saving.weights import load_weights, serialize
from tests.chaos.mutations import Damaged, assert_holds, attempt, mutate_json, mutate_weights

pytestmark = [pytest.mark.once, pytest.mark.slow]
WEIGHTS, CONFIGS, DOCUMENTS = 1500, 900, 450


@pytest.fixture
def damaged(preset, tmp_path):
    """A small preset to damage."""
    return Damaged(preset, tmp_path / "tiny_recopy")


@pytest.mark.slow
def test_damaged_weights(damaged, make_model):
    model = make_model(seed=1)
    whole = damaged.whole["model.safetensors"]
    before, loaded = serialize(model), 0
    for number in range(WEIGHTS):
        content, label = mutate_weights(random.Random(number), whole), f"weights {number}"
        if content == whole:
            continue
        folder = damaged("model.safetensors", content, described=False)
        with pytest.raises(PresetError, match="is not the file of metadata.json"):
            Preset(folder, "damaged").verify()
        path = folder / "model.safetensors"
        if attempt(label, lambda path=path: load_weights(model, path) or True):
            assert_holds(model, content, label)
            before, loaded = serialize(model), loaded + 1
        elif number % 4 == 0:
            assert serialize(model) == before, f"{label}: refused, but the model was changed"
    assert 50 < loaded < WEIGHTS / 2  # both happen, or these are no good mutations


@pytest.mark.slow
def test_damaged_configs(damaged):
    weights, loaded = damaged.whole["model.safetensors"], 0
    for number in range(CONFIGS):
        rng = random.Random(number)
        name = rng.choice(["config.json"] * 3 + ["tokenizer.json", "metadata.json"])
        content, label = mutate_json(rng, damaged.whole[name]), f"{name} {number}"
        folder = damaged(name, content)
        model = attempt(label, lambda folder=folder: kzoo.from_preset(folder))
        attempt(label, lambda folder=folder: kzoo.preset_info(folder))
        if model is not None:
            loaded += 1
            assert_holds(model, weights, label)
            if number % 4 == 0:
                attempt(label, lambda model=model: model.generate("4 7", max_length=2))
        if content != damaged.whole[name] and name != "metadata.json" and number % 10 == 0:
            with pytest.raises(PresetError):
                kzoo.from_preset(damaged(name, content, described=False))
    assert 50 < loaded < CONFIGS / 2


@pytest.mark.parametrize("name", ["results.json", "recipe.json", "metadata.json"])
def test_damaged_documents(name, root, tmp_path, capsys):
    damaged = Damaged(root / "presets" / "onestep_recopy", tmp_path / "onestep_recopy")
    for number in range(DOCUMENTS // 3):
        content, label = mutate_json(random.Random(number), damaged.whole[name]), f"{name} {number}"
        folder = damaged(name, content)
        attempt(label, lambda folder=folder: kzoo.preset_info(folder))
        assert attempt(label, lambda folder=folder: main(["info", str(folder)])) in (0, 2), label
        attempt(label, lambda folder=folder: render_card(folder))
    assert "Traceback" not in capsys.readouterr().err
