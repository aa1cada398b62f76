"""What models tell of what they did: arrays with named axes."""

import json

import numpy as np
import pytest

import kzoo
from kzoo.models.named_arrays import Trace
from kzoo.registry import classes, parameters_of

SMALL = {"units": 4, "embedding_units": 4, "encoder_units": 3, "steps": 2, "heads": 2}
FAMILIES = {
    "RecurrentSeq2Seq": ("recopy", "4 7 9", "4 4 7"),
    "TransformerSeq2Seq": ("addition", "12+7", "19"),
    "TransformerDecoder": ("sorter", "5 3 1", "1 3 5"),
    "TransformerClassifier": ("ctl_forward", "101 d a", None),
    "RecurrentClassifier": ("ctl_forward", "101 d a", None),
    "SequenceTagger": ("s3", "g1 g2 g2", None),
}


def small(name):
    cls = classes("model")[name]
    sizes = {key: value for key, value in SMALL.items() if key in parameters_of(cls)}
    return cls.from_task(FAMILIES[name][0], **sizes)


@pytest.mark.parametrize("name", sorted(classes("model")))
def test_every_family(name):
    _, text, output = FAMILIES[name]
    trace = small(name).trace(text, **({} if output is None else {"output": output}))
    assert isinstance(trace, Trace) and trace.text == text and trace.answer == (output or trace.answer)
    assert set(trace) == set(trace.axes) == set(trace.arrays) and len(trace) > 0
    for key, values in trace.items():
        assert values.dtype == np.float32 and values.ndim == len(trace.axes[key])
        sizes = dict(zip(trace.axes[key], values.shape, strict=True))
        assert all(len(labels) == sizes[axis] for axis, labels in trace.labels.items() if axis in sizes)
        assert f"{key} (" in repr(trace)
        if "weights" in key or key == "answers":
            sums = values.sum(axis=-1)  # those of geometric attention may be less than 1
            assert sums.max() < 1 + 1e-5 and (sums.min() > 1 - 1e-5 or name == "TransformerClassifier")
    assert json.loads(json.dumps(trace.to_config()))["arrays"][key]["axes"] == list(trace.axes[key])


def test_names_are_stable():
    found = {
        name: {**small(name).trace(*[part for part in about[1:] if part]).axes} for name, about in FAMILIES.items()
    }
    assert found == {
        "RecurrentSeq2Seq": {"weights": ("written", "source"), "center": ("written",), "spread": ("written",)},
        "TransformerSeq2Seq": {
            "weights": ("layer", "head", "written", "source"),
            "self_weights": ("layer", "head", "written", "read"),
        },
        "TransformerDecoder": {"weights": ("layer", "head", "token", "read")},
        "TransformerClassifier": {
            "gates": ("step", "column", "channel"),
            "weights": ("step", "head", "column", "read"),
        },
        "RecurrentClassifier": {"answers": ("column", "label")},
        "SequenceTagger": {"answers": ("column", "label")},
    }


def test_recurrent():
    model = kzoo.models.RecurrentSeq2Seq.from_task("recopy", attention="mix_onestep", encoder_units=4)
    trace = model.trace("4 7 9", output="4 4 4 7")
    assert trace.labels["source"] == ["<start>", "4", "7", "9", "<end>"]
    assert trace.labels["written"] == ["4", "4", "4", "7", "<end>"] and trace["weights"].shape == (5, 5)
    assert all(trace[name].shape == (5,) for name in ("center", "spread", "mix"))


def test_seq2seq():
    lines = [[[-1, 0, -1, 0.0]], [[-1, 1, -1, -0.25]], [], [], []]
    bias = {"class": "CalibratedBias", "config": {"lines": lines}}
    config = {"units": 10, "heads": 5, "self_bias": "windowed", "cross_bias": bias}
    trace = kzoo.models.TransformerSeq2Seq.from_task("addition", **config).trace("12+9", output="21")
    assert trace.labels["source"] == ["<start>", *"012+009", "<end>"] and trace.answer == "21"
    assert trace.labels["written"] == [*"120", "<end>"] and trace.labels["read"] == ["<start>", *"120"]
    assert trace["weights"].shape == trace["bias"].shape == (2, 5, 4, 9)
    assert trace["self_weights"].shape == trace["self_bias"].shape == (2, 5, 4, 4)
    assert trace["weights"][1, 0, [0, 1, 2], [3, 2, 1]] == pytest.approx(1) and trace["bias"][0, 1, 0, 7] == -0.25


def test_rows():
    model = kzoo.models.SequenceTagger.from_task("compute_sqrt", reader="rewriting", units=4, embedding_units=3)
    trace = model.trace("1011")
    assert trace["values"].shape == (7, 5) and trace.axes["values"] == ("step", "column")
    assert trace["values"].dtype == np.int32 and trace["values"].max() < model.reader.values
    answers = trace["answers"].argmax(axis=-1)
    assert (trace["values"][-1] == answers)[trace["values"][-1] < model.answers].all()


def test_classifier():
    model = kzoo.models.TransformerClassifier.from_task("ctl_forward", units=8, heads=2, steps=3)
    trace = model.trace("101 d a")
    assert trace.labels["column"] == ["<start>", "101", "d", "a", "<end>"] and trace.answer == model.generate("101 d a")
    assert trace["weights"].shape == (3, 2, 5, 5) and trace["gates"].shape == (3, 5, 8)
    longer = model.trace("101 d a", steps=7)
    assert longer["gates"].shape == (7, 5, 8)
    np.testing.assert_allclose(longer["gates"][:3], trace["gates"], atol=1e-6)


def test_reader_answers_as_if_the_text_ended_there():
    model = small("RecurrentClassifier")
    trace = model.trace("101 d a")
    assert [trace.labels["label"][k] for k in trace["answers"].argmax(axis=1)] == model.generate(
        ["101", "101 d", "101 d a"]
    )


def test_docstring_example(run_examples):
    run_examples(Trace)
