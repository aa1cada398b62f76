"""Attention supervision: the gold attention, and what the loss gets of it."""

import keras
import numpy as np
import pytest

import kzoo
from kzoo.data.batches import Batches
from kzoo.errors import InputError
from kzoo.losses import attention_loss
from kzoo.preprocessing.supervised_attention import SupervisedAttention
from kzoo.training.batches import training_batches
from kzoo.training.build import build
from kzoo.training.recipe import Recipe

WEIGHT = 0.25
PAIRS = [("4 7 9", "9 7 4"), ("5", "5")]


@pytest.mark.once
def test_docstring_example(run_examples):
    run_examples(SupervisedAttention)


def data(attention, strength=WEIGHT):
    keras.utils.set_random_seed(0)
    task = kzoo.tasks.get("reverse_copy")
    config = {"embedding_units": 6, "encoder_units": 5, "attention": attention, "dropout": 0.0}
    model = kzoo.models.RecurrentSeq2Seq.from_task(task, **config)
    return model, SupervisedAttention(model.preprocessor, task, strength)


@pytest.mark.parametrize("attention", ["onestep", "waypoint", "content"])
def test_the_loss_is_the_likelihood_of_either_end(attention):
    model, preprocessor = data(attention)
    x, y, weight = Batches(PAIRS, preprocessor, 2)[0]
    assert x["gold"][:, :4].tolist() == [[3, 2, 1, 4], [1, 2, 0, 0]]
    assert x["gold_weight"][:, :4].tolist() == [[WEIGHT] * 3 + [0], [WEIGHT, 0, 0, 0]]
    trace = {key: keras.ops.convert_to_numpy(value) for key, value in model.trace_attention(x)[1].items()}
    expected = []
    for row, (length, steps) in enumerate(((5, 3), (3, 1))):
        weights, gold = trace["weights"][row, :steps, :length], x["gold"][row, :steps, None]
        far = np.abs(np.arange(length) - gold)
        forward, backward = (
            np.prod(np.sum(weights * np.exp(-3.0 * d), 1)) for d in (far, np.abs(length - 1 - np.arange(length) - gold))
        )
        alpha = trace["direction"][row, 0] if "direction" in trace else 1.0
        assert alpha == 1.0 or attention != "content"
        expected.append(-WEIGHT * np.log(alpha * forward + (1 - alpha) * backward))
    expected = np.sum(expected) / 4
    found = keras.ops.convert_to_numpy(attention_loss(model.trace_attention(x)[1], x))
    assert found == pytest.approx(expected, rel=1e-4)
    model.compile(weighted_metrics=None)
    plain = {key: value for key, value in x.items() if not key.startswith("gold")}
    with_gold, without = (model.evaluate(inputs, y, sample_weight=weight, verbose=0) for inputs in (x, plain))
    assert with_gold - without == pytest.approx(expected, rel=1e-2)


@pytest.mark.once
def test_it_is_learned():
    model, preprocessor = data("onestep", 2.0)
    model.decoder.attention.direction.bias.assign([0.5])  # it begins at the wrong end
    examples = kzoo.tasks.get("reverse_copy").examples("train", 64, length=5)
    batches = Batches(examples, preprocessor, 32)
    model.compile(keras.optimizers.Adam(0.01), weighted_metrics=None)

    def distance():
        x, _, _ = batches[0]
        return float(keras.ops.convert_to_numpy(attention_loss(model.trace_attention(x)[1], x)))

    before = distance()
    model.fit(batches, epochs=10, verbose=0)
    assert distance() < min(before / 4, before - 0.2)


@pytest.mark.parametrize("columns", [(3,), (0, 200), (0, 3)])
def test_the_loss_of_looks(columns):
    weights = np.zeros((1, 1, 202), "float32")
    weights[0, 0, list(columns)] = 1 / len(columns)
    inputs = {"gold": np.array([[3]]), "gold_weight": np.ones((1, 1)), "encoder_padding_mask": np.ones((1, 200))}
    # One look costs three times its distance. Of two, the nearer counts, and what the other takes from it.
    expected = {(3,): 0.0, (0, 200): 9 + np.log(2), (0, 3): np.log(2) - np.log1p(np.exp(-9))}[columns]
    assert float(attention_loss({"weights": weights}, inputs)) == pytest.approx(expected, abs=1e-5)
    alone = {"weights": np.eye(202, dtype="float32")[None, None, 201]}
    assert float(attention_loss(alone, inputs)) == pytest.approx(3 * 198.0, abs=1e-3)


def test_the_end_is_learned_of_the_whole_example():
    """Looks that are right from the far end pull the direction there, the more steps the harder."""
    steps = np.arange(4)
    weights = np.eye(6, dtype="float32")[None, 5 - steps]
    inputs = {"gold": steps[None], "gold_weight": np.ones((1, 4)), "encoder_padding_mask": np.ones((1, 4))}
    for alpha in (0.1, 0.5, 0.9):
        trace = {"weights": weights, "direction": np.full((1, 4), alpha, "float32")}
        assert float(attention_loss(trace, inputs)) == pytest.approx(-np.log(1 - alpha) / 4, abs=1e-4)


@pytest.mark.once
def test_a_task_without_gold_attention_says_so():
    recipe = {
        "task": "ctl_forward",
        "model": {"class": "RecurrentSeq2Seq", "config": {"encoder_units": 4}},
        "epochs": 1,
    }
    recipe = Recipe.from_config({**recipe, "examples": 8, "attention_supervision": 0.1})
    with pytest.raises(InputError, match="ctl_forward has no gold attention"):
        training_batches(recipe, build(recipe))
