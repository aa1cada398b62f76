"""The metrics, on models whose outputs are known."""

import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.evaluation.measure import edit_distance, measure
from kzoo.models.tracing import in_source_order
from kzoo.preprocessing.seq2seq_preprocessor import Seq2SeqPreprocessor
from kzoo.tasks import Example


class Scripted:
    """Says what a script says for each source, whatever the target; looks at one source position a step."""

    def __init__(self, answers):
        self.preprocessor = Seq2SeqPreprocessor("0123456789")
        self.answers = {
            tuple(map(int, source)): self.preprocessor.encode_target(out) for source, out in answers.items()
        }
        self.generator = self

    def text_preprocessor(self):
        return self.preprocessor

    def answer(self, row, length):
        ids = self.answers[tuple(i for i in row if i < 10)]
        return (ids + [self.preprocessor.tokenizer.pad_id] * length)[:length]

    def predict_on_batch(self, x):
        steps = x["decoder_token_ids"].shape[1]
        ids = np.array([self.answer(row, steps) for row in x["encoder_token_ids"].tolist()])
        return np.eye(self.preprocessor.tokenizer.vocabulary_size)[ids]

    def decode(self, sources, length):
        return np.array([self.answer(row, length) for row in sources])


def example(source, target):
    return Example(tuple(source), tuple(target))


def test_metrics_by_hand():
    model = Scripted({"12": ["1", "2"], "34": ["3", "3"], "56": ["5", "6", "6"]})
    examples = [example("12", "12"), example("34", "34"), example("56", "56")]
    found = measure(model, examples, ["sequence_accuracy", "token_accuracy", "accuracy_before_end", "edit_distance"])
    assert found["sequence_accuracy"] == pytest.approx(1 / 3)
    # Only the third says the target's tokens and then goes on.
    assert found["accuracy_before_end"] == pytest.approx(2 / 3)
    assert found["token_accuracy"] == pytest.approx((3 + 2 + 2) / 9)
    assert found["edit_distance"] == pytest.approx((0 + 1 + 1) / 3)


def test_the_last_token_counts_whatever_is_before_it():
    answers = {"12": ["1", "2"], "34": ["3", "3"], "56": ["7", "6"], "78": ["7"], "90": ["9", "0", "0"]}
    examples = [example(source, source) for source in answers]
    assert measure(Scripted(answers), examples, ["last_token_accuracy"]) == {"last_token_accuracy": 3 / 5}


def test_output_without_end_is_cut():
    model = Scripted({"1": ["1"] * 500})
    found = measure(model, [example("1", "1")], ["edit_distance"])
    assert found["edit_distance"] == 2 * 2 + 10 - 1


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("abcd", "abcd", 0), ("ab", "ba", 2)],
)
def test_edit_distance(a, b, distance):
    assert edit_distance(a, b) == distance


def test_edit_distance_against_recursion():
    rng = np.random.default_rng(0)

    def slow(a, b):
        if not a or not b:
            return len(a) + len(b)
        return min(slow(a[1:], b[1:]) + (a[0] != b[0]), slow(a[1:], b) + 1, slow(a, b[1:]) + 1)

    for _ in range(30):
        a, b = (rng.integers(0, 3, rng.integers(0, 6)).tolist() for _ in range(2))
        assert edit_distance(a, b) == slow(a, b)


def test_unknown_metric():
    with pytest.raises(InputError, match="did you mean 'edit_distance'"):
        measure(None, [], ["edit_distanc"])


def test_weights_in_source_order():
    weights = np.array([[0.5, 0.3, 0.2]])
    np.testing.assert_allclose(in_source_order(weights, 1.0), weights)
    np.testing.assert_allclose(in_source_order(weights, 0.0), weights[:, ::-1])
    np.testing.assert_allclose(in_source_order(weights, 0.75).sum(), 1.0)


def test_attention_loss():
    task = kzoo.tasks.get("copy")
    model = kzoo.models.RecurrentSeq2Seq.from_task(task, attention="content", encoder_units=4)
    examples = [example("12345", "12345"), example("678", "678")]
    found = measure(model, examples, ["attention_loss"], task)["attention_loss"]
    x, _, _ = model.preprocessor(examples)
    weights = np.asarray(__import__("keras").ops.convert_to_numpy(model.trace_attention(x)[1]["weights"]))
    total, count = 0.0, 0
    for row, n in enumerate((5, 3)):
        for step in range(n):
            wanted = np.eye(n + 2)[step + 1]
            total, count = total + np.square(weights[row, step, : n + 2] - wanted).sum(), count + n + 2
    assert found == pytest.approx(total / count, rel=1e-4)


def test_attention_loss_needs_gold_attention():
    model = kzoo.models.RecurrentSeq2Seq.from_task("ctl_forward", encoder_units=4)
    with pytest.raises(InputError, match="gold attention"):
        measure(model, [example(("101", "d"), ("001",))], ["attention_loss"], kzoo.tasks.get("ctl_forward"))
