"""Probes: projections are inner products, and the constructed sorter does what the paper saw."""

import keras
import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.inspection import plot_probe, plot_probe_accuracies, probe_accuracies


@pytest.fixture(scope="module")
def model():
    return kzoo.models.construct_sorter()


@pytest.fixture(scope="module")
def untrained():
    return kzoo.models.TransformerDecoder.from_task("sorter", units=8, hidden_units=8)


def test_projections_are_inner_products(untrained):
    found = kzoo.probe(untrained, "5 3", output="3 5")
    assert found["tokens"] == ["5", "3", "|", "3"] and found["following"] == ["3", "|", "3", "5"]
    assert found["vocabulary"][-1] == "|" and found["encoder"].shape == found["decoder"].shape == (2, 2, 4, 101)
    x, _, _ = untrained.preprocessor([("5 3", "3 5")])
    (_, last) = untrained.trace_blocks(x)
    states, embedding = (keras.ops.convert_to_numpy(v) for v in (last["attended"], untrained.embedding.embeddings))
    np.testing.assert_allclose(found["encoder"][1, 0], states[0] @ embedding[:101].T, rtol=1e-4, atol=1e-4)
    logits = keras.ops.convert_to_numpy(untrained(x))[0] - keras.ops.convert_to_numpy(untrained.classes.bias)
    np.testing.assert_allclose(found["decoder"][1, 1], logits[:, :101], rtol=1e-4, atol=1e-4)


def test_what_the_paper_saw(model):
    found = kzoo.probe(model, "5 17 43 78 92")
    names = np.array(found["vocabulary"])

    def highest(basis, block, after, position, number=1):
        return set(names[np.argsort(-found[basis][block, after, position])[:number]])

    delimiter = 5
    assert found["tokens"] == "5 17 43 78 92 | 5 17 43 78".split() and found["following"][-1] == "92"
    assert highest("encoder", 0, 0, 2) == {"43"}  # copy (Figure 4.12)
    assert highest("decoder", 0, 0, delimiter) == {"5"}  # minimum (4.14)
    assert highest("decoder", 1, 0, 8, 2) == {"43", "78"}  # identity and successor (4.13)
    assert highest("decoder", 1, 1, 8) == {"78"}


def test_docstring_example(run_examples):
    run_examples(kzoo.probe)


def test_accuracies(model, untrained):
    found = probe_accuracies(model, [1, 2, 20], examples=20)
    assert {row["value"] for rows in found.values() for row in rows.values()} == {1.0}
    assert {length: row["n"] for length, row in found["successor"].items()} == {2: 20, 20: 380}
    chance = probe_accuracies(untrained, [20], examples=40)
    assert all(rows[20]["value"] < 0.3 for rows in chance.values())
    assert chance["minimum"][20]["low"] <= chance["minimum"][20]["value"] <= chance["minimum"][20]["high"]


@pytest.mark.once
def test_pictures(model, tmp_path):
    plot_probe(model, "5 17 43", tmp_path / "states.svg", position=4)
    text = (tmp_path / "states.svg").read_text(encoding="utf-8")
    words = ("5 17 43 | 5 17  \u2192  43", "position 4, token 5", "block 2, behind its attention", "(decoder basis)")
    assert all(word in text for word in words)
    plot_probe(model, "5 17 43", tmp_path / "bar.svg")  # at the delimiter, which is a label there
    bar = (tmp_path / "bar.svg").read_text(encoding="utf-8")
    assert ">'|'<" in bar.replace("&apos;", "'") and ">|<" not in bar
    plot_probe_accuracies({"mine": probe_accuracies(model, [3], 5)}, tmp_path / "lengths.svg", (2, 20))
    text = (tmp_path / "lengths.svg").read_text()
    assert all(word in text for word in ("minimum at the delimiter", "mine", "trained on 2 to 20"))
    with pytest.raises(InputError, match="a position must be from 0 to 5, not 6"):
        plot_probe(model, "5 17 43", tmp_path / "x.svg", position=6)


def test_other_models_say_so():
    with pytest.raises(InputError, match="probes are of decoders; this is a RecurrentSeq2Seq"):
        kzoo.probe(kzoo.models.RecurrentSeq2Seq.from_task("copy", encoder_units=4), "4 7")
    for config in ({"task": "sorter", "layers": 1}, {"task": "incrementer"}):
        with pytest.raises(InputError, match="probes are of sorters"):
            probe_accuracies(kzoo.models.TransformerDecoder.from_task(**config, units=8), [5])
