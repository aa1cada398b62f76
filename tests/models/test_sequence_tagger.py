"""A tagger answers at the tokens that are asked, in one reading."""

import keras
import numpy as np
import pytest

import kzoo
from kzoo import registry
from kzoo.cards.card import render_card
from kzoo.errors import InputError
from kzoo.models import SequenceTagger
from kzoo.saving.weights import named_variables

TINY = {"units": 6, "embedding_units": 5}
ATTENTION = {"class": "MixerReader", "config": {"mixer": "dot_product", "heads": 2, "units": 8}}
READERS = ["lstm", "bidirectional_lstm", "stack", ATTENTION]


def make(task, reader="lstm"):
    """Returns a small tagger with the same random weights on every backend."""
    config = {"embedding_units": 5} if isinstance(reader, dict) else TINY
    model = SequenceTagger.from_task(task, reader=reader, **config)
    rng = np.random.default_rng(0)
    for variable in named_variables(model).values():
        variable.assign(rng.normal(0, 0.7, variable.shape).astype("float32"))
    return model


@pytest.mark.parametrize("reader", READERS, ids=str)
@pytest.mark.parametrize("task", ["s3", "mqar"])
def test_it_writes_what_stands_at_the_tokens_asked(task, reader):
    model, examples = make(task, reader), kzoo.tasks.get(task).examples("train", 7)
    x, _, weight = model.preprocessor(examples)
    guesses = keras.ops.convert_to_numpy(model(x)).argmax(axis=-1)
    expected = [[int(i) for i in row[asked > 0]] for row, asked in zip(guesses, weight, strict=True)]
    sources = [model.preprocessor.encode_source(example.source) for example in examples]
    found = model.generator.decode(sources)
    pad_id = model.preprocessor.tokenizer.pad_id
    assert [row[: len(ids)].tolist() for row, ids in zip(found, expected, strict=True)] == expected
    assert all((row[len(ids) :] == pad_id).all() for row, ids in zip(found, expected, strict=True))


def test_what_stands_behind_is_not_seen():
    model = make("s3")
    whole, part = model.generate(["g1 g2 g3 g4", "g1 g2"])
    assert len(whole.split()) == 4 and whole.split()[:2] == part.split()
    assert model.generate("g1 g2 g3 g4", max_length=3).split() == whole.split()[:3]
    trace = model.trace("g1 g2 g3 g4")
    assert trace.answer == whole and trace["answers"].shape == (4, 6)


@pytest.mark.once
def test_an_lstm_learns_a_group():
    keras.utils.set_random_seed(0)
    task = kzoo.tasks.get("s3")
    model = SequenceTagger.from_task(task, units=32)
    model.compile(optimizer=keras.optimizers.Adam(0.01))
    sources = [task.examples("train", 64, seed=k, length=3) for k in range(40)]
    model.fit([pair for part in sources for pair in part], batch_size=64, epochs=4, verbose=0)
    assert kzoo.evaluate(model, task, lengths=[3], examples=100)[3] > 0.95


def test_the_metrics_of_written_sequences():
    model = make("s3")
    metrics = ("sequence_accuracy", "accuracy_before_end", "token_accuracy", "last_token_accuracy", "edit_distance")
    report = kzoo.evaluate(model, "s3", lengths=[41], examples=20, metrics=metrics)
    found = {row["metric"]: row["value"] for row in report.rows}
    assert set(found) == set(metrics) and found["sequence_accuracy"] == found["accuracy_before_end"]
    examples = kzoo.tasks.get("s3").examples("test", 20, length=41)
    outputs = model.generate([list(example.source) for example in examples])
    last = np.mean([out.split()[-1:] == [example.target[-1]] for out, example in zip(outputs, examples, strict=True)])
    assert found["last_token_accuracy"] == pytest.approx(last)


def test_a_preset_and_a_recipe(tmp_path):
    stage = {"budget": {"epochs": 1, "steps_per_epoch": 2}, "data": {"fresh": True, "batch_size": 4}}
    recipe = {
        "format": 2,
        "task": "mqar",
        "task_version": 1,
        "mechanism": "lstm_tagger",
        "supervision": [],
        "model": {"class": "SequenceTagger", "config": TINY},
        "stages": [{**stage, "selection": {"by": "last"}}],
        "evaluation": {"lengths": [13], "examples": 4},
    }
    folder = kzoo.train(kzoo.training.recipe.Recipe.from_config(recipe), tmp_path / "tiny")
    model = kzoo.from_preset(folder)
    assert model.preprocessor.repeated and len(model.preprocessor.asked) == 256
    assert len(model.generate("k1 v7 k4 v2 k4 . k1 .").split()) == 2
    assert "pipeline_tag: token-classification" in render_card(folder)


def test_keras_files(tmp_path):
    model = make("s3")
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    assert again.generate("g1 g2 g3") == model.generate("g1 g2 g3")


def test_a_reader_must_have_a_state_at_each_token(monkeypatch):
    monkeypatch.setattr(registry, "_CLASSES", {**registry._CLASSES, "reader": registry.classes("reader")})

    @registry.register("reader")
    class Last(keras.layers.Layer):
        units = 4

        def call(self, sequence, mask, training=False):
            return sequence[:, -1]

    with pytest.raises(InputError, match="the reader of a SequenceTagger is a Reader, not a Last"):
        SequenceTagger.from_task("s3", reader=Last())


def test_docstring_examples(run_examples):
    run_examples(SequenceTagger)
    run_examples(kzoo.preprocessing.TaggerPreprocessor)
