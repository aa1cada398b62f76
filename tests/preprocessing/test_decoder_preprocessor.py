"""Source, delimiter and target as one sequence."""

import numpy as np
import pytest

from kzoo import tasks
from kzoo.errors import InputError
from kzoo.exporting.reader import to_ids, to_text
from kzoo.preprocessing.decoder_preprocessor import DecoderPreprocessor

pytestmark = pytest.mark.once


def of(name, vocabulary=None):
    task = tasks.get(name)
    return DecoderPreprocessor.from_task(task, None if vocabulary is None else tasks.get(vocabulary).vocabulary)


def test_the_papers_sequence():
    x, y, weight = of("sorter")([("5 3 1 4 2", "1 2 3 4 5")])
    assert x["token_ids"].tolist() == [[4, 2, 0, 3, 1, 100, 0, 1, 2, 3]] and x["padding_mask"].all()
    assert y.tolist() == [[2, 0, 3, 1, 100, 0, 1, 2, 3, 4]]
    assert weight.tolist() == [[0, 0, 0, 0, 0, 1, 1, 1, 1, 1]]
    assert x["token_ids"].dtype == y.dtype == np.int32 and weight.dtype == np.float32


def test_a_hint_asks_for_one_position():
    x, y, weight = of("sorted_successor", "sorter")([("5 3 1 4 2 | 4", "5")])
    assert x["token_ids"].tolist() == [[4, 2, 0, 3, 1, 100, 3]] and y[0, -1] == 4
    assert weight.tolist() == [[0, 0, 0, 0, 0, 0, 1]]


def test_delimiters_within_a_source():
    x, y, weight = of("fill", "sorter")([("5 5 5 | 5 |", "5 5")])
    assert x["token_ids"].tolist() == [[4, 4, 4, 100, 4, 100, 4, 4]] and y[0, -3:].tolist() == [4, 4, 101]
    assert weight[0].tolist() == [0, 0, 0, 0, 0, 1, 1, 1]


def test_characters_and_their_order():
    preprocessor = of("incrementer")
    assert preprocessor.encode_source("129") == preprocessor.encode_source(("1", "2", "9")) == [1, 2, 9, 11]
    assert preprocessor.encode_target("130") == [0, 3, 1, 12] and preprocessor.decode([0, 3, 1, 12]) == "130"
    assert of("carry", "incrementer").encode_target("0↑11↑0") == [0, 10, 1, 1, 10, 0, 12]


@pytest.mark.parametrize(
    "task, pair, ids, target",
    [
        ("sum_digits", ("23+5+589", "617"), [0, 0, 2, 3, 10, 0, 0, 0, 5, 10, 0, 5, 8, 9, 11], [7, 1, 6, 0, 12]),
        ("binary_addition", ("011+11", "1001"), [0, 1, 1, 0, 2, 0, 0, 1, 1, 3], [1, 0, 0, 1, 4]),
        ("successor", ("99", "100"), [0, 9, 9, 10], [0, 0, 1, 11]),
    ],
)
def test_numbers_are_filled_up(task, pair, ids, target):
    preprocessor = DecoderPreprocessor.from_task(tasks.get(task), filled=True)
    assert preprocessor.encode(*pair) == (ids, target) and preprocessor.decode(target) == pair[1]
    assert preprocessor.steps(ids) == len(target)
    again = DecoderPreprocessor(**preprocessor.get_config())
    assert again.encode(*pair) == (ids, target)
    assert to_ids(pair[0], description(preprocessor)) == ids and to_text(target, description(preprocessor)) == pair[1]
    with pytest.raises(InputError, match="a target has at most"):
        preprocessor.encode(pair[0], "1" * (len(target) + 1))


def description(preprocessor):
    tokenizer = preprocessor.tokenizer
    about = {"tokens": tokenizer.tokens, "start_id": tokenizer.start_id, "end_id": tokenizer.end_id}
    return {**about, "text": preprocessor.text_rule()}


def test_a_known_number_of_numbers_is_filled_up():
    with pytest.raises(InputError, match="only so many numbers as a task has .* sum_operands has any number"):
        DecoderPreprocessor.from_task(tasks.get("sum_operands"), filled=True)


def test_only_numbers_are_filled_up():
    with pytest.raises(InputError, match="only numbers are filled up, and copy has none"):
        DecoderPreprocessor.from_task(tasks.get("copy"), filled=True)
    with pytest.raises(InputError, match="numbers is a mapping of operator"):
        DecoderPreprocessor("0123456789", numbers={"digits": 3})


def test_padding():
    preprocessor = of("sorter")
    pairs = [("5 3", "3 5"), ("7", "7")]
    sources = [preprocessor.encode_source(source) for source, _ in pairs]
    targets = [preprocessor.encode_target(target) for _, target in pairs]
    x, y, weight = preprocessor.arrays(sources, targets, preprocessor.shape(3, 2))
    assert x["token_ids"].shape == y.shape == weight.shape == (2, 8) and x["padding_mask"].sum() == 4 + 2
    assert x["token_ids"][1].tolist() == [6, 100, 102, 102, 102, 102, 102, 102] and weight.sum() == 3
    prompts = preprocessor.prompts(sources, pad_to=8)
    assert prompts["last_token_ids"].tolist() == [100, 100] and prompts["padding_mask"].sum(axis=1).tolist() == [2, 1]
    assert preprocessor.shape(21, 20) == (40, 1)


def test_how_much_is_written():
    assert [of("sorter").steps([1, 2, 100], m) for m in (None, 1, 9)] == [2, 1, 2]
    assert of("lego").steps(of("lego").encode_source("a=+1;" * 12)) == 24
    assert of("sorted_successor").steps([1, 2, 100, 1]) == 1
    assert [of("incrementer").steps([1, 2, 11], m) for m in (None, 5)] == [30, 5]


def test_config_comes_back():
    for name in ("sorter", "incrementer", "lego"):
        config = of(name).get_config()
        assert DecoderPreprocessor(**config).get_config() == config


@pytest.mark.parametrize("text", ["", "|", "| 3", "101", "1 <start>"])
def test_bad_sources(text):
    with pytest.raises(InputError):
        of("sorter").encode_source(text)


@pytest.mark.parametrize("steps", [5, [1], [1, 2, 3], ["1", 0], [1, -1], [-1.0, 0], [1.0, 0.5]])
def test_bad_steps(steps):
    with pytest.raises(InputError, match="target_steps"):
        DecoderPreprocessor("01", target_steps=steps)


def test_there_must_be_examples():
    with pytest.raises(InputError, match="there are no examples"):
        of("sorter")([])
