"""What the preset of a stranger may cost."""

import pytest

import kzoo
from kzoo.cli.main import main
from kzoo.errors import InputError, PresetError
from kzoo.models import activation
from kzoo.saving import budget as module
from kzoo.saving.budget import BUDGET, Budget
from tests.chaos.costs import CASES, PLAIN, write_preset

REFUSED = {
    "a long mirrored bias": "longest must be an integer from 1 to 64, not 10000",
    "20,000 lines": "the heads have at most 10,000 lines, not 20,000",
    "lines of many parts": "at most 32 different slopes and parts, not 200",
    "600 layers": "more than 1,500 layers, which are the budget",
    "100 layers of both kinds": "more than 1,500 layers",
    "90,000 hints": "more than 1,500 layers",
    "10,000 steps": "asks for 10,000 steps of a loop, and 1,000 are within the budget: budget=10 allows it",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_costs_much_is_refused_before_it_is_made(name, tmp_path):
    cls, tokens, config = CASES[name]
    plain = {} if cls.endswith("Classifier") else PLAIN
    folder = write_preset(tmp_path / "costly", cls, tokens, {**plain, **config}, 10**6)
    with pytest.raises(PresetError, match=REFUSED[name]) as error:
        kzoo.from_preset(folder)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", Budget._fields)
def test_the_budget_is_told_and_raised_by_an_argument(name, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "tiny"
    kzoo.models.TransformerClassifier.from_task("ctl_forward", units=8, steps=3).save_to_preset(folder)
    monkeypatch.setattr(module, "BUDGET", BUDGET._replace(**{name: 1}))
    with pytest.raises(PresetError, match="budget"):
        kzoo.from_preset(folder)
    assert main(["generate", str(folder), "101 a"]) == 2 and "budget" in capsys.readouterr().err
    assert kzoo.models.TransformerClassifier.from_preset(folder, budget=10_000)
    assert main(["generate", str(folder), "101 a", "--budget", "10000"]) == 0


@pytest.mark.parametrize("value", [0, -1, 0.5, 10**6, "2", None, True])
def test_a_budget_is_a_number(value, preset):
    with pytest.raises(InputError, match="budget must be a number from 1 to 10000"):
        kzoo.from_preset(preset, budget=value)


def test_layers_are_made_as_ever_behind_a_refusal(preset, tmp_path):
    import keras

    plain = keras.layers.Layer.__init__
    folder = write_preset(tmp_path / "costly", "TransformerDecoder", 4, {**PLAIN, "layers": 600}, 10**6)
    with pytest.raises(PresetError, match="layers"):
        kzoo.from_preset(folder)
    assert keras.layers.Layer.__init__ is plain and keras.layers.Dense(3)(keras.ops.ones((1, 2))).shape == (1, 3)


@pytest.mark.once
def test_the_bundled_presets_are_far_within(root):
    from kzoo.saving.preset import Preset

    seen = set()
    for name in kzoo.list_presets():
        preset = Preset.find(name)
        if str(preset.config) not in seen:
            seen.add(str(preset.config))
            model = preset.build()
            assert model.count_params() * 40 < BUDGET.parameters
            assert len(list(model._flatten_layers())) * 20 < BUDGET.layers
            assert activation.largest_activation(model, module.LENGTH) * 10 < BUDGET.activation


def test_what_a_layer_says_is_what_it_computes():
    import numpy as np

    attention = kzoo.layers.MultiHeadAttention(heads=2, bias="relative", query_bias=True)
    _, weights = attention(np.ones((1, 5, 6), "float32"))
    assert attention.largest_activation(5) == np.prod(weights.shape)
    assert attention.bias.largest_activation(5) == 2 * 5 * 10
    assert kzoo.layers.MirroredBias(longest=3).largest_activation(5) == 4 * 7 * 25
    assert kzoo.layers.DNCReader(6, cells=5, heads=2).largest_activation(100) == 2 * 6 * 100


def test_a_large_vocabulary_makes_small_batches(make_model, monkeypatch):
    monkeypatch.setattr(activation, "available_memory", lambda: None)
    small = make_model()
    large = kzoo.models.RecurrentSeq2Seq(20_000, embedding_units=2, encoder_units=2)
    assert [activation.at_once(model, 100, 256, 2**22) for model in (small, large)] == [256, 2]
    assert activation.at_once(large, 10_000, 256, 2**22) == 1


def test_what_memory_does_not_suffice_for_is_told_before_the_work(make_model, monkeypatch):
    monkeypatch.setattr(activation, "available_memory", lambda: 10**6)
    model = make_model()
    assert len(model.generate(["4 7"] * 3, max_length=2)) == 3
    told = "of memory in RecurrentSeq2Seq, and 0.1 GB are free; give shorter inputs"
    for ask in (
        lambda: model.generate([["4"] * 2_000]),
        lambda: kzoo.evaluate(model, "recopy", lengths=[2_000], examples=1),
    ):
        with pytest.raises(InputError, match=told) as error:
            ask()
        assert "\n" not in str(error.value)


def test_free_memory_is_known_here():
    found = activation.available_memory()
    assert found is None or 2**20 < found < 2**50
