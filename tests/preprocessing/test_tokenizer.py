"""Tokens to ids and back."""

import pytest

from kzoo.errors import InputError
from kzoo.preprocessing.tokenizer import Tokenizer


@pytest.fixture
def tokenizer():
    return Tokenizer(["look", "run", "jump"])


def test_ids_are_the_order_of_the_vocabulary(tokenizer):
    assert tokenizer.encode("jump look  run ") == [2, 0, 1]
    assert tokenizer.encode(("jump", "run")) == [2, 1]
    assert tokenizer.encode("") == []
    assert (tokenizer.start_id, tokenizer.end_id, tokenizer.pad_id, tokenizer.vocabulary_size) == (3, 4, 5, 6)


def test_decoding_stops_at_the_end_symbol(tokenizer):
    assert tokenizer.decode([3, 2, 0, 5, 1, 4, 0]) == "jump look run"
    assert tokenizer.decode([4, 0]) == ""


def test_config_makes_an_equal_one(tokenizer):
    assert Tokenizer(**tokenizer.get_config()).ids == tokenizer.ids


@pytest.mark.parametrize("text", ["look juump", "juump <end>", ["juump"]])
def test_an_unknown_token_is_named(tokenizer, text):
    with pytest.raises(InputError, match=r"^unknown token 'juump'; did you mean 'jump'\?$"):
        tokenizer.encode(text)


@pytest.mark.parametrize("symbol", ["<start>", "<end>", "<pad>"])
def test_the_symbols_are_no_tokens_of_a_text(tokenizer, symbol):
    with pytest.raises(InputError, match=f"unknown token '{symbol}'"):
        tokenizer.encode(f"look {symbol}")


@pytest.mark.parametrize(
    "tokens, message",
    [
        ([], "1 to 65533 tokens, not 0"),
        (map(str, range(65_534)), "1 to 65533 tokens, not 65534"),
        (["a", "a"], "twice"),
        (["a", "<pad>"], "twice"),
        (["a b"], "without spaces, not 'a b'"),
        ([""], "without spaces"),
        ([1], "without spaces, not 1"),
        (["\n"], "without spaces"),
    ],
)
def test_a_bad_vocabulary_is_refused(tokens, message):
    with pytest.raises(InputError, match=message):
        Tokenizer(tokens)
