"""One task through every head: the same pairs, and the same answers asked, whatever the model."""

import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError

BLOCK = {"class": "TransformerBlock", "config": {"norm": "before", "attention": "delta"}}
HEADS = {
    "RecurrentSeq2Seq": {"encoder_units": 5, "embedding_units": 6},
    "TransformerDecoder": {"units": 8, "hidden_units": 8, "layers": 1, "block": BLOCK},
    "TransformerClassifier": {"units": 8, "hidden_units": 8, "steps": 2},
    "RecurrentClassifier": {"units": 6, "reader": "stack"},
    "SequenceTagger": {"units": 6},
}


def make(head, task):
    return getattr(kzoo.models, head).from_task(task, **HEADS[head])


@pytest.mark.parametrize("task", ["parity_check", "s3", "flip_flop"])
@pytest.mark.parametrize("head", HEADS)
@pytest.mark.once
def test_labels_through_every_head(head, task):
    if head == "SequenceTagger" and task != "s3":
        with pytest.raises(InputError, match=f"at tokens of the source, and {task} does not say at which"):
            make(head, task)
        return
    model, examples = make(head, task), kzoo.tasks.get(task).examples("train", 4)
    x, y, weight = model.preprocessor(examples)
    for i, (source, target) in enumerate(examples):
        asked = [model.preprocessor.tokenizer.tokens[k] if not hasattr(model.preprocessor, "labels") else
                 model.preprocessor.labels[k] for k in y[i][weight[i] > 0]]  # fmt: skip
        asked = [token for token in asked if token != "<end>"]
        whole = list(target)
        assert asked == (whole[-1:] if "Classifier" in head else whole)
        assert len(source) <= max(np.array(v).shape[-1] for v in x.values())
    report = kzoo.evaluate(model, task, lengths=[41 if task != "flip_flop" else 33], examples=5)
    assert 0 <= report.rows[0]["value"] <= 1
    if head == "TransformerDecoder":
        steps = model.preprocessor.steps(model.preprocessor.encode_source(examples[0].source))
        assert steps == len(examples[0].target)


def test_an_answer_that_is_a_sequence_has_no_classifier():
    with pytest.raises(InputError, match="the targets of reverse_string are sequences"):
        make("TransformerClassifier", "reverse_string")


def test_the_last_token_answers(tmp_path):
    model = make("RecurrentClassifier", "s3")
    assert model.generate("g1 g2 g3") in kzoo.tasks.get("s3").vocabulary
    model.save_to_preset(tmp_path / "tiny")
    again = kzoo.from_preset(tmp_path / "tiny")
    assert again.preprocessor.last_answers and again.generate("g1 g2 g3") == model.generate("g1 g2 g3")
