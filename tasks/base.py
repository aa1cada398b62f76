"""The contract of a task."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kzoo.errors import InputError, did_you_mean

Tokens = tuple[str, ...]


class Example(NamedTuple):
    """A source and its target, as tokens. Start, end and padding symbols are no part of it."""

    source: Tokens
    target: Tokens


@dataclass(frozen=True)
class Split:
    """A named part of a task's data.

    Args:
        lengths: (int, int). Shortest and longest length, both included; lengths are drawn uniformly.
        size: int. Number of examples.
    """

    lengths: tuple[int, int]
    size: int


class TaskData(Sequence[Example]):
    """The examples of one split of a task: a sequence that `model.fit` takes as it is."""

    def __init__(self, task: "Task", examples: Sequence[Example]) -> None:
        self.task = task
        self.examples = list(examples)

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self.examples[index]

    def __iter__(self) -> Iterator[Example]:
        return iter(self.examples)


class Task:
    """Base of the tasks: what is asked (`sample`), the right answer (`solve`), and the splits.

    Everything is a pure function of (seed, split, length): the same bytes on every machine. A task declares

    - `name`: str, as in the registry; `version`: int, raised whenever the examples change;
    - `vocabulary`: tuple of str, every token of sources and targets;
    - `splits`: dict of `Split` by name, with "train", "validation" and "test"; the test split is drawn length by
      length, and its own lengths are those that the paper reports;
    - `test_lengths`: tuple of int;
    - `source_end`: bool. Whether the end symbol closes the source too;
    - `length_unit`: str. What a length counts, in a few words;
    - `paper`: str, reference; `paper_accuracy`: {mechanism: {length: sequence accuracy in 0..1}}.
    """

    name: str
    version: int = 1
    vocabulary: Tokens
    splits: dict[str, Split]
    test_lengths: tuple[int, ...]
    source_end: bool = False
    length_unit: str = "tokens"
    paper: str = ""
    paper_accuracy: dict[str, dict[int, float]] = {}

    def sample(self, rng: np.random.Generator, length: int) -> Example:
        """Draws one example of the given length."""
        raise NotImplementedError

    def solve(self, source: Tokens) -> Tokens:
        """Returns the target of a source.

        Raises:
            InputError: the source is not one of this task's.
        """
        raise NotImplementedError

    def key(self, example: Example) -> Tokens:
        """Returns what is unique within a split: by default the source."""
        return example.source

    def examples(
        self, split: str = "train", size: int | None = None, seed: int = 0, length: int | None = None
    ) -> list[Example]:
        """Returns the examples of a split, in their order.

        Within a split no source occurs twice, as long as there are enough different ones of the length.

        Args:
            split: str. One of `splits`.
            size: int. How many. Defaults to the split's size.
            seed: int. Another seed gives other examples.
            length: int. Only examples of this length. Defaults to the split's range.

        Raises:
            InputError: unknown split, a length below 1, or a negative size.
        """
        if split not in self.splits:
            raise InputError(did_you_mean(f"split of {self.name}", split, self.splits))
        low, high = self.splits[split].lengths if length is None else (length, length)
        if low < 1:
            raise InputError(f"a length must be at least 1, not {low}")
        wanted = self.splits[split].size if size is None else size
        if wanted < 0:
            raise InputError(f"the number of examples must not be negative, but is {wanted}")
        words = [zlib.crc32(word.encode()) for word in (self.name, split)]
        rng = np.random.default_rng([*words, self.version, seed, 0 if length is None else length])
        found: list[Example] = []
        seen: set[Tokens] = set()
        repeats = 0
        while len(found) < wanted:
            example = self.sample(rng, int(rng.integers(low, high + 1)))
            key = self.key(example)
            if key in seen and repeats < 100:  # a hundred repeats in a row: the length has no more
                repeats += 1
                continue
            repeats = 0
            seen.add(key)
            found.append(example)
        return found

    def dataset(
        self, split: str = "train", size: int | None = None, seed: int = 0, length: int | None = None
    ) -> TaskData:
        """Returns `examples(...)` as data that `model.fit` takes."""
        return TaskData(self, self.examples(split, size, seed, length))

    def get_config(self) -> dict[str, object]:
        return {}
