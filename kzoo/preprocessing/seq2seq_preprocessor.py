"""Examples to arrays for a sequence-to-sequence model."""

from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np

from kzoo import checks
from kzoo.annotations import Arrays, Inputs, Tensor, TokenIds
from kzoo.preprocessing.padding import pad
from kzoo.preprocessing.preprocessor import Preprocessor
from kzoo.tasks import Task


class Seq2SeqPreprocessor(Preprocessor):
    """Turns sources and targets into the `(x, y, sample_weight)` of teacher forcing.

    Args:
        tokens: iterable of str. The vocabulary, see `Tokenizer`.
        source_end: bool. Whether the end symbol closes the source too. Defaults to False.
        characters: bool. Whether a text is a token a character, without spaces. Defaults to False.

    Example:

    ```python
    preprocessor = kzoo.Seq2SeqPreprocessor("0123456789")
    x, y, weight = preprocessor([("4 7", "4 4 4")], pad_to=(3, 5))
    assert x["encoder_token_ids"].tolist() == [[4, 7, 12]] and y.tolist() == [[4, 4, 4, 11, 12]]
    assert x["decoder_token_ids"].tolist() == [[10, 4, 4, 4, 12]] and weight.tolist() == [[1, 1, 1, 1, 0]]
    ```
    """

    arguments: tuple[str, ...] = ("source_end", "characters")
    source_names = ("encoder_token_ids", "encoder_padding_mask")

    def __init__(self, tokens: Iterable[str], source_end: bool = False, characters: bool = False) -> None:
        super().__init__(tokens, characters)
        self.source_end = checks.boolean("source_end", source_end)

    @classmethod
    def from_task(cls, task: Task) -> Self:
        """Returns the preprocessor of a task."""
        return cls(task.vocabulary, task.source_end, task.characters)

    def closed(self, ids: list[int]) -> list[int]:
        return [*ids, self.tokenizer.end_id] if self.source_end else ids

    def prompts(self, ids: Sequence[TokenIds], pad_to: int | None = None) -> dict[str, np.ndarray]:
        """Returns what generation begins with: `sources`, and the start symbols `last_token_ids` (B,)."""
        return {**self.sources(ids, pad_to), "last_token_ids": np.full(len(ids), self.tokenizer.start_id, "int32")}

    def tensors(self, token_ids: Tensor) -> Inputs:
        from keras import ops

        found = super().tensors(token_ids)
        sizes = ops.sum(ops.cast(found["encoder_padding_mask"], "int32"), axis=1)
        start = ops.full_like(sizes, self.tokenizer.start_id)
        return {**found, "last_token_ids": start, "limits": 10 * sizes + 10}

    def arrays(
        self, sources: Sequence[TokenIds], targets: Sequence[TokenIds], pad_to: tuple[int, int] | None = None
    ) -> Arrays:
        """Returns `(x, y, sample_weight)` of encoded sources and targets.

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
