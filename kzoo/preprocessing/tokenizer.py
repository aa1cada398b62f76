"""Tokens to numbers and back."""

from collections.abc import Iterable
from typing import Any

from kzoo.annotations import Text
from kzoo.errors import InputError, did_you_mean

START, END, PAD = "<start>", "<end>", "<pad>"
MAX_VOCABULARY = 65_536


class Tokenizer:
    """A closed vocabulary: tokens separated by spaces, then the symbols for start, end and padding.

    Args:
        tokens: iterable of str. The task's vocabulary, in order; token k gets id k.

    Raises:
        InputError: no tokens, too many, a repeated one, or one with a space in it.

    Example:

    ```python
    tokenizer = kzoo.Tokenizer(["look", "run"])
    assert tokenizer.encode("run look") == [1, 0] and tokenizer.decode([1, 0]) == "run look"
    ```
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        if not isinstance(tokens, Iterable) or getattr(tokens, "shape", None) == ():
            raise InputError(f"a vocabulary is a list of tokens, not {type(tokens).__name__} {tokens!r:.60}")
        tokens = list(tokens)
        if not 1 <= len(tokens) <= MAX_VOCABULARY - 3:
            raise InputError(f"a vocabulary has 1 to {MAX_VOCABULARY - 3} tokens, not {len(tokens)}")
        for token in tokens:
            if not isinstance(token, str) or not token or token.split() != [token]:
                raise InputError(f"a token is a word without spaces, not {token!r:.60}")
        self.tokens = [*tokens, START, END, PAD]
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        if len(self.ids) != len(self.tokens):
            raise InputError("a vocabulary may not name a token twice, nor the symbols for start, end and padding")
        self.start_id, self.end_id, self.pad_id = (self.ids[symbol] for symbol in (START, END, PAD))

    @property
    def vocabulary_size(self) -> int:
        """int. Number of ids, the three symbols included."""
        return len(self.tokens)

    def encode(self, text: Text) -> list[int]:
        """Returns the ids of a text, or of a sequence of tokens.

        Raises:
            InputError: it is no text, or a token is not in the vocabulary.
        """
        words = text.split() if isinstance(text, str) else text
        if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) for word in words):
            raise InputError(f"a text is a string, or a list of tokens, not {type(text).__name__} {text!r:.60}")
        try:
            ids = [self.ids[word] for word in words]
        except KeyError as error:
            ids = [self.pad_id]
            unknown = error.args[0]
        else:
            unknown = None
        if ids and max(ids) >= self.start_id:
            word = unknown if unknown is not None else self.tokens[max(ids)]
            raise InputError(did_you_mean("token", word, self.tokens[:-3]))
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """Returns the text of ids up to the first end symbol; padding and start symbols are left out."""
        words = []
        for i in ids:
            if i == self.end_id:
                break
            if i not in (self.start_id, self.pad_id):
                words.append(self.tokens[i])
        return " ".join(words)

    def get_config(self) -> dict[str, Any]:
        return {"tokens": self.tokens[:-3]}
