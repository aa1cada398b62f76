"""What the tasks of Awasthi and Gupta (2023) have in common."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from kzoo.tasks.base import Example, Task, Tokens
from kzoo.tasks.separated import separated

PAPER = "Awasthi and Gupta, 2023 (arXiv:2310.00726)"
BUDGET = "100,000 batches of 1,024"
WINDOWED = 0.75  # of the sources of the splits "windows"
SKEW = 0.3  # of the Dirichlet distribution of how likely few values are
DELIMITER = "|"  # in a source: where the model reads the end of an input; one closes every source without any


class Draws(NamedTuple):
    """How a split draws its lengths and values.

    Args:
        skewed: (int, int) or None. Four fifths of the lengths are uniform in this range, the rest above it; None draws
            all lengths uniformly.
        repeated: float. Share of the sources with many repetitions.
        windowed: float. Share of the sources whose values are neighbours.
        narrowest: float. How many neighbours these are at least, in lengths of the source.
        few: float. Share of the sources that have few different values.
        clustered: float. Share of the sources that have few different values, some of them close to each other.
    """

    skewed: tuple[int, int] | None = None
    repeated: float = 0.0
    windowed: float = 0.0
    narrowest: float = 0.0
    few: float = 0.0
    clustered: float = 0.0


class HintingTask(Task):
    """Base of the tasks for decoders: examples are drawn with replacement, and each split draws them as `draws` says.

    A hint is a task like any other, with the splits of the task that it is for, and no token that this does not have
    (but "|", the delimiter). A split that is not in `draws` draws uniformly.
    """

    distinct = False
    draws: Mapping[str, Draws] = {}

    def draw(self, rng: np.random.Generator, split: str, length: int | None) -> Example:
        length = self.length(rng, split) if length is None else length
        return self.write(rng, split, length, rng.random() < self.draws_of(split).repeated)

    def draws_of(self, split: str) -> Draws:
        """Returns how a split draws."""
        return self.draws.get(split, Draws())

    def length(self, rng: np.random.Generator, split: str) -> int:
        """Draws a length of a split."""
        low, high = self.splits[split].lengths
        skewed = self.draws_of(split).skewed
        if skewed is not None:
            low, high = skewed if rng.random() < 0.8 else (skewed[1] + 1, high)
        return int(rng.integers(low, high + 1))

    def sample(self, rng: np.random.Generator, length: int) -> Example:
        return self.write(rng, "test", length, False)

    def write(self, rng: np.random.Generator, split: str, length: int, repeated: bool) -> Example:
        """Draws one example of the given length, as the split has them.

        Args:
            rng: numpy.random.Generator.
            split: str.
            length: int.
            repeated: bool. Whether it is one of those with many repetitions.
        """
        raise NotImplementedError


def neighbours(rng: np.random.Generator, values: int, length: int, narrowest: float = 0.0) -> np.ndarray:
    """Draws numbers from a window of neighbours among 0 to values - 1, its width log-uniform from `narrowest` lengths,
    or from all values if that is more, up.
    """
    least = min(float(values), max(1.0, narrowest * length))
    width = round(least * (values / least) ** rng.random())
    return rng.integers(0, values - width + 1) + rng.integers(0, width, length)


def few_values(rng: np.random.Generator, values: int, length: int) -> np.ndarray:
    """Draws numbers from few values among 0 to values - 1: as many as are there at most, log-uniform from 1 to the
    length. Half of the time they are equally likely, else some much more than others.
    """
    number = min(values, round(length ** rng.random()))
    return some_of(rng, rng.choice(values, number, replace=False), length)


def clusters(rng: np.random.Generator, values: int, length: int) -> np.ndarray:
    """Draws numbers from few values among 0 to values - 1, as many as those of `few_values`, which are in one to as
    many clusters: windows of 2 to 20 neighbours, log-uniform.
    """
    number = round(length ** rng.random())
    width = min(values, round(2.0 * 10.0 ** rng.random()))
    starts = rng.integers(0, values - width + 1, round(number ** rng.random()))
    chosen = np.unique(rng.choice(starts, number) + rng.integers(0, width, number))
    return some_of(rng, chosen, length)


def some_of(rng: np.random.Generator, values: np.ndarray, length: int) -> np.ndarray:
    """Draws from values, which are equally likely half of the time, else some much more than others."""
    likely = rng.dirichlet(np.full(len(values), SKEW)) if rng.random() < 0.5 else None
    return values[rng.choice(len(values), length, p=likely)]


def parts(source: Tokens) -> list[Tokens]:
    """Returns the parts of a source between its delimiters."""
    return [tuple(part) for part in separated(source, DELIMITER)]
