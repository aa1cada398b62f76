"""Pictures of attention and of accuracy by length."""

import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.inspection.attention import attention_trace, plot_attention
from kzoo.inspection.plots import plot_lengths


@pytest.fixture(scope="module")
def model():
    return kzoo.models.RecurrentSeq2Seq.from_task("recopy", attention="mix_onestep", encoder_units=4)


def test_trace(model):
    trace = attention_trace(model, "4 7 9", output="4 4 4 7")
    assert trace["source"] == ["<s>", "4", "7", "9", "</s>"] and trace["output"] == ["4", "4", "4", "7", "<end>"]
    assert trace["weights"].shape == (5, 5)
    np.testing.assert_allclose(trace["weights"].sum(axis=1), 1.0, atol=1e-5)
    assert all(trace[name].shape == (5,) for name in ("center", "spread", "mix"))


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_plot_attention(model, tmp_path, suffix):
    path = tmp_path / f"attention.{suffix}"
    plot_attention(model, "4 7 9", path, output="4 4 4")
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG" if suffix == "png" else b"<?xml")
    if suffix == "svg":
        assert all(word in content.decode() for word in ("&lt;/s&gt;", "attention weight", "weight of", "location"))
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_unknown_format(model, tmp_path):
    with pytest.raises(InputError, match=r"\.svg or \.png"):
        plot_attention(model, "4 7", tmp_path / "picture.doc", output="4")


def test_plot_lengths_is_reproducible(tmp_path):
    row = {"metric": "sequence_accuracy", "low": 0.4, "high": 0.6, "paper": 1.0}
    rows = [{**row, "length": length, "value": 0.5} for length in (5, 10)]
    for name in ("a.svg", "b.svg"):
        plot_lengths({"one": rows, "two": rows}, tmp_path / name, trained=(5, 10), note="the note", unit="digits")
    a, b = (tmp_path / name for name in ("a.svg", "b.svg"))
    assert a.read_bytes() == b.read_bytes()
    assert all(word in a.read_text() for word in ("the note", "length (digits)", "trained on 5 to 10", "two"))


def test_a_picture_has_room_for_so_many_tokens(make_model, tmp_path):
    with pytest.raises(InputError, match="a picture has room for 200 tokens, not for 3,000"):
        plot_attention(make_model(), " ".join("4" * 3000), tmp_path / "a.png")
    with pytest.raises(InputError, match="a picture has room for 200 written tokens, not for 20"):
        plot_attention(make_model(), "4 7", tmp_path / "a.png", " ".join("4" * 201))
    assert list(tmp_path.iterdir()) == []
