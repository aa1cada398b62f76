"""Attention supervision by an alignment: what the loss gets of the posteriors."""

import keras
import numpy as np
import pytest

import kzoo
from kzoo.data.alignment import Alignment
from kzoo.data.batches import Batches
from kzoo.errors import InputError
from kzoo.losses import attention_loss
from kzoo.preprocessing.learned_attention import LearnedAttention
from kzoo.preprocessing.supervised_attention import SupervisedAttention
from kzoo.tasks import Example

PAIRS = [Example(("4", "7", "9"), ("9", "7", "4")), Example(("5",), ("5",))]


def alignment_of(posteriors):
    kinds = [np.zeros((len(rows), 3), "float32") for rows in posteriors]
    return Alignment(PAIRS, "forward", {"forward": -1.0, "backward": -2.0}, posteriors, kinds)


def small_model(attention):
    keras.utils.set_random_seed(0)
    task = kzoo.tasks.get("reverse_copy")
    config = {"embedding_units": 6, "encoder_units": 5, "attention": attention, "dropout": 0.0}
    return task, kzoo.models.RecurrentSeq2Seq.from_task(task, **config)


@pytest.mark.once
def test_docstring_example(run_examples):
    run_examples(LearnedAttention)


@pytest.mark.parametrize("attention", ["waypoint", "content"])
def test_sure_posteriors_are_gold_attention(attention):
    task, model = small_model(attention)
    sure = alignment_of([np.eye(4, dtype="float32")[[2, 1, 0]], np.eye(2, dtype="float32")[[0]]])
    losses, weights = [], []
    for preprocessor in (
        SupervisedAttention(model.preprocessor, task, 0.5),
        LearnedAttention(model.preprocessor, sure, 0.5),
    ):
        x, _, _ = Batches(PAIRS, preprocessor, 2)[0]
        losses.append(float(keras.ops.convert_to_numpy(attention_loss(model.trace_attention(x)[1], x))))
        weights.append(x["gold_weight"])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    np.testing.assert_array_equal(*weights)


@pytest.mark.once
def test_any_likely_position_will_do():
    _, model = small_model("content")
    rows = np.array([[0.5, 0.0, 0.495, 0.005], [0.0, 1.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]], "float32")
    learned = LearnedAttention(model.preprocessor, alignment_of([rows, np.eye(2, dtype="float32")[[1]]]))
    x, _, _ = Batches(PAIRS, learned, 2)[0]
    kept = np.where(rows >= 0.01, rows, 0.0)
    columns = np.arange(x["gold_logs"].shape[2])
    far = np.abs(columns[:, None] - np.arange(1, 5)[None])
    np.testing.assert_allclose(np.exp(x["gold_logs"][0, :3]), kept @ np.exp(-3.0 * far).T, rtol=1e-4)
    # The end of a source of one token stands at column 2.
    np.testing.assert_allclose(x["gold_logs"][1, 0], -3.0 * np.abs(columns - 2), rtol=1e-5)
    assert x["gold_weight"][:, :4].tolist() == [[1, 1, 1, 0], [1, 0, 0, 0]]


@pytest.mark.once
def test_another_pair_is_refused():
    _, model = small_model("content")
    learned = LearnedAttention(model.preprocessor, alignment_of([np.eye(4)[[2, 1, 0]], np.eye(2)[[0]]]))
    with pytest.raises(InputError, match="the alignment has no pair"):
        learned.encode("4 7", "7 4")
