"""Strata of the tasks over strings of digits."""

from collections.abc import Callable

import numpy as np

from kzoo.tasks.strata.stratum import Stratum, Tokens

Write = Callable[[Tokens, np.random.Generator], Tokens]


def copying_strata(write: Write) -> dict[str, Stratum]:
    """Returns the strata of a task over digits.

    Args:
        write: callable (digits, rng) that returns the source which is made of random digits.
    """

    def stratum(about: str, draw: Callable[[np.random.Generator, int], np.ndarray], shortest: int = 1) -> Stratum:
        def source(rng: np.random.Generator, length: int) -> Tokens:
            return write(tuple(str(int(digit)) for digit in draw(rng, length)), rng)

        return Stratum(about, source, shortest=shortest)

    def runs(rng: np.random.Generator, length: int) -> np.ndarray:
        steps = rng.integers(1, 10, length)  # the next run is of another digit
        values = (rng.integers(10) + np.cumsum(steps)) % 10
        return np.repeat(values, rng.integers(3, 9, length))[:length]

    return {
        "one_digit": stratum("one digit only", lambda rng, n: np.full(n, rng.integers(10))),
        "alternating": stratum("two digits in turn", lambda rng, n: np.resize(rng.permutation(10)[:2], n), 2),
        "two_digits": stratum("two digits only", lambda rng, n: rng.permutation(10)[:2][rng.integers(0, 2, n)], 2),
        "period_3": stratum("three digits in turn", lambda rng, n: np.resize(rng.permutation(10)[:3], n), 3),
        "runs": stratum("runs of three to eight equal digits", runs, 3),
        "no_neighbours": stratum(
            "no two equal digits side by side",
            lambda rng, n: (rng.integers(10) + np.cumsum(rng.integers(1, 10, n))) % 10,
        ),
        "low_digits": stratum("digits 0 to 3 only", lambda rng, n: rng.integers(0, 4, n)),
        "middle_digits": stratum("digits 4 to 6 only", lambda rng, n: rng.integers(4, 7, n)),
        "high_digits": stratum("digits 7 to 9 only", lambda rng, n: rng.integers(7, 10, n)),
        "ascending": stratum("digits in ascending order", lambda rng, n: np.sort(rng.integers(0, 10, n)), 2),
        "descending": stratum("digits in descending order", lambda rng, n: np.sort(rng.integers(0, 10, n))[::-1], 2),
    }


def dedupe_strata(write: Write) -> dict[str, Stratum]:
    """Returns the strata of removing repetitions: those of copying, and all runs short or long."""

    def times(count: int) -> Callable[[np.random.Generator, int], Tokens]:
        return lambda rng, n: tuple(str(digit) for digit in rng.integers(0, 10, n) for _ in range(count))

    return copying_strata(write) | {
        "singles": Stratum("every digit written once", times(1)),
        "fives": Stratum("every digit written five times", times(5)),
    }
