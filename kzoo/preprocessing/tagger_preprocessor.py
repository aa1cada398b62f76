"""Examples to arrays for a model that answers at tokens of its source."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from kzoo import checks
from kzoo.annotations import Arrays, Config, Inputs, Tensor, Text, TokenIds
from kzoo.errors import InputError
from kzoo.preprocessing.padding import bucket
from kzoo.preprocessing.preprocessor import MAX_LENGTH, Preprocessor, steps_for
from kzoo.tasks import Asked, Task


class TaggerPreprocessor(Preprocessor):
    """Turns sources and targets into the `(x, y, sample_weight)` of a model with an answer at tokens of the source.

    The first token of a target is the answer at the first token that is asked, and so on. There are no start and end
    symbols, unless the target is written with an end symbol into the first columns, whatever stands there: see `room`;
    or into columns of their own behind the source, which a network without attention has read by then: see `behind`.

    Args:
        tokens: iterable of str. The vocabulary, see `Tokenizer`.
        asked: iterable of str. The tokens at which an answer stands. Defaults to None: every token is asked.
        repeated: bool. Whether a token is asked only where the source has had it before. Defaults to False.
        characters: bool. Whether a text is a token a character, without spaces. Defaults to False.
        room: int. Number of end symbols behind a source, 0 to 1,000, where a target and its end symbol are written into
            the first columns; every column is asked then. Defaults to None: a target has an answer for each token that
            is asked.
        reversed_target: bool. Whether a target that is written so stands there from its last token to its first; needs
            `room` or `behind`. Defaults to False.
        behind: (float, int). (a, b): behind a source are the start symbol and a * (its tokens) + b end symbols, 1 to
            10,000, into whose columns the target and its end symbol are written; only they are asked. So
            [Deletang et al., 2023](https://arxiv.org/abs/2207.02098) have their recurrent networks write, without the
            start symbol, which gives a network one step to turn to writing. Defaults to None: there are none.

    Raises:
        InputError: an argument is out of range, two of `room`, `behind` and `asked` or `repeated` are given, or
            `reversed_target` stands without `room` or `behind`.

    Example:

    ```python
    preprocessor = kzoo.preprocessing.TaggerPreprocessor("abc123.", asked="abc", repeated=True)
    x, y, weight = preprocessor([("a 1 b 2 b . a .", "2 1")])
    assert x["token_ids"].tolist() == [[0, 3, 1, 4, 1, 6, 0, 6]]
    assert weight.tolist() == [[0, 0, 0, 0, 1, 0, 1, 0]] and y[0, [4, 6]].tolist() == [4, 3]
    ```
    """

    arguments = ("asked", "repeated", "characters", "room", "reversed_target", "behind")
    layout = ("behind",)

    def __init__(
        self,
        tokens: Iterable[str],
        asked: Iterable[str] | None = None,
        repeated: bool = False,
        characters: bool = False,
        room: int | None = None,
        reversed_target: bool = False,
        behind: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(tokens, characters, reversed_target)
        self.asked = None if asked is None else list(asked)
        self.repeated = checks.boolean("repeated", repeated)
        self.room = None if room is None else checks.integer("room", room, 0, 1000)
        self.behind = None if behind is None else checks.steps("behind", behind)
        if self.has_end and (self.repeated or self.asked is not None):
            name = "behind" if room is None else "room"
            raise InputError(f"{name} is for a model that is asked at every column: leave out asked and repeated")
        if room is not None and behind is not None:
            raise InputError("a target stands in the first columns or behind the source: leave out room or behind")
        if self.reversed_target and not self.has_end:
            raise InputError("reversed_target needs room or behind: answers at tokens have their order")
        known = self.tokenizer.tokens[:-3] if self.asked is None else self.asked
        ids = [*self.tokenizer.encode(known), *([self.tokenizer.end_id] if self.has_end else [])]
        ids = ids if self.behind is None else [self.tokenizer.end_id]
        self._is_asked = np.isin(np.arange(self.tokenizer.vocabulary_size), ids)

    @classmethod
    def from_task(cls, task: Task, behind: bool = False) -> Self:
        """Returns the preprocessor of a task.

        Args:
            task: Task.
            behind: bool. Whether targets are written behind sources, of a task that says how many tokens they have.

        Raises:
            InputError: the answers of the task have no places in its sources, or nothing says how long targets are.
        """
        if checks.boolean("behind", behind):
            return cls._behind(task)
        asked = task.asked_at or (Asked() if task.target_steps == (1, 0) else None)
        if asked is None:
            if task.target_room is None:
                raise InputError(f"a tagger answers at tokens of the source, and {task.name} does not say at which")
            room, turned = task.target_room, task.reversed_target
            return cls(task.vocabulary, characters=task.characters, room=room, reversed_target=turned)
        return cls(task.vocabulary, asked.tokens, asked.repeated, task.characters)

    @classmethod
    def _behind(cls, task: Task) -> Self:
        steps = task.target_steps
        if steps is None and task.target_room is None:
            raise InputError(f"behind needs to know how long a target is, and {task.name} does not say it")
        columns = (1.0, int(task.target_room or 0)) if steps is None else (steps[0], steps[1] + 1)
        turned = task.reversed_target
        return cls(task.vocabulary, characters=task.characters, reversed_target=turned, behind=columns)

    @property
    def has_end(self) -> bool:
        return self.room is not None or self.behind is not None

    @property
    def answers(self) -> int:
        """int. Number of ids that a model scores, the first ones: the tokens, and where a target has an end symbol the
        start, which is never an answer, and the end.
        """
        return self.tokenizer.vocabulary_size - (1 if self.has_end else 3)

    def closed(self, ids: list[int]) -> list[int]:
        if self.behind is None:
            return [*ids, *[self.tokenizer.end_id] * (self.room or 0)]
        columns = min(MAX_LENGTH, steps_for(self.behind, len(ids)))
        return [*ids, self.tokenizer.start_id, *[self.tokenizer.end_id] * columns]

    def columns(self, ids: TokenIds) -> list[int]:
        """Returns the columns of an encoded source that are asked."""
        seen: set[int] = set()
        found = []
        for column, i in enumerate(ids):
            if self._is_asked[i] and (i in seen or not self.repeated):
                found.append(column)
            seen.add(i)
        return found

    def are_asked(self, token_ids: Tensor) -> Tensor:
        """Returns which tokens of encoded sources (B, S) are asked, a bool tensor of the same shape."""
        from keras import ops

        table = ops.convert_to_tensor(self._is_asked[:, None].astype("float32"))  # ONNX has no take of one axis
        asked = ops.take(table, token_ids, axis=0)[:, :, 0] > 0
        if not self.repeated:
            return asked
        columns = ops.arange(ops.shape(token_ids)[1], dtype="int32")
        before = columns[None, :] < columns[:, None]
        same = token_ids[:, :, None] == token_ids[:, None, :]
        return ops.logical_and(asked, ops.any(ops.logical_and(same, before[None]), axis=2))

    def encode_target(self, target: Text) -> list[int]:
        """Returns the ids of one target."""
        return super().encode_target(target) if self.has_end else self.tokenizer.encode(self.tokens(target))

    def encode(self, source: Text, target: Text) -> tuple[list[int], list[int]]:
        """Returns the ids of a source and its target.

        Raises:
            InputError: the target has not one token for each that is asked, or no place beside the source, or either
                has an unknown token.
        """
        ids, answers = super().encode(source, target)
        number = len(self.columns(ids))
        if self.has_end:
            if len(answers) > number:
                raise InputError(f"with its end symbol the target has {len(answers)} tokens, and {number} have a place")
        elif len(answers) != number:
            raise InputError(f"the source is asked at {number} tokens, and its target has {len(answers)}")
        return ids, answers

    def steps(self, source: TokenIds, max_length: int | None = None) -> int:
        number = len(self.columns(source))
        return number if max_length is None else min(max_length, number)

    def max_target_length(self, columns: Any) -> Any:
        return columns

    def shape(self, source: int, target: int) -> tuple[int, int]:
        """Returns what to pad to where the longest source has this length: targets stand in its columns."""
        return bucket(source), 1

    def text_rule(self) -> Config:
        if self.behind is None:
            return super().text_rule()
        return {**super().text_rule(), "suffix": [], "behind": self.behind}

    def prompts(self, ids: Sequence[TokenIds], pad_to: int | None = None) -> dict[str, np.ndarray]:
        """Returns what answering begins with: `sources`, and `last_token_ids` (B,), which mean nothing here."""
        return {**self.sources(ids, pad_to), "last_token_ids": np.full(len(ids), self.tokenizer.start_id, "int32")}

    def tensors(self, token_ids: Tensor) -> Inputs:
        from keras import ops

        limits = ops.sum(ops.cast(self.are_asked(token_ids), "int32"), axis=1)
        start = ops.full_like(limits, self.tokenizer.start_id)
        return {**super().tensors(token_ids), "last_token_ids": start, "limits": limits}

    def arrays(
        self, sources: Sequence[TokenIds], targets: Sequence[TokenIds], pad_to: tuple[int, int] | None = None
    ) -> Arrays:
        """Returns `(x, y, sample_weight)` of encoded sources and targets.

        Args:
            sources: sequence of id lists, from `encode_source`.
            targets: sequence of id lists, from `encode_target`.
            pad_to: (int, int). The length T, and a number that means nothing here. Defaults to the longest of the
                batch.

        Returns:
            `x`, see `sources`; `y`, the answers, int32 (B, T), 0 elsewhere; and the weight, 1.0 where one is asked.
        """
        x = self.sources(sources, pad_to and pad_to[0])
        y = np.zeros_like(x["token_ids"])
        weight = np.zeros(y.shape, "float32")
        for k, (source, target) in enumerate(zip(sources, targets, strict=True)):
            columns = self.columns(source)[: len(target)]
            y[k, columns], weight[k, columns] = target, 1.0
        return x, y, weight
