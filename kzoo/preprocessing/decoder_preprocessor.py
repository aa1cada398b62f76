"""Examples to arrays for a decoder: source, delimiter and target as one sequence."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from kzoo import checks
from kzoo.annotations import Arrays, Config, Inputs, Tensor, Text, TokenIds
from kzoo.errors import InputError
from kzoo.preprocessing.number_layout import NUMBERS, NumberLayout, numbers_of
from kzoo.preprocessing.padding import bucket, pad
from kzoo.preprocessing.preprocessor import MAX_LENGTH, Preprocessor, steps_for
from kzoo.tasks import Task
from kzoo.tasks.number_task import NumberTask
from kzoo.tasks.separated import separated

DELIMITER = "|"


class DecoderPreprocessor(Preprocessor):
    """Turns sources and targets into the `(x, y, sample_weight)` of a decoder that reads both as one sequence.

    The start symbol is the delimiter between source and target. A source with "|" in it has delimiters there, and says
    itself whether it ends with one; any other is closed by one. Only the target is asked.

    Args:
        tokens: iterable of str. The vocabulary, see `Tokenizer`.
        target_steps: (float, int) or None. None: the end symbol closes each target. (a, b): there is no end symbol, and
            a model writes a * (source tokens) + b tokens. Defaults to None.
        characters: bool. Whether a text is a token a character, without spaces. Defaults to False.
        reversed_target: bool. Whether the model writes a target from its last token to its first. Defaults to False.
        numbers: dict or None. `operator`, `single`, `zeros`, `operands` and `lowest_first` as of
            `CalculationPreprocessor`: sources and targets are numbers, filled up with zeros as there. Defaults to None.

    Example:

    ```python
    from kzoo.preprocessing.decoder_preprocessor import DecoderPreprocessor

    preprocessor = DecoderPreprocessor("0123456789", target_steps=(1, 0))
    x, y, weight = preprocessor([("4 2", "2 4"), ("7", "7")])
    assert x["token_ids"].tolist() == [[4, 2, 10, 2], [7, 10, 12, 12]]
    assert y.tolist() == [[2, 10, 2, 4], [10, 7, 12, 12]] and weight.tolist() == [[0, 0, 1, 1], [0, 1, 0, 0]]
    ```
    """

    arguments = ("target_steps", "characters", "reversed_target", "numbers")
    layout = ("filled",)

    def __init__(
        self,
        tokens: Iterable[str],
        target_steps: Sequence[Any] | None = None,
        characters: bool = False,
        reversed_target: bool = False,
        numbers: Config | None = None,
    ) -> None:
        super().__init__(tokens, characters, reversed_target)
        self.numbers = numbers
        self.number_layout: NumberLayout | None = None
        if numbers is not None:
            if not isinstance(numbers, dict) or not set(numbers) <= set(NUMBERS):
                raise InputError(f"numbers is a mapping of {', '.join(NUMBERS)}, not {checks.short(numbers)}")
            self.number_layout = NumberLayout(self.tokenizer, self.reversed_target, **numbers)
        self.target_steps = None if target_steps is None else checks.steps("target_steps", target_steps)

    @classmethod
    def from_task(cls, task: Task, vocabulary: Sequence[str] | None = None, filled: bool = False) -> Self:
        """Returns the preprocessor of a task, with its vocabulary or that of another which has all its tokens.

        Args:
            task: Task.
            vocabulary: sequence of str.
            filled: bool. Whether numbers are filled up with zeros, of a `NumberTask`.

        Raises:
            InputError: the other lacks a token, or the task has no numbers to fill up.
        """
        own = [token for token in task.vocabulary if token != DELIMITER]
        lacking = sorted(set(own) - set(own if vocabulary is None else vocabulary))
        if lacking:
            raise InputError(f"{task.name} has tokens that the vocabulary lacks: {', '.join(lacking[:5])}")
        tokens = own if vocabulary is None else vocabulary
        numbers: Config | None = None
        if checks.boolean("filled", filled):
            if not isinstance(task, NumberTask) or task.zeros is None:
                raise InputError(f"only numbers are filled up, and {task.name} has none")
            if task.terms is None:
                raise InputError(f"only so many numbers as a task has are filled up, and {task.name} has any number")
            numbers = numbers_of(task)
        return cls(tokens, task.target_steps, task.characters, task.reversed_target, numbers)

    @property
    def has_end(self) -> bool:
        return self.target_steps is None

    def closed(self, ids: list[int]) -> list[int]:
        return [*ids, self.tokenizer.start_id]

    def encode_source(self, source: Text) -> list[int]:
        """Returns the ids of one source with its delimiters.

        Raises:
            InputError: the source is empty, longer than 10,000 tokens, or has an unknown token.
        """
        if self.number_layout is not None:
            ids = self.number_layout.source(self.tokenizer.encode(self.tokens(source)))
            return self.closed(self.check_length(ids))
        parts = separated(self.tokens(source), DELIMITER)
        if len(parts) == 1:
            parts.append([])
        encoded = [self.tokenizer.encode(part) for part in parts]
        ids = [i for part in encoded for i in [self.tokenizer.start_id, *part]][1:]
        if not 1 <= len(ids) - 1 <= MAX_LENGTH or not encoded[0]:
            raise InputError(f"a source has 1 to {MAX_LENGTH:,} tokens, not {len(ids) - 1:,}")
        return ids

    def encode_target(self, target: Text) -> list[int]:
        """Returns the ids of one target as the model writes them, with the end symbol if there is one."""
        ids = super().encode_target(target)
        return ids[:-1] if self.target_steps else ids

    def encode(self, source: Text, target: Text) -> tuple[list[int], list[int]]:
        first, second = super().encode(source, target)
        if self.number_layout is None:
            return first, second
        return first, [*self.number_layout.target(first[:-1], second[:-1]), second[-1]]

    def decode(self, ids: Iterable[int]) -> str:
        text = super().decode(ids)
        return text if self.number_layout is None else self.number_layout.text(text)

    def any_source(self, rng: np.random.Generator, length: int) -> list[str]:
        numbers = self.number_layout
        return super().any_source(rng, length) if numbers is None else numbers.any_source(rng, length)

    def steps(self, source: TokenIds, max_length: int | None = None) -> int:
        """Returns the most tokens that a model writes for an encoded source."""
        tokens = len(source) - (source[-1] == self.tokenizer.start_id)
        if self.number_layout is not None:
            return min(max_length or MAX_LENGTH, int(self.number_layout.width_of(tokens)) + 1)
        if self.target_steps is None:
            return max_length or 10 * tokens + 10
        number = steps_for(self.target_steps, tokens)
        return min(max_length or number, number)

    def shape(self, source: int, target: int) -> tuple[int, int]:
        """Returns what to pad to where the longest source and target have these lengths: one sequence, few lengths."""
        return bucket(source + target - 1), 1

    def prompts(self, ids: Sequence[TokenIds], pad_to: int | None = None) -> dict[str, np.ndarray]:
        """Returns what generation begins with: `token_ids` and `padding_mask` (B, S) of all tokens of encoded sources
        but the last, which are `last_token_ids` (B,).
        """
        array = pad([row[:-1] for row in ids], self.tokenizer.pad_id, pad_to)
        last = np.array([row[-1] for row in ids], "int32")
        return {"token_ids": array, "padding_mask": array != self.tokenizer.pad_id, "last_token_ids": last}

    def tensors(self, token_ids: Tensor) -> Inputs:
        """Returns what `prompts` does, and `limits` int (B,), the number `steps` of each row: all of one tensor.

        Args:
            token_ids: int32 tensor of shape (B, S), encoded sources, padded at the right. Its last real tokens are
                replaced by padding, where `prompts` has no column.
        """
        from keras import ops

        from kzoo.layers.functional.causal import lengths_of_answers

        sizes = ops.sum(ops.cast(token_ids != self.tokenizer.pad_id, "int32"), axis=1)
        columns = ops.arange(ops.shape(token_ids)[1], dtype="int32")[None, :]
        is_last = columns == sizes[:, None] - 1
        last = ops.sum(ops.where(is_last, token_ids, 0), axis=1)
        prompt = {"token_ids": ops.where(is_last, self.tokenizer.pad_id, token_ids), "last_token_ids": last}
        prompt["padding_mask"] = columns < sizes[:, None] - 1
        tokens = sizes - ops.cast(last == self.tokenizer.start_id, "int32")
        if self.number_layout is not None:
            return {**prompt, "limits": ops.minimum(self.number_layout.width_of(tokens) + 1, MAX_LENGTH)}
        if self.target_steps is None:
            return {**prompt, "limits": 10 * tokens + 10}
        return {**prompt, "limits": lengths_of_answers(tokens, self.target_steps)}

    def max_target_length(self, columns: Any) -> Any:
        if self.target_steps is None:
            return super().max_target_length(columns)
        factor, number = self.target_steps
        return math.ceil(factor) * columns + (number if factor else max(number, 1))

    def text_rule(self) -> Config:
        own = {} if self.number_layout is None else {"number": self.number_layout.rule()}
        return {**super().text_rule(), "delimiter": DELIMITER, **own}

    def arrays(
        self, sources: Sequence[TokenIds], targets: Sequence[TokenIds], pad_to: tuple[int, int] | None = None
    ) -> Arrays:
        """Returns `(x, y, sample_weight)` of encoded sources and targets.

        Args:
            sources: sequence of id lists, from `encode_source`.
            targets: sequence of id lists, from `encode_target`.
            pad_to: (int, int). S and T; the arrays have S + T - 1 columns. Defaults to the longest of the batch.

        Returns:
            `x`, a dict of `token_ids` and `padding_mask`, each (B, S + T - 1), sources and targets behind each other
            without the last token; `y`, the token that follows each; and the weight, 1.0 where that is of a target.
        """
        rows = [[*source, *target] for source, target in zip(sources, targets, strict=True)]
        whole = pad(rows, self.tokenizer.pad_id, pad_to and sum(pad_to))
        columns = np.arange(whole.shape[1] - 1)[None, :]
        first = np.array([len(source) - 1 for source in sources])[:, None]
        last = np.array([len(row) - 1 for row in rows])[:, None]
        weight = ((columns >= first) & (columns < last)).astype("float32")
        token_ids = np.where(columns < last, whole[:, :-1], np.int32(self.tokenizer.pad_id))
        return {"token_ids": token_ids, "padding_mask": columns < last}, whole[:, 1:], weight
