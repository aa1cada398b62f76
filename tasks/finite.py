"""Tasks whose splits are lists of pairs."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from kzoo.errors import InputError
from kzoo.tasks.base import Example, Task, Tokens


class FiniteTask(Task):
    """Base of the tasks whose splits are lists, given by `rows`; their length counts the tokens of the target, unless
    `length_of` says otherwise.
    """

    length_unit = "tokens of the target"

    def rows(self, split: str) -> Sequence[Example]:
        """Returns every example of a split, in order."""
        raise NotImplementedError

    def length_of(self, row: Example) -> int:
        """Returns the length of an example."""
        return len(row.target)

    def pool(self, split: str, length: int | None) -> Sequence[Example]:
        rows = self.rows(split)
        found = rows if length is None else [row for row in rows if self.length_of(row) == length]
        if not found:
            lengths = ", ".join(map(str, sorted({self.length_of(row) for row in rows})))
            raise InputError(f"{split} of {self.name} has no examples of length {length}; its lengths are {lengths}")
        return found

    def sample(self, rng: np.random.Generator, length: int) -> Example:
        rows = [row for row in map(Example._make, self.known.items()) if self.length_of(row) == length]
        if not rows:
            raise InputError(f"{self.name} has no examples of length {length}")
        return rows[int(rng.integers(len(rows)))]

    def solve(self, source: Tokens) -> Tokens:
        target = self.known.get(tuple(source))
        if target is None:
            raise InputError(f"{self.name} has no source {' '.join(source)!r:.100}")
        return target

    def check_source(self, source: Tokens) -> None:
        """Takes any source: a list does not say which others there are."""

    @cached_property
    def known(self) -> dict[Tokens, Tokens]:
        """dict. The target of every source, of all splits."""
        return {row.source: row.target for split in self.splits for row in self.rows(split)}
