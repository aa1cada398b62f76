"""The hints of sorting, of Awasthi and Gupta (2023): successor, count and fill."""

import numpy as np

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Example, Tokens
from kzoo.tasks.hinting import DELIMITER, parts
from kzoo.tasks.sorting import LARGEST, NUMBERS, SortingTask, words
from kzoo.tasks.strata import Stratum
from kzoo.tasks.strata.sorting import count_strata, fill_strata, successor_strata


@register("task", "sorted_successor")
class SortedSuccessor(SortingTask):
    """The successor hint: after the source and one of its numbers, the number that follows in sorted order.

    Where the number occurs more than once that is the number itself: what sorting would write next. Length counts the
    numbers before the delimiter. The position is drawn uniformly, among those with a successor.

    Example:

    ```python
    task = kzoo.tasks.get("sorted_successor")
    assert task.solve(("5", "3", "1", "4", "2", "|", "4")) == ("5",)
    assert task.solve(("5", "3", "3", "|", "3")) == ("3",)
    ```

    The paper does not say what follows the last number, nor a number that occurs twice.
    """

    name = "sorted_successor"
    vocabulary = (*NUMBERS, DELIMITER)
    seen_lengths = (2,)
    target_steps = (0, 1)

    @property
    def strata(self) -> dict[str, Stratum]:
        return successor_strata()

    def write(self, rng: np.random.Generator, split: str, length: int, repeated: bool) -> Example:
        if length < 2:
            raise InputError(f"the length of {self.name} must be at least 2, not {length}")
        numbers = self.numbers(rng, split, length, repeated)
        ordered = np.sort(numbers)
        # All but the last in sorted order have a successor; a position of a repeated number is one of its copies.
        index = int(np.searchsorted(ordered, ordered[rng.integers(length - 1)]))
        source = (*words(numbers), DELIMITER, NUMBERS[ordered[index] - 1])
        return Example(source, (NUMBERS[ordered[index + 1] - 1],))

    def solve(self, source: Tokens) -> Tokens:
        before, *rest = parts(source)
        ordered = sorted(self.values(before, 2))
        chosen = self.values(rest[0], 1) if len(rest) == 1 and len(rest[0]) == 1 else []
        if not chosen or chosen[0] not in ordered[:-1]:
            raise InputError(f"a source of {self.name} ends with | and one of its numbers, not the last in order")
        return words([ordered[ordered.index(chosen[0]) + 1]])


@register("task", "count")
class Count(SortingTask):
    """The count hint: of two numbers, each repeated, the one that occurs less often; of equals the smaller.

    Length counts the numbers. Half of the sources of even length have both equally often; else one of them, either
    alike, occurs 1 to 5 times less, whatever the length allows.

    Example:

    ```python
    task = kzoo.tasks.get("count")
    assert task.solve(("5", "5", "5", "4", "4", "5")) == ("4",)
    ```

    The paper does not say what is right where both occur equally often.
    """

    name = "count"
    seen_lengths = (2,)
    target_steps = (0, 1)

    @property
    def strata(self) -> dict[str, Stratum]:
        return count_strata()

    def write(self, rng: np.random.Generator, split: str, length: int, repeated: bool) -> Example:
        if length < 2:
            raise InputError(f"the length of {self.name} must be at least 2, not {length}")
        rarer, other = rng.choice(LARGEST, 2, replace=False) + 1
        less = [n for n in range(1, 6) if n % 2 == length % 2 and n <= length - 2]
        equal = not less or (length % 2 == 0 and rng.random() < 0.5)
        number = (length - (0 if equal else less[rng.integers(len(less))])) // 2
        source = words(rng.permutation(np.array([rarer] * number + [other] * (length - number))))
        return Example(source, words([min(rarer, other) if equal else rarer]))

    def solve(self, source: Tokens) -> Tokens:
        values = self.values(source, 2)
        if len(set(values)) != 2:
            raise InputError(f"a source of {self.name} has two different numbers")
        return words([min(set(values), key=lambda value: (values.count(value), value))])


@register("task", "fill")
class Fill(SortingTask):
    """The fill hint: after a number, repeated, and some of its copies, the copies that are missing.

    Length counts the copies; a split draws it uniformly from 1 up to half of a length of the sorting task. An end
    symbol closes the target.

    Example:

    ```python
    task = kzoo.tasks.get("fill")
    assert task.solve(("5", "5", "5", "|", "5", "|")) == ("5", "5")
    ```

    In the paper's figure four positions are asked where two copies are missing, so what stands behind them seems to be
    asked too; here that is the end symbol.
    """

    name = "fill"
    vocabulary = (*NUMBERS, DELIMITER)
    seen_lengths = tuple(range(1, 11))  # a number and how many of it: nothing else tells two sources apart
    length_unit = "copies"

    @property
    def strata(self) -> dict[str, Stratum]:
        return fill_strata()

    def length(self, rng: np.random.Generator, split: str) -> int:
        return int(rng.integers(1, super().length(rng, split) // 2 + 1))

    def write(self, rng: np.random.Generator, split: str, length: int, repeated: bool) -> Example:
        token, there = NUMBERS[rng.integers(LARGEST)], int(rng.integers(length))
        return Example((token,) * length + (DELIMITER,) + (token,) * there + (DELIMITER,), (token,) * (length - there))

    def solve(self, source: Tokens) -> Tokens:
        copies, *rest = parts(source)
        self.values(copies, 1)
        if len(rest) != 2 or rest[1] or len(rest[0]) >= len(copies) or len({*copies, *rest[0]}) != 1:
            raise InputError(f"a source of {self.name} is copies of a number, |, fewer copies, and |")
        return copies[len(rest[0]) :]
