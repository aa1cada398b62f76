"""Random expressions of a given depth, as drawn at random and sorted by depth."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise

import numpy as np

DIGITS = "0123456789"

Tree = tuple[str, int]  # an expression and its value
Draw = Callable[[], float]


def uniforms(rng: np.random.Generator) -> Draw:
    """Returns a function that gives numbers uniform in [0, 1), which it draws by the hundred."""

    def numbers() -> Iterator[float]:
        while True:
            yield from rng.random(100).tolist()

    return numbers().__next__


def pick(draw: Draw, sums: Sequence[float], number: int | None = None) -> int:
    """Returns an index, of the first `number`, in proportion to weights of which `sums` are the cumulative sums."""
    return bisect_right(sums, draw() * sums[(number or len(sums)) - 1])


class Shape:
    """How expressions come about, and how to draw one of a given depth from among them.

    The published data are drawn at random and sorted by depth. An argument is an operation with the probability
    `nesting`, unless it stands too deep; an expression with less than `low` operations within each other becomes the
    right argument of another, until it has enough. Deep ones are rare, so that takes millions of draws. Here every
    choice is made given the depth that is wanted, which gives the same distribution at once.

    Args:
        nesting: float. Probability of an operation where a digit could be.
        low: int. The least depth: operations within each other.
        high: int. The largest.
        either_side: bool. Whether an expression that is made deeper may become the left argument too.
    """

    def __init__(self, nesting: float, low: int, high: int, either_side: bool = False) -> None:
        self.low, self.high, self.either_side = low, high, either_side
        # sums[r][k]: the chance that an expression has at most depth k, where r is the most that it may have.
        self.sums = [[1.0]]
        for _ in range(high):
            self.sums.append([1.0 - nesting, *(1.0 - nesting + nesting * chance**2 for chance in self.sums[-1])])
        first, other = (weights(self.sums[room]) for room in (high, high - 1))
        self.first: dict[int, list[float]] = {}
        self.other: dict[tuple[int, int], list[float]] = {}
        for depth in range(low, high + 1):
            # The chance that an expression will have this depth once it has been made deep enough, by its depth now.
            reaches = [float(k == depth) for k in range(high + 1)]
            for now in range(low - 1, -1, -1):
                row = [chance * reaches[1 + max(k, now)] for k, chance in enumerate(other)]
                reaches[now], self.other[depth, now] = sum(row), list(accumulate(row))
            self.first[depth] = list(accumulate(a * b for a, b in zip(first, reaches, strict=True)))

    def expression(self, draw: Draw, depth: int) -> Tree:
        """Returns an expression of a depth from `low` to `high`."""
        found = pick(draw, self.first[depth])
        tree = self.exactly(draw, self.high, found)
        while found < self.low:
            other = pick(draw, self.other[depth, found])
            pair = [self.exactly(draw, self.high - 1, other), tree]
            if self.either_side and draw() < 0.5:
                pair.reverse()
            tree, found = join(draw, *pair), 1 + max(other, found)
        return tree

    def exactly(self, draw: Draw, room: int, depth: int) -> Tree:
        """Returns an expression of exactly `depth`, of those that may have up to `room`."""
        if depth == 0:
            digit = int(draw() * 10)
            return DIGITS[digit], digit
        sums, left, right = self.sums[room - 1], depth - 1, depth - 1
        if depth > 1:
            # One argument is as deep as that: both, or only the left, or only the right.
            shallower = sums[depth - 2]
            number = draw() * (sums[depth - 1] + shallower)
            if number < shallower:
                right = pick(draw, sums, depth - 1)
            elif number < 2 * shallower:
                left = pick(draw, sums, depth - 1)
        return join(draw, self.exactly(draw, room - 1, left), self.exactly(draw, room - 1, right))


def weights(sums: Sequence[float]) -> list[float]:
    """Returns the weights of which `sums` are the cumulative sums."""
    return [sums[0], *(b - a for a, b in pairwise(sums))]


def join(draw: Draw, left: Tree, right: Tree) -> Tree:
    """Returns the sum or the product of two expressions."""
    if draw() < 0.5:
        return f"({left[0]}+{right[0]})", (left[1] + right[1]) % 10
    return f"({left[0]}*{right[0]})", left[1] * right[1] % 10
