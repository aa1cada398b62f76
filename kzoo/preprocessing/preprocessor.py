"""Examples to arrays for a sequence-to-sequence model."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kzoo import checks
from kzoo.errors import InputError
from kzoo.preprocessing.tokenizer import Tokenizer

MAX_LENGTH = 10_000
Arrays = tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]


class Seq2SeqPreprocessor:
    """Turns sources and targets into the `(x, y, sample_weight)` of teacher forcing.

    Args:
        tokens: iterable of str. The vocabulary, see `Tokenizer`.
        source_end: bool. Whether the end symbol closes the source too. Defaults to False.

    Example:

    ```python
    preprocessor = kzoo.Seq2SeqPreprocessor("0123456789")
    x, y, weight = preprocessor([("4 7", "4 4 4")], pad_to=(3, 5))
    assert x["encoder_token_ids"].tolist() == [[4, 7, 12]] and y.tolist() == [[4, 4, 4, 11, 12]]
    assert x["decoder_token_ids"].tolist() == [[10, 4, 4, 4, 12]] and weight.tolist() == [[1, 1, 1, 1, 0]]
    ```
    """

    def __init__(self, tokens: Iterable[str], source_end: bool = False) -> None:
        self.tokenizer = Tokenizer(tokens)
        self.source_end = checks.boolean("source_end", source_end)

    @property
    def shortest(self) -> int:
        """int. Ids of the shortest encoded source."""
        return 1 + self.source_end

    def encode_source(self, source: str | Sequence[str]) -> list[int]:
        """Returns the ids of one source.

        Raises:
            InputError: the source is empty, longer than 10,000 tokens, or has an unknown token.
        """
        ids = self.tokenizer.encode(source)
        if not 1 <= len(ids) <= MAX_LENGTH:
            raise InputError(f"a source has 1 to {MAX_LENGTH:,} tokens, not {len(ids):,}")
        return [*ids, self.tokenizer.end_id] if self.source_end else ids

    def any_source(self, rng: np.random.Generator, length: int) -> list[str]:
        """Returns the tokens of some source that `encode_source` takes, of that length."""
        return [str(token) for token in rng.choice(self.tokenizer.tokens[:-3], length)]

    def encode_target(self, target: str | Sequence[str]) -> list[int]:
        """Returns the ids of one target with its end symbol."""
        return [*self.tokenizer.encode(target), self.tokenizer.end_id]

    def encode(self, source: str | Sequence[str], target: str | Sequence[str]) -> tuple[list[int], list[int]]:
        """Returns the ids of a source and its target."""
        return self.encode_source(source), self.encode_target(target)

    def decode(self, ids: Iterable[int]) -> str:
        """Returns the text of ids that a model wrote."""
        return self.tokenizer.decode(ids)

    def steps(self, source: Sequence[int], max_length: int | None = None) -> int:
        """Returns the most tokens that a model writes for an encoded source."""
        return max_length or 10 * len(source) + 10

    def shape(self, source: int, target: int) -> tuple[int, int]:
        """Returns what to pad to where the longest source and target have these lengths."""
        return bucket(source), bucket(target)

    def prompts(self, ids: Sequence[Sequence[int]], pad_to: int | None = None) -> dict[str, np.ndarray]:
        """Returns what generation begins with: `sources`, and the start symbols `last_token_ids` (B,)."""
        return {**self.sources(ids, pad_to), "last_token_ids": np.full(len(ids), self.tokenizer.start_id, "int32")}

    def sources(self, ids: Sequence[Sequence[int]], pad_to: int | None = None) -> dict[str, np.ndarray]:
        """Returns encoded sources as `encoder_token_ids` and `encoder_padding_mask`, each (B, S)."""
        array = pad(ids, self.tokenizer.pad_id, pad_to)
        return {"encoder_token_ids": array, "encoder_padding_mask": array != self.tokenizer.pad_id}

    def tensors(self, token_ids: Any) -> dict[str, Any]:
        """Returns what `prompts` does, and `limits` int (B,), the number `steps` of each row: all of one tensor.

        It is for models that are exported, whose only input are the ids of sources.

        Args:
            token_ids: int32 tensor of shape (B, S), encoded sources, padded at the right.
        """
        from keras import ops

        mask = token_ids != self.tokenizer.pad_id
        sizes = ops.sum(ops.cast(mask, "int32"), axis=1)
        prompt = {"encoder_token_ids": token_ids, "encoder_padding_mask": mask}
        return {**prompt, "last_token_ids": ops.full_like(sizes, self.tokenizer.start_id), "limits": 10 * sizes + 10}

    def room(self, columns: Any) -> Any:
        """Returns a number that no row of `limits` exceeds where `tensors` has so many columns."""
        return 10 * columns + 10

    def arrays(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        pad_to: tuple[int, int] | None = None,
    ) -> Arrays:
        """Returns `(x, y, sample_weight)` of encoded sources and targets.

        Args:
            sources: sequence of id lists, from `encode_source`.
            targets: sequence of id lists, from `encode_target`.
            pad_to: (int, int). Lengths S and T of the arrays. Defaults to the longest of the batch.

        Returns:
            `x`, a dict of `encoder_token_ids` (B, S), `encoder_padding_mask` (B, S) and `decoder_token_ids` (B, T), the
            target shifted right behind the start symbol; `y`, the target ids (B, T); and the weight, 1.0 at real ids.
        """
        y = pad(targets, self.tokenizer.pad_id, pad_to and pad_to[1])
        weight = (y != self.tokenizer.pad_id).astype("float32")
        start = np.full((len(y), 1), self.tokenizer.start_id, "int32")
        shifted = np.concatenate(
            [start, np.where(y == self.tokenizer.end_id, self.tokenizer.pad_id, y)[:, :-1]], axis=1
        )
        x = self.sources(sources, pad_to and pad_to[0])
        return {**x, "decoder_token_ids": shifted}, y, weight

    def __call__(self, examples: Iterable[Any], pad_to: tuple[int, int] | None = None) -> Arrays:
        """Returns `(x, y, sample_weight)` of pairs (source, target), each a text or a sequence of tokens."""
        pairs = [self.encode(source, target) for source, target in examples]
        if not pairs:
            raise InputError("there are no examples")
        sources, targets = zip(*pairs, strict=True)
        return self.arrays(sources, targets, pad_to)

    def get_config(self) -> dict[str, Any]:
        return {**self.tokenizer.get_config(), "source_end": self.source_end}


def pad(rows: Sequence[Sequence[int]], value: int, length: int | None = None) -> np.ndarray:
    """Returns rows of ids as one int32 array, filled up at the right.

    Raises:
        InputError: a row is longer than `length`.
    """
    longest = max(map(len, rows))
    if length is not None and longest > length:
        raise InputError(f"a sequence of {longest} tokens does not fit into {length}")
    array = np.full((len(rows), length or longest), value, "int32")
    for row, ids in zip(array, rows, strict=True):
        row[: len(ids)] = ids
    return array


def bucket(length: int) -> int:
    """Returns the length to pad to: few values, so that a compiled model meets few shapes.

    Multiples of 8 up to 64, then steps of an eighth of the next lower power of two: at most 14 % is padding.
    """
    step = 8 if length <= 64 else 2 ** (length - 1).bit_length() // 16
    return -(-length // step) * step
