"""How each family of models makes its `Trace`."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from kzoo.annotations import Array, Inputs, Tensor, Text
from kzoo.layers.bias.alibi_bias import AlibiBias
from kzoo.layers.bias.bias_inputs import BiasInputs
from kzoo.layers.bias.masking_bias import MaskingBias
from kzoo.layers.recurrent.rewriting_reader import RewritingReader
from kzoo.models.named_arrays import Trace
from kzoo.preprocessing.decoder_preprocessor import DELIMITER
from kzoo.preprocessing.tokenizer import END, START

STATES = ("center", "spread", "mix", "visit")  # of an attention cell, what is of interest to others


def trace_recurrent(model: Any, text: Text, output: Text | None) -> Trace:
    """Returns the trace of a model with one attention; positions are in the order of the source."""
    source, target, x = _forced(model, text, output)
    found = {name: _array(value) for name, value in model.trace_attention(x)[1].items()}
    alpha, last = float(found["direction"][0]) if "direction" in found else 1.0, len(source) + 1
    arrays = {"weights": in_source_order(found["weights"], alpha)}
    arrays |= {name: found[name] for name in STATES if name in found}
    if {"center", "spread"} <= set(found):
        center = found["center"] * last  # in positions
        arrays["center"] = alpha * center + (1 - alpha) * (last - center)
        arrays["spread"] = found["spread"] * last
    axes: dict[str, tuple[str, ...]] = {name: ("written", "source")[: x.ndim] for name, x in arrays.items()}
    names = model.preprocessor.tokenizer.tokens
    labels = {"written": [names[i] for i in target], "source": [START, *(names[i] for i in source), END]}
    return _trace(model, text, target, arrays, axes, labels)


def trace_seq2seq(model: Any, text: Text, output: Text | None) -> Trace:
    """Returns the trace of a decoder with heads over a source, and over what it wrote."""
    source, target, x = _forced(model, text, output)
    layers = model.trace_layers(x)
    arrays = {"weights": _stacked(layers, "cross"), "self_weights": _stacked(layers, "self")}
    axes: dict[str, tuple[str, ...]] = {"weights": ("layer", "head", "written", "source")}
    axes["self_weights"] = ("layer", "head", "written", "read")
    attentions = {
        "": ([block.cross for block in model.decoder], {"source_ends": ops.convert_to_tensor(x["encoder_ends"])}),
        "self_": ([block.block.attention for block in model.decoder], {}),
    }
    for name, (parts, where) in attentions.items():
        if all(isinstance(part.bias, (AlibiBias, MaskingBias)) for part in parts):
            weights = arrays[f"{name}weights"]
            inputs = BiasInputs(*weights.shape[2:], **where)
            arrays[f"{name}bias"] = np.array(
                np.broadcast_to(np.stack([_array(part.bias(inputs)) for part in parts]), weights.shape)
            )
            axes[f"{name}bias"] = axes[f"{name}weights"]
    names = model.preprocessor.tokenizer.tokens
    labels = {"written": [names[i] for i in target], "source": [names[i] for i in source]}
    labels["read"] = [START, *labels["written"][:-1]]
    return _trace(model, text, target, arrays, axes, labels)


def trace_decoder(model: Any, text: Text, output: Text | None) -> Trace:
    """Returns the trace of a decoder, whose rows are all tokens of "source | written" but the last."""
    source, target, x = _forced(model, text, output)
    start, tokens = model.preprocessor.tokenizer.start_id, model.preprocessor.tokenizer.tokens
    names = [DELIMITER if i == start else tokens[i] for i in [*source, *target]]
    labels = {"token": names[:-1], "read": names[:-1], "written": names[len(source) :]}
    blocks = model.trace_blocks(x)
    if "weights" not in blocks[0]:  # a mixer, which attends to nothing
        return _trace(model, text, target, {}, {}, labels)
    axes: dict[str, tuple[str, ...]] = {"weights": ("layer", "head", "token", "read")}
    return _trace(model, text, target, {"weights": _stacked(blocks, "weights")}, axes, labels)


def trace_classifier(model: Any, text: Text, steps: int | None) -> Trace:
    """Returns the trace of a model that runs one block step by step."""
    preprocessor = model.text_preprocessor()
    ids = preprocessor.encode_source(text)
    x = preprocessor.sources([ids])
    arrays = {name: _array(value) for name, value in model.trace_steps(x, steps=steps).items()}
    axes = {"weights": ("step", "head", "column", "read"), "gates": ("step", "column", "channel")}
    axes |= dict.fromkeys(("halting", "values"), ("step", "column"))
    names = [preprocessor.tokenizer.tokens[i] for i in ids]
    answer = preprocessor.labels[int(np.argmax(_array(model(x, steps=steps))))]
    labels = {"column": names, "read": names}
    return Trace(_text(preprocessor, text), answer, arrays, {name: axes[name] for name in arrays}, labels)


def trace_reader(model: Any, text: Text) -> Trace:
    """Returns what a model that reads a text from its start would answer, did the text end after each token."""
    preprocessor = model.text_preprocessor()
    ids = preprocessor.encode_source(text)
    logits = model(preprocessor.sources([ids[: k + 1] for k in range(len(ids))]))
    answers = np.asarray(ops.convert_to_numpy(ops.softmax(logits)))
    labels = {"column": [preprocessor.tokenizer.tokens[i] for i in ids], "label": list(preprocessor.labels)}
    answer = labels["label"][int(answers[-1].argmax())]
    return Trace(_text(preprocessor, text), answer, {"answers": answers}, {"answers": ("column", "label")}, labels)


def trace_tagger(model: Any, text: Text) -> Trace:
    """Returns the probabilities of a tagger's answers at every token, and the rows that a `RewritingReader` writes."""
    preprocessor = model.text_preprocessor()
    ids, names = preprocessor.encode_source(text), preprocessor.tokenizer.tokens
    inputs = preprocessor.sources([ids])
    answers = _array(ops.softmax(model(inputs)))
    answer = preprocessor.decode(answers[preprocessor.columns(ids)].argmax(axis=-1).tolist())
    labels = {"column": [names[i] for i in ids], "label": names[: answers.shape[1]]}
    arrays: dict[str, Array] = {"answers": answers}
    axes: dict[str, tuple[str, ...]] = {"answers": ("column", "label")}
    if isinstance(model.reader, RewritingReader):
        arrays["values"] = _array(ops.swapaxes(model.reader.rows(*model.embed(inputs, training=False)), 0, 1))
        axes["values"] = ("step", "column")
    return Trace(_text(preprocessor, text), answer, arrays, axes, labels)


def in_source_order(weights: Array, alpha: float) -> Array:
    """Returns attention weights (T, S) over the real positions of a source in the order of the source.

    A model that reads from either end (`DirectionMix`) weighs positions of alpha e + (1 - alpha) reverse(e): the share
    alpha of each weight falls on the position itself, the rest on its mirror image.
    """
    return alpha * weights + (1 - alpha) * weights[:, ::-1]


def _forced(model: Any, text: Text, output: Text | None) -> tuple[list[int], list[int], Inputs]:
    """Returns the ids of a source, those of an output, by default the model's own, and both as inputs of the model."""
    preprocessor = model.text_preprocessor()
    output = model.generate([text])[0] if output is None else output
    source, target = preprocessor.encode(text, output)
    return source, target, preprocessor.arrays([source], [target])[0]


def _trace(
    model: Any,
    text: Text,
    target: Sequence[int],
    arrays: dict[str, Array],
    axes: dict[str, tuple[str, ...]],
    labels: dict[str, list[str]],
) -> Trace:
    preprocessor = model.preprocessor
    return Trace(_text(preprocessor, text), preprocessor.decode(target), arrays, axes, labels)


def _text(preprocessor: Any, text: Text) -> str:
    return text if isinstance(text, str) else ("" if preprocessor.characters else " ").join(text)


def _array(tensor: Tensor) -> Array:
    """Returns a tensor of a batch of one without the batch, as an array of int32 or float32."""
    dtype = "int32" if "int" in keras.backend.standardize_dtype(tensor.dtype) else "float32"
    return np.asarray(ops.convert_to_numpy(ops.cast(tensor, dtype)))[0]


def _stacked(traces: Sequence[Mapping[str, Tensor]], name: str) -> Array:
    """Returns what the trace of each layer has under a name, the layer first."""
    return np.stack([_array(trace[name]) for trace in traces])
