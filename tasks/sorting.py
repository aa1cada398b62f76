"""Sorting, of Awasthi and Gupta (2023), and its hints: successor, count and fill."""

from collections.abc import Sequence

import numpy as np

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Example, Split, Tokens
from kzoo.tasks.hinting import DELIMITER, PAPER, WINDOWED, Draws, HintingTask, neighbours, parts

LARGEST = 100
NUMBERS = tuple(str(i) for i in range(1, LARGEST + 1))
SKEWED = (2, 5)
REPEATED = 0.1


class SortingTask(HintingTask):
    """Base of the tasks over the numbers 1 to 100, which are drawn uniformly, with replacement.

    The training splits: "train" has four fifths of its lengths in 2-5 and the rest in 6-20, as the paper's; in
    "train_repeated" a tenth of the sources of length n have numbers from a set of n / 2; "uniform" and
    "uniform_repeated" are the same with lengths uniform in 2-20. In "windows", which is ours, lengths are uniform too,
    and three quarters of the sources have numbers from a window of 1 to 100 neighbours, its width log-uniform: among
    twenty numbers of twenty there are as many next neighbours and repetitions as among a hundred of a hundred; in
    "wide_windows" no window is narrower than half the length, so that no number comes again and again. The splits
    "rep2" to "rep5" are the paper's test distributions rep(n, r): n / r different numbers r times each, the rest
    uniform.
    """

    vocabulary: Tokens = NUMBERS
    splits = {
        **{name: Split((2, 20), 1_000_000) for name in ("train", "train_repeated")},
        **{name: Split((2, 20), 1_000_000) for name in ("uniform", "uniform_repeated", "windows", "wide_windows")},
        **{name: Split((2, 20), 2_000) for name in ("validation", "test", "rep2", "rep3", "rep4", "rep5")},
    }
    draws = {
        "train": Draws(SKEWED),
        "train_repeated": Draws(SKEWED, REPEATED),
        "uniform_repeated": Draws(repeated=REPEATED),
        "windows": Draws(windowed=WINDOWED),
        "wide_windows": Draws(windowed=WINDOWED, narrowest=0.5),
    }
    test_lengths = (50, 100)
    length_unit = "numbers"
    paper = f"{PAPER}, Tables 1, 2 and 8"

    def numbers(self, rng: np.random.Generator, split: str, length: int, repeated: bool) -> np.ndarray:
        """Draws the numbers of a source."""
        if split.startswith("rep"):
            often = int(split.removeprefix("rep"))
            if length // often > LARGEST:
                raise InputError(f"{split} has lengths up to {LARGEST * often + often - 1}, not {length}")
            chosen = rng.choice(LARGEST, length // often, replace=False).repeat(often)
            rest = rng.integers(0, LARGEST, length - len(chosen))
            return 1 + rng.permutation(np.concatenate([chosen, rest]))
        if repeated and length >= 2:
            pool = rng.choice(LARGEST, min(length // 2, LARGEST), replace=False)
            return 1 + pool[rng.integers(0, len(pool), length)]
        way = self.way(split)
        if way.windowed and rng.random() < way.windowed:
            return 1 + neighbours(rng, LARGEST, length, way.narrowest)
        return rng.integers(1, LARGEST + 1, length)

    def values(self, tokens: Sequence[str], least: int = 1) -> list[int]:
        """Returns the numbers of tokens.

        Raises:
            InputError: there are fewer than `least`, or one is no number from 1 to 100.
        """
        wrong = [token for token in tokens if token not in VALUES]
        if wrong or len(tokens) < least:
            found = f", not {wrong[0]!r:.40}" if wrong else ""
            raise InputError(f"a source of {self.name} has {least} or more numbers from 1 to {LARGEST}{found}")
        return [VALUES[token] for token in tokens]


VALUES = {token: i for i, token in enumerate(NUMBERS, 1)}


def words(numbers: Sequence[int] | np.ndarray) -> Tokens:
    """Returns the tokens of numbers."""
    return tuple(NUMBERS[i - 1] for i in numbers)


@register("task", "sorter")
class Sorter(SortingTask):
    """Sorting: the target has the numbers of the source in ascending order. Length counts them.

    There is no end symbol: a model writes as many numbers as it read, as in the paper.

    Example:

    ```python
    task = kzoo.tasks.get("sorter")
    assert task.solve(("5", "3", "1", "4", "3")) == ("1", "3", "3", "4", "5")
    ```
    """

    name = "sorter"
    target_steps: tuple[float, int] | None = (1, 0)
    paper_accuracy = {
        "plain": {50: 0.89, 100: 0.0},
        "tempered": {50: 0.994, 100: 0.452},
        "hinted": {50: 0.998, 100: 0.926},
    }

    def write(self, rng: np.random.Generator, split: str, length: int, repeated: bool) -> Example:
        numbers = self.numbers(rng, split, length, repeated)
        return Example(words(numbers), words(np.sort(numbers)))

    def solve(self, source: Tokens) -> Tokens:
        return words(sorted(self.values(source)))


@register("task", "scratchpad_sorter")
class ScratchpadSorter(Sorter):
    """Sorting with the scratchpad of Appendix E: an "N" before each number of the target, and an end symbol.

    Example:

    ```python
    task = kzoo.tasks.get("scratchpad_sorter")
    assert task.solve(("5", "3")) == ("N", "3", "N", "5")
    ```
    """

    name = "scratchpad_sorter"
    vocabulary = (*NUMBERS, "N")
    target_steps = None
    paper_accuracy = {"plain": {50: 0.982, 100: 0.0}}

    def write(self, rng: np.random.Generator, split: str, length: int, repeated: bool) -> Example:
        source, target = super().write(rng, split, length, repeated)
        return Example(source, noted(target))

    def solve(self, source: Tokens) -> Tokens:
        return noted(super().solve(source))


def noted(target: Tokens) -> Tokens:
    """Returns tokens with an "N" before each."""
    return tuple(word for token in target for word in ("N", token))


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
    target_steps = (0, 1)

    def write(self, rng: np.random.Generator, split: str, length: int, repeated: bool) -> Example:
        if length < 2:
            raise InputError(f"the length of {self.name} must be at least 2, not {length}")
        numbers = self.numbers(rng, split, length, repeated)
        ordered = np.sort(numbers)
        # All but the last in sorted order have a successor; a position of a repeated number is one of its copies.
        place = int(np.searchsorted(ordered, ordered[rng.integers(length - 1)]))
        source = (*words(numbers), DELIMITER, NUMBERS[ordered[place] - 1])
        return Example(source, (NUMBERS[ordered[place + 1] - 1],))

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
    target_steps = (0, 1)

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
    length_unit = "copies"

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
