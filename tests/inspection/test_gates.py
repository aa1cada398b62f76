"""Pictures of a model that runs one block step by step."""

import keras
import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.evaluation.measure import measure
from kzoo.inspection import plot_attention, plot_gates


@pytest.fixture(scope="module")
def model():
    return kzoo.models.TransformerClassifier.from_task("ctl_forward", units=8, heads=2, steps=3)


@pytest.mark.parametrize("draw, words", [(plot_attention, "the largest of 2 heads"), (plot_gates, "mean gate")])
def test_pictures(model, tmp_path, draw, words):
    draw(model, "101 d a", tmp_path / "picture.svg", steps=4)
    text = (tmp_path / "picture.svg").read_text()
    assert all(word in text for word in (words, "101 d a", "&lt;end&gt;"))
    assert [path.name for path in tmp_path.iterdir()] == ["picture.svg"]


def test_a_model_without_gates_or_steps_says_so(tmp_path):
    rel = kzoo.models.TransformerClassifier.from_task("ctl_forward", block="rel", units=8, steps=2)
    plot_attention(rel, "101 d", tmp_path / "steps.png")
    with pytest.raises(InputError, match="no copy gates"):
        plot_gates(rel, "101 d", tmp_path / "gates.png")
    recurrent = kzoo.models.RecurrentSeq2Seq.from_task("copy", encoder_units=4)
    with pytest.raises(InputError, match="does not run one block step by step"):
        plot_gates(recurrent, "1 2")


@pytest.mark.parametrize("metric", ["edit_distance", "accuracy_before_end", "last_token_accuracy"])
def test_metrics_of_written_sequences_are_refused(model, metric):
    examples = kzoo.tasks.get("ctl_forward").examples("train", 3)
    with pytest.raises(InputError, match=f"{metric} is of written sequences"):
        measure(model, examples, [metric])


def test_majority_accuracy(model):
    task = kzoo.tasks.get("ctl_forward")
    report = kzoo.evaluate(model, lengths=[9], examples=40)
    label = task.majority_label()
    share = sum(example.target == (label,) for example in task.examples("test", 40, 0, 9)) / 40
    assert report.accuracy("majority_accuracy") == {9: share} and "most frequent label" in str(report)
    with pytest.raises(InputError, match="needs a task whose targets are labels"):
        measure(model, [], ["majority_accuracy"])


def test_evaluate_with_other_steps(model):
    report = kzoo.evaluate(model, lengths=[9], examples=20, steps=5)
    assert model.inference_steps == 3 and all(row["steps"] == 5 for row in report.rows)
    x, y, _ = model.preprocessor(kzoo.tasks.get("ctl_forward").examples("test", 20, 0, 9))
    right = np.argmax(keras.ops.convert_to_numpy(model(x, steps=5)), axis=-1) == y[:, 0]
    assert report[9] == right.mean()
    with pytest.raises(InputError, match="steps must be an integer from 1"):
        kzoo.evaluate(model, lengths=[9], examples=20, steps=0)
    with pytest.raises(InputError, match="has no steps to choose"):
        kzoo.evaluate(kzoo.models.RecurrentSeq2Seq.from_task("copy", encoder_units=4), lengths=[5], steps=3)


@pytest.mark.once
@pytest.mark.parametrize("plot", [plot_attention, plot_gates])
def test_a_picture_has_room_for_so_much(plot, tmp_path):
    model = kzoo.from_preset("ndr_ctl_forward")
    for text, steps, message in (
        ("101 d a b", 10_000, "200 steps, not for 10,000"),
        ("101 " + "d " * 3000, None, "200 tokens"),
    ):
        with pytest.raises(InputError, match=f"a picture has room for {message}"):
            plot(model, text, tmp_path / "a.png", steps=steps)
    assert list(tmp_path.iterdir()) == []
