"""Pictures of the heads of a Transformer and of their biases."""

import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.inspection import plot_attention, plot_biases

LINES = [[[-1, 0, -1, 0.0]], [[-1, 1, -1, -0.25]], [], [], []]


@pytest.fixture(scope="module")
def model():
    bias = {"class": "CalibratedBias", "config": {"lines": LINES}}
    config = {"units": 10, "heads": 5, "self_bias": "windowed", "cross_bias": bias}
    return kzoo.models.TransformerSeq2Seq.from_task("addition", **config)


@pytest.mark.parametrize("draw, words", [(plot_attention, "attention weight"), (plot_biases, "grey is closed")])
@pytest.mark.once
def test_pictures(model, tmp_path, draw, words):
    draw(model, "12+9", tmp_path / "picture.svg", output="21")
    text = (tmp_path / "picture.svg").read_text()
    assert all(word in text for word in (words, "head 5, source", "head 5, written", "12+9", "&lt;end&gt;"))
    assert [path.name for path in tmp_path.iterdir()] == ["picture.svg"]


@pytest.mark.once
def test_a_long_input(model, tmp_path):
    text = "1" * 20 + "+" + "2" * 20
    plot_biases(model, text, tmp_path / "long.png", output="3" * 20)
    assert (tmp_path / "long.png").stat().st_size > 1000


def test_models_without_heads_or_biases_say_so(tmp_path):
    recurrent = kzoo.models.RecurrentSeq2Seq.from_task("copy", encoder_units=4)
    with pytest.raises(InputError, match="RecurrentSeq2Seq has no heads that look at a source"):
        plot_biases(recurrent, "1 2", tmp_path / "heads.png")
    shaw = kzoo.models.TransformerSeq2Seq.from_task("successor", units=8, self_bias="shaw")
    plot_attention(shaw, "12", tmp_path / "heads.png", output="13")
    with pytest.raises(InputError, match="no biases that can be drawn"):
        plot_biases(shaw, "12", tmp_path / "biases.png", output="13")
