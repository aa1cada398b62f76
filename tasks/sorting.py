"""Sorting, of Awasthi and Gupta (2023)."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate

import numpy as np

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Example, Split, Tokens
from kzoo.tasks.hinting import BUDGET, PAPER, WINDOWED, Draws, HintingTask, clusters, few_values, neighbours
from kzoo.tasks.published import Published, percent
from kzoo.tasks.strata import Stratum
from kzoo.tasks.strata.sorting import sorting_strata

LARGEST = 100
NUMBERS = tuple(str(i) for i in range(1, LARGEST + 1))
SKEWED = (2, 5)
REPEATED = 0.1
OTHER_TRAINING = (
    "ours is trained on uniform lengths and on windows of neighbouring numbers, tells source and target apart by a "
    "vector and, where it is tempered, counts a source as longer than it is"
)


class SortingTask(HintingTask):
    """Base of the tasks over the numbers 1 to 100, which are drawn uniformly, with replacement.

    The training splits: "train" has four fifths of its lengths in 2-5 and the rest in 6-20, as the paper's; in
    "train_repeated" a tenth of the sources of length n have numbers from a set of n / 2; "uniform" and
    "uniform_repeated" are the same with lengths uniform in 2-20. In "windows", which is ours, lengths are uniform too,
    and three quarters of the sources have numbers from a window of 1 to 100 neighbours, its width log-uniform: among
    twenty numbers of twenty there are as many next neighbours and repetitions as among a hundred of a hundred; in
    "wide_windows" no window is narrower than half the length, so that no number comes again and again. "varied", ours
    too, has all kinds of repetition: a third of its sources are uniform, a third from a window of any width, and a
    third from few values, one to as many as the length; in "clustered" these three are a quarter each, and the last
    has few values in clusters of close ones. The splits "rep2" to "rep5" are the paper's test distributions rep(n, r):
    n / r different numbers r times each, the rest uniform.
    """

    vocabulary: Tokens = NUMBERS
    splits = {
        **{name: Split((2, 20), 1_000_000) for name in ("train", "train_repeated")},
        **{name: Split((2, 20), 1_000_000) for name in ("uniform", "uniform_repeated")},
        **{name: Split((2, 20), 1_000_000) for name in ("windows", "wide_windows", "varied", "clustered")},
        **{name: Split((2, 20), 2_000) for name in ("validation", "test", "rep2", "rep3", "rep4", "rep5")},
    }
    draws = {
        "train": Draws(SKEWED),
        "train_repeated": Draws(SKEWED, REPEATED),
        "uniform_repeated": Draws(repeated=REPEATED),
        "windows": Draws(windowed=WINDOWED),
        "wide_windows": Draws(windowed=WINDOWED, narrowest=0.5),
        "varied": Draws(windowed=1 / 3, few=1 / 3),
        "clustered": Draws(windowed=0.25, few=0.25, clustered=0.25),
    }
    test_lengths = (50, 100)
    stress_lengths = (20, 50, 100)
    length_unit = "numbers"
    paper = f"{PAPER}, Tables 1, 2 and 8"

    @property
    def strata(self) -> dict[str, Stratum]:
        return sorting_strata()

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
        draws = self.draws_of(split)
        shares = (draws.windowed, draws.few, draws.clustered)
        kind = rng.random() if any(shares) else 1.0
        ways: tuple[Callable[..., np.ndarray], ...] = (
            partial(neighbours, narrowest=draws.narrowest),
            few_values,
            clusters,
        )
        for bound, draw in zip(accumulate(shares), ways, strict=True):
            if kind < bound:
                return 1 + draw(rng, LARGEST, length)
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
    seen_lengths = (2,)
    published = Published(
        percent((50, 100), plain=(89, 0), tempered=(99.4, 45.2), hinted=(99.8, 92.6)),
        not_comparable=dict.fromkeys(("plain", "tempered", "hinted"), OTHER_TRAINING),
        budget=BUDGET,
    )

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
    published = Published(percent((50, 100), plain=(98.2, 0)), budget=BUDGET)

    def write(self, rng: np.random.Generator, split: str, length: int, repeated: bool) -> Example:
        source, target = super().write(rng, split, length, repeated)
        return Example(source, noted(target))

    def solve(self, source: Tokens) -> Tokens:
        return noted(super().solve(source))


def noted(target: Tokens) -> Tokens:
    """Returns tokens with an "N" before each."""
    return tuple(word for token in target for word in ("N", token))
