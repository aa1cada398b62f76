"""Greedy decoding: it writes what the model says, whatever it is batched or padded with."""

import numpy as np
import pytest

import kzoo
from kzoo import generation
from kzoo.errors import InputError

TEXTS = ["4 7 9 8", "0", "1 2 3 4 5 6 7 8 9 0 1 2", "5 5", "3 1 4 1 5"]


@pytest.fixture(scope="module")
def model(make_model):
    return make_model()


def test_each_token_is_the_likeliest_given_those_before(model):
    length = 24
    outputs = model.generate(TEXTS, max_length=length)
    assert len(set(outputs)) > 2 and any(len(set(output.split())) > 1 for output in outputs)  # not trivially so
    x, y, weight = model.preprocessor(zip(TEXTS, outputs, strict=True), pad_to=(16, 32))
    likeliest = np.argmax(model.predict_on_batch(x), axis=-1)
    for row, target, real, output in zip(likeliest, y, weight > 0, outputs, strict=True):
        ended = len(output.split()) < length  # else it was cut, and the end symbol is not its own
        n = real.sum() - (not ended)
        np.testing.assert_array_equal(row[:n], target[:n])


def test_neither_batch_nor_padding_changes_an_output(model, monkeypatch):
    together = model.generate(TEXTS, max_length=24)
    assert [model.generate(text, max_length=24) for text in TEXTS] == together
    assert model.generate(TEXTS[::-1], max_length=24) == together[::-1]
    monkeypatch.setattr(generation, "BATCH", 3)
    assert model.generate(TEXTS, max_length=24) == together


def test_it_is_not_compiled_with_old_weights(make_model):
    model = make_model()
    before = model.generate(TEXTS, max_length=8)
    model.set_weights(make_model(seed=3).get_weights())
    assert model.generate(TEXTS, max_length=8) == make_model(seed=3).generate(TEXTS, max_length=8) != before


def test_a_text_gives_a_text_and_a_list_a_list(model):
    assert isinstance(model.generate("4 7", max_length=3), str)
    assert model.generate(["4 7"], max_length=3) == [model.generate("4 7", max_length=3)]
    assert model.generate([]) == []


def test_it_stops_at_the_limit_and_at_the_end_symbol(make_model):
    model = make_model()
    bias = np.zeros(13, "float32")
    bias[11] = -1e9  # never ends
    model.vocabulary_bias.assign(bias)
    assert [len(output.split()) for output in model.generate(["4", "4 7 9"])] == [20, 40]
    assert len(model.generate("4", max_length=3).split()) == 3
    model.vocabulary_bias.assign(-bias)  # ends at once
    assert model.generate(["4 7", "1"]) == ["", ""]


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "a source has 1 to 10,000 tokens, not 0"),
        ("  ", "a source has 1 to 10,000 tokens, not 0"),
        ("4 x", "unknown token 'x'"),
        ("4 77", r"unknown token '77'; did you mean '7'\?"),
        ("4 <end>", "unknown token '<end>'"),
        ("4 " * 10_001, "a source has 1 to 10,000 tokens, not 10,001"),
        (["4", ""], "a source has 1 to 10,000 tokens, not 0"),
    ],
)
def test_a_bad_text_is_one_sentence(model, text, message):
    with pytest.raises(InputError, match=message):
        model.generate(text)


@pytest.mark.parametrize("length", [0, -1, 10**9, 2.5])
def test_a_bad_limit_is_one_sentence(model, length):
    with pytest.raises(InputError, match="max_length must be an integer from 1 to"):
        model.generate("4", max_length=length)


def test_a_model_without_preprocessor_says_so():
    model = kzoo.models.RecurrentSeq2Seq(13, embedding_units=2, encoder_units=2)
    with pytest.raises(InputError, match="this model takes arrays only"):
        model.generate("4")
