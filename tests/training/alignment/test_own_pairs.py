"""Attention supervision on pairs of the user's own: a list, and a file."""

import keras
import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError
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


@pytest.fixture
def path(tmp_path):
    """A file of pairs."""
    found = tmp_path / "backward.tsv"
    found.write_text("\n".join("\t".join(pair) for length in range(2, 8) for pair in draw(length, 6, 0)))
    return found


@pytest.mark.once
def test_the_recipe_of_a_file_of_pairs_aligns_them(path, tmp_path):
    recipe = kzoo.load_recipe(path)
    assert recipe.mechanism == "waypoint" and recipe.supervision == ()
    assert recipe.stages[0].objective.learned_alignment
    many = tmp_path / "many.tsv"  # more different tokens than are aligned
    many.write_text("\n".join(f"{' '.join(f'w{i + k}' for k in range(9))}\tw{i}" for i in range(250)))
    other = kzoo.load_recipe(many)
    assert other.mechanism == "onestep" and other.stages[0].objective.learned_alignment is None


@pytest.mark.once
@pytest.mark.slow
def test_a_file_of_pairs_is_aligned_trained_on_and_evaluated_on_longer_ones(path, tmp_path):
    recipe = kzoo.load_recipe(path).to_config()
    objective = {"attention_supervision": {"from": "alignment", "steps": 5}}
    stage = {"data": {"batch_size": 8}, "budget": {"epochs": 1}, "objective": objective, "selection": {"by": "last"}}
    recipe |= {"model": {"class": "RecurrentSeq2Seq", "config": SMALL}, "stages": [stage]}
    folder = kzoo.train(Recipe.from_config(recipe), tmp_path / "backward")
    preset = kzoo.Preset.find(folder)
    assert preset.supervision == [] and {row["length"] for row in preset.rows} == set(kzoo.tasks.get(path).test_lengths)
    assert len(kzoo.from_preset(folder).generate("red cat").split()) <= 30
