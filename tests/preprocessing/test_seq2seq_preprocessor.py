"""Examples to arrays: start, end and padding."""

import numpy as np
import pytest

from kzoo.errors import InputError
from kzoo.preprocessing.padding import bucket, pad
from kzoo.preprocessing.preprocessor import MAX_LENGTH
from kzoo.preprocessing.seq2seq_preprocessor import Seq2SeqPreprocessor


@pytest.fixture
def preprocessor():
    return Seq2SeqPreprocessor("abc")  # start 3, end 4, pad 5


def test_arrays_by_hand(preprocessor):
    x, y, weight = preprocessor([("a b", "c"), (("c",), ("a", "b"))], pad_to=(3, 4))
    assert x["encoder_token_ids"].tolist() == [[0, 1, 5], [2, 5, 5]]
    assert x["encoder_padding_mask"].tolist() == [[True, True, False], [True, False, False]]
    assert x["decoder_token_ids"].tolist() == [[3, 2, 5, 5], [3, 0, 1, 5]]
    assert y.tolist() == [[2, 4, 5, 5], [0, 1, 4, 5]]
    assert weight.tolist() == [[1, 1, 0, 0], [1, 1, 1, 0]]
    assert x["encoder_token_ids"].dtype == y.dtype == np.int32 and weight.dtype == np.float32


def test_the_longest_row_gives_the_size(preprocessor):
    x, y, _ = preprocessor([("a b c", "c"), ("c", "")])
    assert x["encoder_token_ids"].shape == (2, 3) and y.tolist() == [[2, 4], [4, 5]]


def test_the_end_symbol_may_close_the_source():
    x, _, _ = Seq2SeqPreprocessor("abc", source_end=True)([("a", "a")])
    assert x["encoder_token_ids"].tolist() == [[0, 4]]
    assert x["encoder_padding_mask"].tolist() == [[True, True]]


def test_config_makes_an_equal_one():
    made = Seq2SeqPreprocessor("abc", source_end=True)
    again = Seq2SeqPreprocessor(**made.get_config())
    assert (again.tokenizer.tokens, again.source_end) == (made.tokenizer.tokens, True)


@pytest.mark.parametrize("source", ["", "   ", (), "a " * (MAX_LENGTH + 1)])
def test_empty_and_too_long_sources_are_refused(preprocessor, source):
    with pytest.raises(InputError, match="a source has 1 to 10,000 tokens, not "):
        preprocessor.encode_source(source)


def test_the_longest_source_is_taken(preprocessor):
    assert len(preprocessor.encode_source("a " * MAX_LENGTH)) == MAX_LENGTH


def test_no_examples_are_refused(preprocessor):
    with pytest.raises(InputError, match="there are no examples"):
        preprocessor([])


def test_a_row_that_does_not_fit_is_refused():
    assert pad([[1], []], 9, 2).tolist() == [[1, 9], [9, 9]]
    with pytest.raises(InputError, match="a sequence of 3 tokens does not fit into 2"):
        pad([[1, 2, 3]], 9, 2)


def test_buckets_are_few_and_pad_little():
    assert [bucket(n) for n in (1, 8, 9, 64, 65, 72, 73, 129, 330)] == [8, 8, 16, 64, 72, 72, 80, 144, 352]
    sizes = [bucket(n) for n in range(1, 10_001)]
    assert sizes == sorted(sizes) and len(set(sizes)) < 80
    assert all(n <= size and (n <= 64 or size < 1.15 * n) for n, size in enumerate(sizes, 1))
