"""Attention that is told where to look: what it is told, and what the loss gets of it."""

import re
import textwrap

import keras
import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.models.recurrent_seq2seq import gold_distance
from kzoo.preprocessing.batches import Batches
from kzoo.preprocessing.supervised_attention import SupervisedAttention
from kzoo.training.recipe import Recipe
from kzoo.training.train import _batches, build

WEIGHT = 0.25
PAIRS = [("4 7 9", "9 7 4"), ("5", "5")]


@pytest.mark.once
def test_docstring_example():
    (example,) = re.findall("```python\n(.*?)```", SupervisedAttention.__doc__, re.S)
    exec(textwrap.dedent(example), {"kzoo": kzoo})


def data(attention, strength=WEIGHT):
    keras.utils.set_random_seed(0)
    task = kzoo.tasks.get("reverse_copy")
    config = {"embedding_units": 6, "encoder_units": 5, "attention": attention, "dropout": 0.0}
    model = kzoo.models.RecurrentSeq2Seq.from_task(task, **config)
    return model, SupervisedAttention(model.preprocessor, task, strength)


@pytest.mark.parametrize("attention", ["onestep", "content"])
def test_the_loss_gets_the_distance_in_source_order(attention):
    model, preprocessor = data(attention)
    x, y, weight = Batches(PAIRS, preprocessor, 2)[0]
    assert x["gold"][:, :4].tolist() == [[3, 2, 1, 4], [1, 2, 0, 0]]
    assert x["gold_weight"][:, :4].tolist() == [[WEIGHT] * 4, [WEIGHT] * 2 + [0, 0]]
    trace = {key: keras.ops.convert_to_numpy(value) for key, value in model.trace(x)[1].items()}
    expected = []
    for row, (length, steps) in enumerate(((5, 4), (3, 2))):
        alpha = trace["direction"][row, 0] if "direction" in trace else 1.0
        assert alpha == 1.0 or attention == "onestep"
        weights = trace["weights"][row, :steps, :length]
        weights = alpha * weights + (1 - alpha) * weights[:, ::-1]
        for step in range(steps):
            expected.append(WEIGHT * weights[step] @ np.abs(np.arange(length) - x["gold"][row, step]))
    found = keras.ops.convert_to_numpy(gold_distance(model.trace(x)[1], x))
    assert found == pytest.approx(np.mean(expected), rel=1e-4)
    model.compile(weighted_metrics=None)
    plain = {key: value for key, value in x.items() if not key.startswith("gold")}
    with_gold, without = (model.evaluate(inputs, y, sample_weight=weight, verbose=0) for inputs in (x, plain))
    assert with_gold - without == pytest.approx(np.mean(expected), rel=1e-2)


def test_it_is_learned():
    model, preprocessor = data("onestep", 2.0)
    examples = kzoo.tasks.get("reverse_copy").examples("train", 64, length=5)
    batches = Batches(examples, preprocessor, 32)
    model.compile(keras.optimizers.Adam(0.01), weighted_metrics=None)

    def distance():
        x, _, _ = batches[0]
        return float(keras.ops.convert_to_numpy(gold_distance(model.trace(x)[1], x)))

    before = distance()
    model.fit(batches, epochs=10, verbose=0)
    assert distance() < before - 0.2


@pytest.mark.once
def test_a_task_without_gold_attention_says_so():
    recipe = {"task": "scan", "model": {"class": "RecurrentSeq2Seq", "config": {"encoder_units": 4}}, "epochs": 1}
    recipe = Recipe.from_config({**recipe, "examples": 8, "attention_supervision": 0.1})
    with pytest.raises(InputError, match="scan has no gold attention"):
        _batches(recipe, build(recipe))
