"""Accuracy by length, of stand-ins whose answers are known and of a small model."""

import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.evaluation import measure

TASK = kzoo.tasks.get("recopy")


def test_a_perfect_model_is_right_everywhere(oracle):
    report = kzoo.evaluate(oracle(), examples=20)
    assert report.accuracy() == {15: 1.0, 30: 1.0, 100: 1.0} == report.accuracy("token_accuracy")


def test_one_wrong_token_is_one_wrong_sequence(oracle):
    report = kzoo.evaluate(oracle("012"), lengths=[4], examples=300, seed=5)
    examples = TASK.examples("test", 300, 5, 4)
    wrong = sum(example.source[0] in "012" for example in examples)
    tokens = sum(len(example.target) + 1 for example in examples)
    assert 0 < wrong < 300
    assert report[4] == pytest.approx(1 - wrong / 300)
    assert report.accuracy("token_accuracy")[4] == pytest.approx(1 - wrong / tokens)


def test_rows_say_what_was_measured(oracle):
    report = kzoo.evaluate(oracle("01234"), lengths=[5, 15, 5], examples=10, seed=3)
    keys = [(row["length"], row["metric"]) for row in report.rows]
    assert keys == [(length, metric) for length in (5, 15) for metric in ("sequence_accuracy", "token_accuracy")]
    whole = report.rows[2]
    assert whole["n"] == 10 and whole["seed"] == 3 and whole["low"] < whole["value"] < whole["high"]
    assert (whole["preset"], whole["task"], whole["version"]) == ("onestep_recopy", "recopy", kzoo.__version__)
    assert len(whole["weights_sha256"]) == 64 and whole["backend"] == report.backend
    assert (report.rows[0]["paper"], whole["paper"]) == (None, 1.0)


def test_one_length_is_a_list_of_one(oracle):
    assert kzoo.evaluate(oracle(), lengths=6, examples=5).accuracy() == {6: 1.0}
    assert kzoo.evaluate(oracle(), lengths=np.int64(6), examples=5).accuracy() == {6: 1.0}
    assert kzoo.evaluate(oracle(), lengths=np.array([6, 7]), examples=5).accuracy() == {6: 1.0, 7: 1.0}


@pytest.mark.parametrize("lengths", ["15", b"15", {15: 1}, 2.5, object])
def test_what_is_no_length_is_one_sentence(lengths, oracle):
    with pytest.raises(InputError, match="lengths must be a length or a list of them, not "):
        kzoo.evaluate(oracle(), lengths=lengths)


@pytest.mark.parametrize("lengths", [[[3]], [2.5], ["3"], [True], (0,)])
def test_a_list_of_what_is_no_length_is_one_sentence(lengths, oracle):
    with pytest.raises(InputError, match="a length must be an integer from 1"):
        kzoo.evaluate(oracle(), lengths=lengths)


def test_the_papers_number_is_that_of_the_mechanism(oracle):
    def numbers(mechanism, supervision):
        model = oracle()
        model.mechanism, model.supervision = mechanism, supervision
        report = kzoo.evaluate(model, TASK, lengths=[15, 16], examples=2)
        return [row["paper"] for row in report.rows if row["metric"] == "sequence_accuracy"]

    assert numbers("onestep", []) == [1.0, None]
    assert numbers("onestep", ["gold attention"]) == numbers("mine", []) == numbers(None, None) == [None, None]


def test_the_seed_gives_the_examples(oracle):
    rows = [kzoo.evaluate(oracle("01234"), lengths=[6], examples=50, seed=seed).rows for seed in (0, 0, 1)]
    assert rows[0] == rows[1]
    assert rows[0][0]["value"] != rows[2][0]["value"]


@pytest.mark.parametrize("batch", [1, 7, 64])
def test_the_size_of_batches_changes_nothing(oracle, batch, monkeypatch):
    expected = kzoo.evaluate(oracle("01"), lengths=[6], examples=20).rows
    monkeypatch.setattr(measure, "BATCH", batch)
    assert kzoo.evaluate(oracle("01"), lengths=[6], examples=20).rows == expected


def test_a_model_of_the_zoo_and_its_preset_agree(preset, make_model, monkeypatch):
    model = make_model()
    model.preset_name = "tiny_recopy"
    found = kzoo.evaluate(str(preset), lengths=[3], examples=12)
    assert kzoo.evaluate(model, "recopy", lengths=[3], examples=12).rows == found.rows
    assert found.accuracy("token_accuracy")[3] > 0  # some of the tokens are right by chance
    monkeypatch.setattr(measure, "BATCH", 5)
    assert kzoo.evaluate(model, lengths=[3], examples=12).rows == found.rows


@pytest.mark.parametrize(
    "options, message",
    [
        ({"lengths": [0]}, "a length must be an integer from 1 to 100000, not 0"),
        ({"lengths": ["15"]}, "a length must be an integer"),
        ({"examples": 0}, "examples must be an integer from 1"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"metrics": ["accuracy"]}, "unknown metric 'accuracy'"),
    ],
)
def test_bad_arguments_are_one_sentence(oracle, options, message):
    with pytest.raises(InputError, match=message):
        kzoo.evaluate(oracle(), **options)


def test_a_task_must_be_known(oracle, monkeypatch):
    monkeypatch.setattr(oracle, "task_name", None)
    with pytest.raises(InputError, match=r"pass task=\.\.\."):
        kzoo.evaluate(oracle())
    with pytest.raises(LookupError, match="unknown task 'recoppy'; did you mean 'recopy'"):
        kzoo.evaluate(oracle(), "recoppy")
