"""Strata of sorting and of its hints: repetitions, order, and numbers close to each other."""

from collections.abc import Callable, Iterable

import numpy as np

from kzoo.tasks.strata.stratum import Stratum, Tokens

LARGEST = 100
Draw = Callable[[np.random.Generator, int], np.ndarray]


def tokens(numbers: Iterable[int]) -> Tokens:
    """Returns the tokens of numbers."""
    return tuple(str(int(number)) for number in numbers)


def from_few(rng: np.random.Generator, length: int, different: int) -> np.ndarray:
    """Draws numbers, each of exactly so many different ones at least once."""
    chosen = 1 + rng.choice(LARGEST, different, replace=False)
    more = chosen[rng.integers(0, different, length - different)]
    return rng.permutation(np.concatenate([chosen, more]))


def repeated(rng: np.random.Generator, length: int, times: int) -> np.ndarray:
    """Draws the paper's rep(n, r): n / r different numbers r times each, the rest uniform."""
    chosen = rng.choice(LARGEST, length // times, replace=False).repeat(times)
    return 1 + rng.permutation(np.concatenate([chosen, rng.integers(0, LARGEST, length - len(chosen))]))


def window(rng: np.random.Generator, length: int, width: int) -> np.ndarray:
    """Draws numbers from so many neighbours."""
    return 1 + rng.integers(0, LARGEST - width + 1) + rng.integers(0, width, length)


def one_other(rng: np.random.Generator, length: int) -> np.ndarray:
    """Draws one number again and again, and another one once."""
    often, once = 1 + rng.choice(LARGEST, 2, replace=False)
    numbers = np.full(length, often)
    numbers[rng.integers(length)] = once
    return numbers


def uniform(rng: np.random.Generator, length: int) -> np.ndarray:
    """Draws numbers uniformly."""
    return rng.integers(1, LARGEST + 1, length)


def sorting_strata() -> dict[str, Stratum]:
    """Returns the strata of the sorting tasks."""

    def stratum(about: str, draw: Draw, shortest: int = 1, longest: int | None = None) -> Stratum:
        return Stratum(about, lambda rng, n: tokens(draw(rng, n)), shortest=shortest, longest=longest)

    found = {
        "permutation": stratum("no number twice", lambda rng, n: 1 + rng.permutation(LARGEST)[:n], 1, LARGEST),
        "third": stratum(
            "a third as many different numbers", lambda rng, n: from_few(rng, n, n // 3), 6, 3 * LARGEST + 2
        ),
        "tenth": stratum(
            "a tenth as many different numbers", lambda rng, n: from_few(rng, n, n // 10), 20, 10 * LARGEST + 9
        ),
        "two_values": stratum("two different numbers", lambda rng, n: from_few(rng, n, 2), 2),
        "one_value": stratum("one number only", lambda rng, n: from_few(rng, n, 1)),
        "one_other": stratum("one number, but for one", one_other, 3),
    }
    for times in (2, 3, 4, 5):
        found[f"rep{times}"] = stratum(
            f"rep(n, {times}): n / {times} numbers {times} times each, the rest uniform",
            lambda rng, n, times=times: repeated(rng, n, times),  # type: ignore[misc]
            times,
            times * LARGEST + times - 1,
        )
    return found | {
        "window_10": stratum("numbers from ten neighbours", lambda rng, n: window(rng, n, 10), 2),
        "window_30": stratum("numbers from thirty neighbours", lambda rng, n: window(rng, n, 30), 2),
        "sorted": stratum("already sorted", lambda rng, n: np.sort(uniform(rng, n)), 2),
        "reversed": stratum(
            "sorted from the largest to the smallest", lambda rng, n: np.sort(uniform(rng, n))[::-1], 2
        ),
    }


def successor_strata() -> dict[str, Stratum]:
    """Returns the strata of the successor hint: which number is asked."""

    def asked(pick: Callable[[np.random.Generator, np.ndarray], int], draw: Draw) -> Callable[..., Tokens]:
        def source(rng: np.random.Generator, length: int) -> Tokens:
            numbers = draw(rng, length)
            return (*tokens(numbers), "|", str(int(pick(rng, np.sort(numbers)))))

        return source

    few: Draw = lambda rng, n: from_few(rng, n, max(2, n // 3))  # noqa: E731
    different: Draw = lambda rng, n: 1 + rng.permutation(LARGEST)[:n]  # noqa: E731

    def often(rng: np.random.Generator, ordered: np.ndarray) -> int:
        return int(rng.choice(ordered[:-1][ordered[:-1] == ordered[1:]]))

    return {
        "smallest": Stratum("the smallest number is asked", asked(lambda _, found: found[0], different), None, 2, 100),
        "last_but_one": Stratum(
            "the second largest is asked", asked(lambda _, found: found[-2], different), None, 2, 100
        ),
        "repeated": Stratum("a number is asked that occurs again", asked(often, few), None, 6, 302),
        "window_10": Stratum(
            "numbers from ten neighbours",
            asked(lambda rng, found: found[rng.integers(len(found) - 1)], lambda rng, n: window(rng, n, 10)),
            shortest=2,
        ),
    }


def count_strata() -> dict[str, Stratum]:
    """Returns the strata of the count hint: by how much the two numbers differ in frequency."""

    def two(less: Callable[[int], int]) -> Callable[..., Tokens]:
        def source(rng: np.random.Generator, length: int) -> Tokens:
            rarer, other = 1 + rng.choice(LARGEST, 2, replace=False)
            number = less(length)
            return tokens(rng.permutation(np.array([rarer] * number + [other] * (length - number))))

        return source

    return {
        "nearly_equal": Stratum("as equally often as the length allows", two(lambda n: n // 2), shortest=2),
        "three_less": Stratum("one number three or four times rarer", two(lambda n: (n - 3) // 2), shortest=5),
        "once": Stratum("one number once only", two(lambda _: 1), shortest=2),
    }


def fill_strata() -> dict[str, Stratum]:
    """Returns the strata of the fill hint: how many copies are there already."""

    def copies(there: Callable[[int], int]) -> Callable[[int | None], list[Tokens]]:
        def sources(length: int | None) -> list[Tokens]:
            n = length or 1
            numbers = map(str, range(1, LARGEST + 1))
            return [(number,) * n + ("|",) + (number,) * there(n) + ("|",) for number in numbers]

        return sources

    return {
        "none_there": Stratum("no copy is there yet", pool=copies(lambda _: 0)),
        "one_missing": Stratum("one copy is missing", pool=copies(lambda n: n - 1)),
    }
