"""What all preprocessors have in common."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kzoo import checks
from kzoo.annotations import Arrays, Config, Inputs, Tensor, Text, TokenIds
from kzoo.errors import InputError
from kzoo.preprocessing.padding import bucket, pad
from kzoo.preprocessing.tokenizer import Tokenizer
from kzoo.tasks.of_tokens import tokens_of

MAX_LENGTH = checks.MAX_LENGTH


def steps_for(steps: Sequence[Any], tokens: int) -> int:
    """Returns the number of tokens, one or more, that a pair of `checks.steps` gives for so many of the source."""
    factor, number = steps
    return max(1, round(factor * tokens) + number)


class Preprocessor:
    """Base of what turns examples into the `(x, y, sample_weight)` of a model, and what it writes into texts.

    A text is a string of tokens with spaces between them, without spaces where a token is a character; or the list of
    its tokens. A subclass has a class method `from_task`, and says in `arguments` which arguments of its constructor,
    kept as attributes of the same name, make up its config beside the tokens; with `closed` what stands around a
    source; and in `arrays` what `x` is.

    Args:
        tokens: iterable of str. The vocabulary, see `Tokenizer`.
        characters: bool. Whether a text is a token a character, without spaces. Defaults to False.
        reversed_target: bool. Whether the model writes a target from its last token to its first. Defaults to False.
    """

    arguments: tuple[str, ...] = ("characters", "reversed_target")
    layout: tuple[str, ...] = ()  # further arguments of `from_task`
    source_names = ("token_ids", "padding_mask")  # in `x`

    def __init__(self, tokens: Iterable[str], characters: bool = False, reversed_target: bool = False) -> None:
        self.tokenizer = Tokenizer(tokens)
        self.characters = checks.boolean("characters", characters)
        self.reversed_target = checks.boolean("reversed_target", reversed_target)

    @property
    def shortest(self) -> int:
        """int. Ids of the shortest encoded source."""
        return len(self.closed([0]))

    @property
    def has_end(self) -> bool:
        """bool. Whether the end symbol closes each target, which has no number of tokens that is known before."""
        return True

    def closed(self, ids: list[int]) -> list[int]:
        """Returns the ids of a source with the symbols that stand around it."""
        return ids

    def tokens(self, text: Text) -> Sequence[str]:
        """Returns the tokens of a text."""
        if not isinstance(text, str):
            return text
        return tokens_of(text, self.characters)

    def encode_source(self, source: Text) -> list[int]:
        """Returns the ids of one source as the model reads it.

        Raises:
            InputError: the source is empty, longer than 10,000 tokens, or has an unknown token.
        """
        return self.closed(self.check_length(self.tokenizer.encode(self.tokens(source))))

    def check_length(self, ids: list[int]) -> list[int]:
        """Returns the ids of a source if it has neither none nor too many."""
        if not 1 <= len(ids) <= MAX_LENGTH:
            raise InputError(f"a source has 1 to {MAX_LENGTH:,} tokens, not {len(ids):,}")
        return ids

    def any_source(self, rng: np.random.Generator, length: int) -> list[str]:
        """Returns the tokens of some source that `encode_source` takes, of that length."""
        return [str(token) for token in rng.choice(self.tokenizer.tokens[:-3], length)]

    def encode_target(self, target: Text) -> list[int]:
        """Returns the ids of one target as the model writes them, with its end symbol."""
        ids = self.tokenizer.encode(self.tokens(target))
        return [*(ids[::-1] if self.reversed_target else ids), self.tokenizer.end_id]

    def encode(self, source: Text, target: Text) -> tuple[list[int], list[int]]:
        """Returns the ids of a source and its target."""
        return self.encode_source(source), self.encode_target(target)

    def decode(self, ids: Iterable[int]) -> str:
        """Returns the text of ids that a model wrote."""
        words = self.tokenizer.decode(ids).split()
        return ("" if self.characters else " ").join(words[::-1] if self.reversed_target else words)

    def steps(self, source: TokenIds, max_length: int | None = None) -> int:
        """Returns the most tokens that a model writes for an encoded source."""
        return max_length or 10 * len(source) + 10

    def max_target_length(self, columns: Any) -> Any:
        """Returns a number that `steps` does not exceed for encoded sources of up to so many tokens."""
        return 10 * columns + 10

    def shape(self, source: int, target: int) -> tuple[int, int]:
        """Returns what to pad to where the longest source and target have these lengths."""
        return bucket(source), bucket(target)

    def sources(self, ids: Sequence[TokenIds], pad_to: int | None = None) -> dict[str, np.ndarray]:
        """Returns encoded sources as arrays (B, S) of ids and of which of them are real, under `source_names`."""
        array = pad(ids, self.tokenizer.pad_id, pad_to)
        return dict(zip(self.source_names, (array, array != self.tokenizer.pad_id), strict=True))

    def tensors(self, token_ids: Tensor) -> Inputs:
        """Returns what `sources` does, of one tensor; and, where the model generates, what `prompts` does, and `limits`
        int (B,), the number `steps` of each row.

        It is for models that are exported, whose only input are the ids of sources.

        Args:
            token_ids: int32 tensor of shape (B, S), encoded sources, padded at the right.
        """
        return dict(zip(self.source_names, (token_ids, token_ids != self.tokenizer.pad_id), strict=True))

    def arrays(
        self, sources: Sequence[TokenIds], targets: Sequence[TokenIds], pad_to: tuple[int, int] | None = None
    ) -> Arrays:
        """Returns `(x, y, sample_weight)` of encoded sources and targets.

        Args:
            sources: sequence of id lists, from `encode_source`.
            targets: sequence of id lists, from `encode_target`.
            pad_to: (int, int). What to pad to, as `shape` gives it. Defaults to the longest of the batch.
        """
        raise NotImplementedError

    def __call__(self, examples: Iterable[Any], pad_to: tuple[int, int] | None = None) -> Arrays:
        """Returns `(x, y, sample_weight)` of pairs (source, target), each a text."""
        pairs = [self.encode(source, target) for source, target in examples]
        if not pairs:
            raise InputError("there are no examples")
        sources, targets = zip(*pairs, strict=True)
        return self.arrays(sources, targets, pad_to)

    def text_rule(self) -> Config:
        """Returns how a text becomes ids and ids a text, as plain data: see `kzoo.exporting.reader`."""
        around = self.closed([-1])
        prefix, suffix = around[: around.index(-1)], around[around.index(-1) + 1 :]
        words = {"characters": self.characters, "prefix": prefix, "suffix": suffix, "delimiter": None, "number": None}
        return {**words, "reversed_target": self.reversed_target, "labels": None}

    def get_config(self) -> Config:
        return {**self.tokenizer.get_config(), **{name: getattr(self, name) for name in self.arguments}}
