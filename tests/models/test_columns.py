"""Targets that name columns of the source: what is written by pointing."""

import keras
import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError

SENTENCES = ("Ada saw a key in the box .", "The dog drew Ben .")


@pytest.fixture(scope="module")
def model():
    keras.utils.set_random_seed(0)  # of random weights some would write <pad>, which no text has
    task = kzoo.tasks.get("cogs_pp_recursion")
    return kzoo.models.RecurrentSeq2Seq.from_task(
        task, attention="seek", columns=128, embedding_units=8, encoder_units=8, dropout=0.0
    )


@pytest.fixture(scope="module")
def examples():
    task = kzoo.tasks.get("cogs_pp_recursion")
    return [(text, " ".join(task.solve(tuple(text.split())))) for text in SENTENCES]


def softmax(x):
    found = np.exp(x - x.max(axis=-1, keepdims=True))
    return found / found.sum(axis=-1, keepdims=True)


def test_the_formulas(model, examples):
    tokens = model.preprocessor.tokenizer.tokens
    first = tokens.index("0")
    x, y, weight = model.preprocessor(examples)
    hidden, trace = model.trace_attention(x)
    hidden, weights = ops.convert_to_numpy(hidden), ops.convert_to_numpy(trace["weights"])
    table, bias = ops.convert_to_numpy(model.embedding.embeddings), ops.convert_to_numpy(model.vocabulary_bias)
    kernel, own = (ops.convert_to_numpy(v) for v in (model.projection.kernel, model.projection.bias))
    logits = (hidden @ kernel + own) @ table.T + bias
    logits[..., first : first + 128] = -np.inf
    kernel, own = (ops.convert_to_numpy(v) for v in (model.written.kernel, model.written.bias))
    g = 1 / (1 + np.exp(-(hidden @ kernel + own)))
    expected = g * softmax(logits)
    columns = weights.shape[2] - 1  # the source's, and the end vector
    expected[..., first : first + columns] = (1 - g) * weights[..., 1:]
    found = np.exp(ops.convert_to_numpy(model(x)))
    np.testing.assert_allclose(found[weight > 0], expected[weight > 0], atol=1e-5)
    assert found.shape == (2, y.shape[1], len(tokens))
    with pytest.raises(InputError, match="need attention weights"):
        model.logits(hidden)


def test_the_decoder_reads_every_column_alike(model, examples):
    (source, target), _ = examples
    x, _, _ = model.preprocessor([(source, target)])
    other, _, _ = model.preprocessor([(source, target.replace(" 3 ", " 90 "))])
    assert (x["decoder_token_ids"] != other["decoder_token_ids"]).any()
    np.testing.assert_allclose(ops.convert_to_numpy(model(x)), ops.convert_to_numpy(model(other)), atol=1e-6)


def test_generation_follows_the_logits(model):
    outputs = model.generate(list(SENTENCES), max_length=20)
    for source, output in zip(SENTENCES, outputs, strict=True):
        x, _, _ = model.preprocessor([(source, output)])
        written = [model.preprocessor.tokenizer.ids[word] for word in output.split()]
        best = ops.convert_to_numpy(model(x))[0].argmax(axis=-1)
        assert best[: len(written)].tolist() == written


def test_the_argument_is_kept(model, examples):
    x, y, _ = model.preprocessor(examples)
    copy = type(model).from_config(model.get_config())
    assert copy.columns == 128 and copy.count_params() == model.count_params()
    assert copy(x).shape == (*y.shape, model.vocabulary_size)
    plain = kzoo.models.RecurrentSeq2Seq.from_task("cogs_pp_recursion", embedding_units=8, encoder_units=8)
    assert plain.written is None and plain.columns == 0


@pytest.mark.parametrize("columns", [-1, 1_000, 2.5])
def test_what_is_refused(columns):
    with pytest.raises(InputError, match="columns must be"):
        kzoo.models.RecurrentSeq2Seq.from_task("cogs_pp_recursion", columns=columns)


def test_an_encoder_with_a_window(examples):
    model = kzoo.models.RecurrentSeq2Seq.from_task("cogs_pp_recursion", embedding_units=8, encoder_units=8, window=2)
    assert model.encoder.window == 2 and type(model).from_config(model.get_config()).encoder.window == 2
    x, y, _ = model.preprocessor(examples)
    assert model(x).shape == (*y.shape, model.vocabulary_size)
    with pytest.raises(InputError, match="encoder_noise is noise on the states of a GRU"):
        kzoo.models.RecurrentSeq2Seq.from_task("copy", window=1, encoder_noise=0.5)
