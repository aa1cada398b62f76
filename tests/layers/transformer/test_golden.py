"""The classifier with each block and depth gives what the authors' implementation gave, on small random weights."""

from pathlib import Path

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.saving.weights import named_variables

FOLDER = Path(__file__).parent / "golden"
HEADS, HEAD, SIZE = 3, 4, 12
END, START = 13, 14

SMALL = {"units": SIZE, "heads": HEADS, "hidden_units": 24, "steps": 4}
CASES = {
    "ndr": {"block": "ndr"},
    "abs_rel_gate": {"block": "abs_rel_gate", "hidden_units": 48},
    "rel": {"block": "rel", "readout": "first"},
    "transformer": {"block": "transformer", "encoding": "sinusoidal"},
    "geometric_ungated": {"block": "geometric"},
    "act_rel_A": {"block": "rel", "depth": "act"},
    "act_rel_U": {"block": "rel", "depth": "act_universal"},
}


def linear(original, name):
    found = {"kernel": original[f"{name}/weight"].T}
    return found | ({"bias": original[f"{name}/bias"]} if f"{name}/bias" in original else {})


def norm(original, name):
    return {"gamma": original[f"{name}/weight"], "beta": original[f"{name}/bias"]}


def heads(rows):
    """Rows of a matrix (N * k, D) head by head, as kernels (D, N * H) of the k / H maps that they hold."""
    parts = rows.reshape(HEADS, -1, HEAD, SIZE)
    return [{"kernel": parts[:, i].reshape(-1, SIZE).T} for i in range(parts.shape[1])]


def attention(w):
    """Returns the groups of an attention and its bias."""
    key, value = heads(w["data_to_kv/weight"])
    found = {"query": linear(w, "data_to_q"), "key": key, "value": value, "projection": linear(w, "multi_head_merge")}
    if "scale" in w:
        found[""] = {"scale": w["scale"], "content_bias": w["global_content_bias"][:, None]}
    if "data_to_qp/weight" in w:
        found["bias.direction"] = linear(w, "data_to_qp")
        found["bias"] = {"scale": w["scale_pos"], "offset": w["s_bias"]}
    elif "global_pos_bias" in w:
        found["bias.distance"] = linear(w, "pos_to_pq")
        found["bias"] = {"distance_bias": w["global_pos_bias"][:, None]}
    if "data_to_absgate/weight" in w:
        found["bias.gate"] = linear(w, "data_to_absgate")
    return found


def translate(original):
    """Returns the stored weights under the names of the model."""
    w = {name.removeprefix("trafo/layer/"): value for name, value in original.items()}
    gated = "g1/weight" in w
    prefix, names = (
        ("att", ("p1", "p2", "nmerge", "no")) if gated else ("self_attn", ("linear1", "linear2", "norm1", "norm2"))
    )
    below = {name.removeprefix(f"{prefix}/"): value for name, value in w.items() if name.startswith(f"{prefix}/")}
    block = {f"attention.{name}".rstrip("."): group for name, group in attention(below).items()}
    block |= {"feed_forward.inner": linear(w, names[0]), "feed_forward.outer": linear(w, names[1])}
    block |= {"attention_norm": norm(w, names[2])}
    if f"{names[3]}/weight" in w:
        block |= {"update_norm": norm(w, names[3])}
    groups = {f"encoder.block.{'block.' * gated}{name}": group for name, group in block.items()}
    if gated:
        groups |= {f"encoder.block.gate.{name}": linear(w, part) for name, part in (("inner", "g1"), ("outer", "g2"))}
    if "trafo/p_map/weight" in w:
        groups["encoder.halting"] = linear(w, "trafo/p_map")
    groups |= {"embedding": {"embeddings": w["embedding/weight"]}, "classes": linear(w, "output_map")}
    return {f"{group}.{name}": value for group, entries in groups.items() for name, value in entries.items()}


def with_boundaries(token_ids, lengths):
    """Puts the start symbol before, and the end symbol right after, the real tokens."""
    rows = [[START, *ids[:length], END] for ids, length in zip(token_ids.tolist(), lengths, strict=True)]
    longest = max(map(len, rows))
    ids = np.array([row + [0] * (longest - len(row)) for row in rows], "int32")
    return {"token_ids": ids, "padding_mask": np.arange(longest) < np.array(lengths)[:, None] + 2}


@pytest.mark.parametrize("file", CASES)
def test_agrees_with_the_original(file):
    stored = np.load(FOLDER / f"{file}.npz")
    original = {name.removeprefix("w/"): stored[name] for name in stored.files if name.startswith("w/")}
    model = kzoo.models.TransformerClassifier(15, 6, **{**SMALL, **CASES[file]})
    weights = translate(original)
    assert set(weights) == set(named_variables(model))
    for name, variable in named_variables(model).items():
        variable.assign(weights[name])
    inputs = with_boundaries(stored["in/token_ids"], stored["in/lengths"])
    np.testing.assert_allclose(ops.convert_to_numpy(model(inputs)), stored["out/logits"], rtol=0, atol=1e-5)


def test_every_file_is_compared():
    assert {path.stem for path in FOLDER.glob("*.npz")} == set(CASES)
