"""Accuracy by length, of stand-ins whose answers are known and of a small model."""

import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.evaluation import measure
from kzoo.evaluation.evaluate import paper_accuracy

TASK = kzoo.tasks.get("recopy")


class Oracle:
    """Solves ReCopy, but for sources that begin with one of `wrong`, whose last token before the end it gets wrong."""

    weights = ()
    task_name, preset_name = "recopy", "onestep_recopy"

    def __init__(self, wrong=""):
        self.wrong = wrong
        self.preprocessor = kzoo.Seq2SeqPreprocessor(TASK.vocabulary)

    def text_preprocessor(self):
        return self.preprocessor

    def predict_on_batch(self, x):
        tokenizer = self.preprocessor.tokenizer
        guesses = np.full(x["decoder_token_ids"].shape, tokenizer.start_id)  # nonsense at pads must not count
        for row, source in zip(guesses, x["encoder_token_ids"].tolist(), strict=True):
            words = tuple(tokenizer.decode(source).split())
            target = self.preprocessor.encode_target(TASK.solve(words))
            if words[0] in self.wrong:
                target[-2] = (target[-2] + 1) % 10
            row[: len(target)] = target
        return np.eye(tokenizer.vocabulary_size, dtype="float32")[guesses]


def test_a_perfect_model_is_right_everywhere():
    report = kzoo.evaluate(Oracle(), examples=20)
    assert report.accuracy() == {15: 1.0, 30: 1.0, 100: 1.0} == report.accuracy("token_accuracy")


def test_one_wrong_token_is_one_wrong_sequence():
    report = kzoo.evaluate(Oracle("012"), lengths=[4], examples=300, seed=5)
    examples = TASK.examples("test", 300, 5, 4)
    wrong = sum(example.source[0] in "012" for example in examples)
    tokens = sum(len(example.target) + 1 for example in examples)
    assert 0 < wrong < 300
    assert report[4] == pytest.approx(1 - wrong / 300)
    assert report.accuracy("token_accuracy")[4] == pytest.approx(1 - wrong / tokens)


def test_rows_say_what_was_measured():
    report = kzoo.evaluate(Oracle("01234"), lengths=[5, 15, 5], examples=10, seed=3)
    keys = [(row["length"], row["metric"]) for row in report.rows]
    assert keys == [(length, metric) for length in (5, 15) for metric in ("sequence_accuracy", "token_accuracy")]
    whole = report.rows[2]
    assert whole["n"] == 10 and whole["seed"] == 3 and whole["low"] < whole["value"] < whole["high"]
    assert (whole["preset"], whole["task"], whole["version"]) == ("onestep_recopy", "recopy", kzoo.__version__)
    assert len(whole["weights_sha256"]) == 64 and whole["backend"] == report.backend
    assert (report.rows[0]["paper"], whole["paper"]) == (None, 1.0)


def test_the_papers_number_is_that_of_the_mechanism():
    assert paper_accuracy(TASK, "onestep_recopy", 15) == 1.0
    assert paper_accuracy(TASK, "onestep_recopy", 16) is None
    assert paper_accuracy(TASK, "mine_recopy", 15) is None and paper_accuracy(TASK, None, 15) is None


def test_the_seed_gives_the_examples():
    rows = [kzoo.evaluate(Oracle("01234"), lengths=[6], examples=50, seed=seed).rows for seed in (0, 0, 1)]
    assert rows[0] == rows[1]
    assert rows[0][0]["value"] != rows[2][0]["value"]


@pytest.mark.parametrize("batch", [1, 7, 64])
def test_the_size_of_batches_changes_nothing(batch, monkeypatch):
    expected = kzoo.evaluate(Oracle("01"), lengths=[6], examples=20).rows
    monkeypatch.setattr(measure, "BATCH", batch)
    assert kzoo.evaluate(Oracle("01"), lengths=[6], examples=20).rows == expected


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
def test_bad_arguments_are_one_sentence(options, message):
    with pytest.raises(InputError, match=message):
        kzoo.evaluate(Oracle(), **options)


def test_a_task_must_be_known(monkeypatch):
    monkeypatch.setattr(Oracle, "task_name", None)
    with pytest.raises(InputError, match=r"pass task=\.\.\."):
        kzoo.evaluate(Oracle())
    with pytest.raises(LookupError, match="unknown task 'recoppy'; did you mean 'recopy'"):
        kzoo.evaluate(Oracle(), "recoppy")
