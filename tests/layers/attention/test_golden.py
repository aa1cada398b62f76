"""The models with each attention cell give what the authors' implementations gave, on small random weights."""

from pathlib import Path

import numpy as np
import pytest

import kzoo
from kzoo.weights import named_variables

FOLDER = Path(__file__).parent / "golden"


def gru(original, suffix):
    """PyTorch stacks the gates reset, update, new along the outputs; Keras update, reset, new along the columns."""

    def reorder(array):
        reset, update, new = np.split(array, 3, axis=0)
        return np.concatenate([update, reset, new], axis=0)

    kernel, recurrent, bias_in, bias_hidden = (
        reorder(original[f"{name}{suffix}"]) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    return {"kernel": kernel.T, "recurrent_kernel": recurrent.T, "bias": np.stack([bias_in, bias_hidden])}


def linear(original, name):
    found = {"kernel": original[f"{name}/weight"].T}
    return found | ({"bias": original[f"{name}/bias"]} if f"{name}/bias" in original else {})


def column(array, i=0):
    return {"kernel": array[0][:, i : i + 1]}


def translate(original):
    """Returns the stored weights under the names of the model, without those of the attention."""
    encoder = {k.removeprefix("encoder/"): v for k, v in original.items() if k.startswith("encoder/")}
    decoder = {k.removeprefix("decodercell/"): v for k, v in original.items() if k.startswith("decodercell/")}
    groups = {
        "embedding": {"embeddings": original["embed_layer/weight"]},
        "boundary": {"start": original["START"], "end": original["END"]},
        "encoder.forward_gru.cell": gru(encoder, "_l0"),
        "encoder.backward_gru.cell": gru(encoder, "_l0_reverse"),
        "decoder.cell": gru(decoder, ""),
        "projection": linear(original, "out_linear1"),
    }
    return flatten(groups) | {"vocabulary_bias": original["output_map/bias"]}


def flatten(groups):
    return {f"{group}.{name}": value for group, entries in groups.items() for name, value in entries.items()}


def attention_weights(original, cell="attention"):
    """Returns the attention's weights under the names below `decoder.`; `cell` leads to the cell that reads."""
    layer = {k.removeprefix("attention_layer/"): v for k, v in original.items() if k.startswith("attention_layer/")}
    groups = {
        f"{cell}.values.hidden": linear(original, "value_transform"),
        f"{cell}.values.value": linear(layer, "value_linear"),
        f"{cell}.values.output_map": linear(layer, "head_compose_linear"),
    }
    if "dir_gater/weight" in original:
        groups["attention.direction"] = linear(original, "dir_gater")
    return groups, layer


def onestep_family(original):
    groups, layer = attention_weights(original, "attention.attention")
    groups["attention.attention.location"] = linear(layer, "position_state_linear")
    groups["attention.attention.spread"] = column(layer["Wsigma"])
    groups["attention.attention.pace"] = column(layer["Wrho"])
    return flatten(groups) | {"attention.attention.gate": layer["step_bias"][0]}


CASES = {
    "onestep": ("onestep", onestep_family),
    "monotonic": ("monotonic", onestep_family),
    "relaxed_monotonic": ("relaxed_monotonic", onestep_family),
    "onestep_minus_step3": ("onestep_minus_step3", onestep_family),
    "onestep_minus_sigmoid": ("onestep_minus_sigmoid", onestep_family),
}


@pytest.mark.parametrize("file", CASES)
def test_agrees_with_the_original(file):
    attention, translate_attention = CASES[file]
    stored = np.load(FOLDER / f"{file}.npz")
    original = {name.removeprefix("w/"): stored[name] for name in stored.files if name.startswith("w/")}
    model = kzoo.models.RecurrentSeq2Seq(14, attention=attention, embedding_units=6, encoder_units=5)
    weights = translate(original) | {f"decoder.{k}": v for k, v in translate_attention(original).items()}
    for name, variable in named_variables(model).items():
        variable.assign(weights[name])

    targets = stored["in/target_ids"]
    inputs = {
        "encoder_token_ids": stored["in/source_ids"],
        "encoder_padding_mask": stored["in/source_mask"].astype(bool),
        "decoder_token_ids": np.concatenate([np.full((4, 1), 10), targets[:, :-1]], axis=1),
    }
    hidden, trace = model.trace(inputs)
    logits = model.logits(hidden)
    to_numpy = __import__("keras").ops.convert_to_numpy
    np.testing.assert_allclose(softmax(to_numpy(logits)), stored["out/probabilities"], atol=1e-5)
    np.testing.assert_allclose(to_numpy(trace["weights"]), stored["out/attention"], atol=1e-5)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
