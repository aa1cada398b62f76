"""Attention supervision on pairs of the user's own: a list, and a task that is nothing but lists."""

import keras
import numpy as np
import pytest

import kzoo
from kzoo import registry
from kzoo.errors import InputError
from kzoo.tasks import Example, Split, Task
from kzoo.training.recipe import Recipe

WORDS = ("red", "green", "blue", "cat", "dog")


def draw(length, rows, seed):
    """Returns texts of words, and the same in capitals from the last word to the first."""
    sources = np.random.default_rng([seed, length]).choice(WORDS, (rows, length))
    return [(" ".join(words), " ".join(words[::-1]).upper()) for words in sources]


PAIRS = [pair for length in range(4, 7) for pair in draw(length, 128, 0)]
SMALL = {"attention": "waypoint", "embedding_units": 16, "encoder_units": 16, "dropout": 0.0}


def small_model(attention="waypoint"):
    keras.utils.set_random_seed(0)
    preprocessor = kzoo.Seq2SeqPreprocessor([*WORDS, *(word.upper() for word in WORDS)])
    size = preprocessor.tokenizer.vocabulary_size
    return kzoo.models.RecurrentSeq2Seq(size, preprocessor=preprocessor, **{**SMALL, "attention": attention})


@pytest.mark.once
@pytest.mark.slow
def test_a_list_of_pairs_is_aligned_trained_on_and_evaluated_on_longer_ones():
    alignment = kzoo.align(PAIRS, steps=150)
    assert alignment.direction == "backward"
    source, target = alignment.pairs[-1]
    assert alignment.read(len(PAIRS) - 1) == [
        (word, f"{word.lower()} ({j})", "move") for word, j in zip(target, reversed(range(len(source))), strict=True)
    ]
    model = small_model()
    model.compile(keras.optimizers.Adam(1e-2, global_clipnorm=5.0))
    model.fit(alignment, epochs=8, batch_size=16, verbose=0)
    longer = draw(25, 40, 1)
    assert model.evaluate(longer, verbose=0, return_dict=True)["sequence_accuracy"] >= 0.9


@pytest.mark.once
def test_fit_takes_an_alignment():
    alignment = kzoo.align(PAIRS[:16], steps=1)
    losses = []
    for data in (PAIRS[:16], alignment):
        history = small_model("content").fit(data, batch_size=16, shuffle=False, verbose=0).history
        losses.append(history["loss"][0])
    assert losses[1] > losses[0] + 0.1  # the loss of the attention is added


@pytest.mark.once
def test_only_attention_that_can_be_supervised_takes_one():
    alignment = kzoo.align(PAIRS[:4], steps=1)
    model = kzoo.models.TransformerDecoder.from_task("sorter", units=8, layers=1)
    with pytest.raises(InputError, match="supervises the attention of a RecurrentSeq2Seq, not a TransformerDecoder"):
        model.fit(alignment)
    other = kzoo.models.RecurrentSeq2Seq(5, **SMALL)
    with pytest.raises(InputError, match="this model takes arrays only"):
        other.fit(alignment)


class Listed(Task):
    """Lists of pairs by split; it draws nothing, and knows no right answer but theirs."""

    name = "listed"
    vocabulary = (*WORDS, *(word.upper() for word in WORDS))
    splits = {"train": Split((2, 4), 32), "validation": Split((2, 4), 8), "test": Split((5, 9), 8)}
    test_lengths = (5, 9)

    def pool(self, split, length):
        lengths = range(2, 5) if split != "test" else (5, 9)
        rows = [pair for n in lengths if length in (None, n) for pair in draw(n, 12, len(split))]
        return [Example(tuple(source.split()), tuple(target.split())) for source, target in rows]


@pytest.mark.once
@pytest.mark.slow
def test_a_recipe_on_lists_of_pairs_aligns_trains_and_evaluates_on_longer_ones(monkeypatch, tmp_path):
    kzoo.tasks.names()  # which fills the registry
    monkeypatch.setitem(registry._CLASSES["task"], "listed", Listed)
    recipe = Recipe.from_config(
        {
            "format": 2,
            "task": "listed",
            "mechanism": "waypoint",
            "supervision": [],
            "model": {"class": "RecurrentSeq2Seq", "config": SMALL},
            "stages": [
                {
                    "data": {"batch_size": 16},
                    "budget": {"epochs": 1},
                    "objective": {"attention_supervision": {"from": "alignment", "steps": 5}},
                    "selection": {"by": "last"},
                }
            ],
            "evaluation": {"examples": 8},
        }
    )
    folder = kzoo.train(recipe, tmp_path / "listed")
    preset = kzoo.Preset.find(folder)
    assert preset.supervision == [] and {row["length"] for row in preset.rows} == {5, 9}
    assert len(kzoo.from_preset(folder).generate("red cat").split()) <= 30
