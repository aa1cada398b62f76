"""Greedy decoding: it writes what the model says, whatever it is batched or padded with."""

from concurrent.futures import ThreadPoolExecutor

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


def test_any_number_of_threads_may_ask(make_model):
    model = make_model()
    expected = make_model().generate(TEXTS, max_length=8)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: model.generate(TEXTS, max_length=8), range(8))) == [expected] * 8


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


@pytest.mark.parametrize(
    "inputs",
    [
        None,
        5,
        b"4 7",
        np.int64(4),
        {"4 7": 1},
        {"4 7"},
        [5],
        [None],
        [b"4"],
        [[4, 7]],
        [["4", ["7"]]],
        np.array([4, 7]),
    ],
)
def test_what_is_no_text_is_one_sentence(model, inputs):
    with pytest.raises(InputError, match="^inputs must be a text, or a list of texts"):
        model.generate(inputs)


def test_texts_come_in_many_forms(model):
    texts = ["4 7", "9 8 1"]
    expected = model.generate(texts, max_length=8)
    tokens = [text.split() for text in texts]
    for same in (tuple(texts), iter(texts), np.array(texts), np.array(texts, object), tokens, map(tuple, tokens)):
        assert model.generate(same, max_length=8) == expected


def test_the_batch_follows_the_length(model, monkeypatch):
    monkeypatch.setattr("kzoo.models.activation.available_memory", lambda: None)
    rows = [[0] * length for length in [10] * 300 + [1000] * 140 + [10_000] * 2]
    found = list(generation.batches(model, rows))
    assert [row for batch in found for row in batch] == rows
    assert [len(batch) for batch in found] == [256, 64, 64, 56, 1, 1]
    assert list(generation.batches(model, [])) == []


ERRORS = [MemoryError(), RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 40 bytes"), ValueError("another")]


@pytest.mark.once
@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_memory_that_does_not_suffice_is_one_sentence(error, model, monkeypatch):
    def compiled(inputs, length):
        raise error

    monkeypatch.setattr(model.generator, "compiled", compiled)
    memory = str(error) != "another"
    sentence = "^memory does not suffice for 2 x 3 tokens; give shorter inputs$" if memory else "^another$"
    with pytest.raises(InputError if memory else ValueError, match=sentence):
        model.generate(["4 7 9", "4"])


@pytest.mark.once
def test_sources_of_one_bucket_have_one_shape(model, monkeypatch):
    shapes = set()

    def compiled(inputs, length):
        shapes.add((inputs["encoder_token_ids"].shape, length))
        assert inputs["limits"].max() <= length
        return np.zeros((len(inputs["limits"]), length), "int32")

    monkeypatch.setattr(model.generator, "compiled", compiled)
    for length in range(1, 101):
        model.generate(["4 " * length])
    assert len(shapes) == 13 and max(length for _, length in shapes) <= 1152


@pytest.mark.once
@pytest.mark.parametrize("name", ["RecurrentSeq2Seq", "TransformerDecoder", "TransformerSeq2Seq"])
def test_no_source_writes_more_than_its_columns_may(name):
    task = kzoo.tasks.get({"RecurrentSeq2Seq": "scan", "TransformerDecoder": "sorter"}.get(name, "addition"))
    preprocessor = getattr(kzoo.models, name).make_preprocessor(task)
    for example in task.examples("test", 50):
        source = preprocessor.encode_source(example.source)
        for columns in (len(source), len(source) + 7):
            assert 1 <= preprocessor.steps(source) <= preprocessor.max_target_length(columns)


@pytest.mark.parametrize("kind", ["seq2seq", "classifier"])
def test_a_stream_is_read_as_it_is_written(make_model, kind, monkeypatch):
    writer = make_model()
    if kind == "classifier":
        writer, texts = (
            kzoo.models.TransformerClassifier.from_task("ctl_forward", units=8, steps=2),
            ["101 d", "011 a b"],
        )
    else:
        texts = ["4 7", "9"]
    expected = writer.generate(texts)
    monkeypatch.setattr(generation, "BATCH", 2)
    read = []

    def endless():
        while True:
            read.append(None)
            yield texts[len(read) % 2 - 1]

    stream = writer.stream(endless())
    assert len(read) == 0 and [next(stream) for _ in range(5)] == [*expected, *expected, expected[0]]
    assert len(read) <= 7  # three batches of two, and the text that shows that the last of them is full
    assert list(writer.stream(iter([]))) == []
    with pytest.raises(InputError, match="must be an iterable of texts, not str '4 7'"):
        writer.stream("4 7")
    with pytest.raises(InputError, match="int 5 is none"):
        list(writer.stream([texts[0], 5]))
