"""Exported files do what the model does, at lengths and batch sizes that they were not made with, or there is none."""

import json
import struct

import keras
import numpy as np
import pytest

import kzoo
import kzoo.exporting.export as module
from kzoo.errors import BackendError, InputError
from kzoo.exporting import reader
from kzoo.exporting.export import FORMATS, compare, export
from kzoo.exporting.program import Program
from kzoo.saving.weights import load_weights, named_variables

BACKEND = keras.config.backend()
SMALL = {"units": 8, "hidden_units": 8}
LINES = [[[-1, 0, -1, 0.0], [-1, 1, -1, -0.5]], [[0, 1, -1, -0.25]], [], [[1, None, 2, 0.0]]]
BIASES = {"self_bias": "windowed", "cross_bias": {"class": "CalibratedBias", "config": {"lines": LINES}}}
FAMILIES = {
    "RecurrentSeq2Seq": ("recopy", {"embedding_units": 6, "encoder_units": 5}),
    "TransformerClassifier": ("ctl_forward", {**SMALL, "steps": 3}),
    "RecurrentClassifier": ("ctl_forward", {"units": 6, "embedding_units": 5, "reader": "bidirectional_lstm"}),
    "SequenceTagger": ("mqar", {"units": 6, "embedding_units": 5}),
    "TransformerSeq2Seq": ("addition", {**SMALL, **BIASES, "layers": 1, "encoding": "cyclic"}),
    "TransformerDecoder": ("sorter", {**SMALL, "layers": 1, "encoding": "sinusoidal"}),
}


@pytest.fixture(scope="module")
def models():
    """A small model of each family, with the same random weights on every backend."""
    found = {}
    for name, (task, config) in FAMILIES.items():
        model = found[name] = getattr(kzoo.models, name).from_task(task, **config)
        rng = np.random.default_rng(1)
        for variable in named_variables(model).values():  # large, so that outputs differ from step to step
            variable.assign(rng.normal(0, 0.9, variable.shape).astype("float32"))
    return found


@pytest.fixture
def one_trace(monkeypatch):
    """Traces a model for PyTorch once for both formats that need it: that is most of the time."""
    if BACKEND == "torch":
        from kzoo.exporting import to_torch

        plain = to_torch.trace
        monkeypatch.setattr(to_torch, "trace", lambda p: TRACES.setdefault(id(p.model), None) or keep(p, plain(p)))


TRACES = {}


def keep(program, traced):
    TRACES[id(program.model)] = traced
    return traced


def from_onnx(path):
    import onnxruntime

    session = onnxruntime.InferenceSession(path)
    about = json.loads(session.get_modelmeta().custom_metadata_map["kzoo"])
    return lambda ids: session.run(None, {"token_ids": ids})[0], about


def from_torch(path):
    import torch

    extra = {"kzoo.json": ""}
    module = torch.export.load(path, extra_files=extra).module()
    return lambda ids: module(torch.from_numpy(ids))[0].numpy(), json.loads(extra["kzoo.json"])


def from_saved_model(path):
    import tensorflow as tf

    loaded = tf.saved_model.load(str(path))
    about = json.loads((path / "assets.extra" / "kzoo.json").read_text())
    name = "label_ids" if about["text"]["labels"] else "output_ids"
    return lambda ids: loaded.signatures["serving_default"](token_ids=tf.constant(ids))[name].numpy(), about


READERS = {"onnx": from_onnx, "torch": from_torch, "saved_model": from_saved_model}
TEXTS = {
    "addition": ["12+9", "5+1234"],
    "ctl_forward": ["101 d a b", "010 f"],
    "mqar": ["k1 v7 k4 v2 k4 . k1 .", "k3 v3 k3 ."],
    "sorter": ["5 3 1 4 2", "7"],
}


def reads_texts(model, answers, about):
    """Asserts that the README's functions read and write the texts of an exported file as the model does."""
    for text in TEXTS.get(model.task_name, ["4 7 9 8", "7 7"]):
        [answer] = answers(np.array([reader.to_ids(text, about)], "int32")).tolist()
        assert reader.to_text(answer, about) == model.generate(text)
    example = about["text"]["example"]
    assert model.generate(example["source"]) == example["answer"]


@pytest.mark.usefixtures("one_trace")
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.slow
def test_the_table(family, format, models, tmp_path):
    path = tmp_path / f"model{FORMATS[format].suffix}"
    if BACKEND in FORMATS[format].backends:
        assert export(models[family], path, format) == path and path.exists()
        if format in READERS:
            answers, about = READERS[format](path)
            reads_texts(models[family], answers, about)
    else:
        with pytest.raises(BackendError, match=f"the {BACKEND} backend does not write {format}: .*; run it with KERAS"):
            export(models[family], path, format)
    assert [p.name for p in tmp_path.iterdir()] == ([path.name] if BACKEND in FORMATS[format].backends else [])


@pytest.mark.slow
def test_what_differs_is_refused_and_leaves_nothing(models, tmp_path, monkeypatch):
    model = models["RecurrentSeq2Seq"]
    for batch_size, change in ((3, "the last token"), (1, "a row")):

        def run(sources, wrong=(batch_size, change)):
            found = module.answers(model, sources)["output_ids"].copy()
            if len(sources) == wrong[0]:
                found[-1, -1 if wrong[1] == "the last token" else 0] += 1
            return {"output_ids": found}

        monkeypatch.setitem(module.WRITERS, "keras", lambda program, path, run=run: path.write_text("x") and run)
        with pytest.raises(InputError, match=f"as keras differs from the model .* batch size {batch_size}"):
            export(model, tmp_path / "model.keras", "keras")
        assert list(tmp_path.iterdir()) == []

    def fixed_length(sources):
        if max(map(len, sources)) != 6:
            raise ValueError("the length is\n 6")
        return module.answers(model, sources)

    with pytest.raises(InputError, match="as onnx does not run at length 3: the length is 6"):
        compare(Program(model), fixed_length, "onnx")


ATTENTIONS = {
    "delta": "delta",
    "canon": "canon",
    "path": "path",
    "geometric": {"class": "MultiHeadAttention", "config": {"heads": 1, "weighting": "geometric"}},
    "cope": {"class": "MultiHeadAttention", "config": {"heads": 1, "bias": "cope"}},
}


@pytest.mark.slow
@pytest.mark.parametrize("attention", ATTENTIONS.values(), ids=ATTENTIONS)
def test_what_divides_a_length_or_gathers(attention, tmp_path):
    """Neither is possible with the symbol that a length is in an export; `export` compares at several lengths."""
    block = {"class": "TransformerBlock", "config": {"attention": attention, "heads": 1, "hidden_units": 4}}
    model = kzoo.models.TransformerDecoder.from_task("copy", block=block, layers=1, units=4)
    format = "torch" if BACKEND == "torch" else "saved_model"
    assert export(model, tmp_path / f"model{FORMATS[format].suffix}", format).exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SecondOrderReader", "PushdownReader"])
def test_a_loop_that_reads_weights_twice(name, tmp_path):
    """An exported loop takes no two tensors that share memory, as centroids and their transposition would."""
    reader = {"class": name, "config": {"units": 4}}
    model = kzoo.models.RecurrentClassifier.from_task("arithmetic", reader=reader, embedding_units=3)
    format = "onnx" if BACKEND == "torch" else "saved_model"
    assert export(model, tmp_path / f"model{FORMATS[format].suffix}", format).exists()


@pytest.mark.slow
@pytest.mark.parametrize("reader, of_torch", [("neural_gpu", "onnx"), ("rewriting", "torch")])
def test_as_many_steps_as_tokens_and_a_target_in_the_first_columns(reader, of_torch, tmp_path):
    config = {"reader": reader, "units": 6, "embedding_units": 3}
    model = kzoo.models.SequenceTagger.from_task("binary_multiplication", **config)
    format = of_torch if BACKEND == "torch" else "saved_model"
    assert export(model, tmp_path / f"model{FORMATS[format].suffix}", format).exists()


@pytest.mark.slow
def test_a_loop_within_a_loop_is_refused_as_onnx(tmp_path):
    model = kzoo.models.SequenceTagger.from_task("compute_sqrt", reader="rewriting", units=4, embedding_units=3)
    words, kind = "PyTorch cannot write this model for inputs of any length", InputError
    if BACKEND != "torch":
        words, kind = f"the {BACKEND} backend does not write", BackendError
    with pytest.raises(kind, match=f"^{words}"):
        export(model, tmp_path / "model.onnx", "onnx")
    assert not any(tmp_path.iterdir())


def test_what_pytorch_cannot_trace_is_one_sentence(tmp_path):
    reader = {"class": "RecursionInRecursionReader", "config": {"chunk": 4, "levels": 2, "beams": 1}}
    model = kzoo.models.RecurrentClassifier.from_task("parity_check", reader=reader, units=4)
    words, kind = "PyTorch cannot write this model for inputs of any length", InputError
    if BACKEND != "torch":
        words, kind = f"the {BACKEND} backend does not write", BackendError
    for format in ("onnx", "torch"):
        with pytest.raises(kind, match=f"^{words}") as error:
            export(model, tmp_path / "model", format)
        assert "\n" not in str(error.value) and not any(tmp_path.iterdir())


def test_wrong_logits_are_refused(models):
    model = models["RecurrentClassifier"]

    def run(sources):
        found = module.answers(model, sources)
        return {**found, "logits": found["logits"] + 0.01}

    compare(Program(model), lambda sources: module.answers(model, sources), "onnx")
    with pytest.raises(InputError, match="differs from the model"):
        compare(Program(model), run, "onnx")


def test_what_cannot_be_asked(models, tmp_path):
    model, path = models["RecurrentSeq2Seq"], tmp_path / "model.keras"
    with pytest.raises(InputError, match="unknown format 'onxn'; did you mean 'onnx'"):
        export(model, path, "onxn")
    with pytest.raises(InputError, match="only models of kzoo are exported, not a Sequential"):
        export(keras.Sequential(), path, "keras")
    path.write_text("mine")
    with pytest.raises(InputError, match="exists; nothing was written"):
        export(model, path, "keras")
    assert path.read_text() == "mine"
    arrays_only = kzoo.models.RecurrentSeq2Seq(13, embedding_units=2, encoder_units=2)
    with pytest.raises(InputError, match="this model takes arrays only"):
        export(arrays_only, tmp_path / "other.keras", "keras")


def test_safetensors_says_what_it_holds(models, tmp_path):
    model = models["TransformerSeq2Seq"]
    path = export(model, tmp_path / "model.safetensors", "safetensors")
    content = path.read_bytes()
    header = json.loads(content[8 : 8 + struct.unpack("<Q", content[:8])[0]])
    told = json.loads(header["__metadata__"]["kzoo"])
    assert told["class"] == "TransformerSeq2Seq" and told["task"] == "addition" and told["tokens"][-1] == "<pad>"
    load_weights(model, path)  # as any model.safetensors


def test_the_command(preset, tmp_path, capsys):
    from kzoo.cli.main import main

    path = tmp_path / "out" / "tiny.keras"
    assert main(["export", str(preset), "--format", "keras", "--output", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}\n"
    again = keras.saving.load_model(path)
    assert again.generate("4 7", max_length=5) == kzoo.from_preset(preset).generate("4 7", max_length=5)
    assert main(["export", str(preset), "--format", "keras", "--output", str(path)]) == 2
    assert "exists; nothing was written" in capsys.readouterr().err
