"""Strata of the arithmetic of numbers: carries, nines, zeros, lengths of operands."""

from collections.abc import Callable, Sequence

import numpy as np

from kzoo.tasks.strata.stratum import Stratum, Tokens

NINES = (1, 2, 3, 5, 10)


def digits(values: Sequence[int] | np.ndarray) -> Tokens:
    """Returns the tokens of digits."""
    return tuple(str(int(value)) for value in values)


def number(rng: np.random.Generator, length: int) -> np.ndarray:
    """Draws a number of so many digits; of one digit, any but 0."""
    return np.concatenate([rng.integers(1, 10, 1), rng.integers(0, 10, length - 1)])


def sparse(rng: np.random.Generator, length: int) -> np.ndarray:
    """Draws a number of which nine in ten digits are 0."""
    found = number(rng, length)
    found[1:] *= rng.random(length - 1) < 0.1
    return found


def with_nines(rng: np.random.Generator, length: int, nines: int) -> np.ndarray:
    """Draws a number that ends with exactly so many nines, and has a digit before them."""
    found = number(rng, length)
    found[length - nines :] = 9
    last = length - nines - 1
    found[last] = rng.integers(1 if last == 0 else 0, 9)
    return found


def repeat(digit: int, length: int) -> Tokens:
    """Returns a number of one digit again and again."""
    return (str(digit),) * length


def successor_strata() -> dict[str, Stratum]:
    """Returns the strata of adding one: how far the carry goes."""
    found = {
        f"nines_{nines}": Stratum(
            "the last digit is 9" if nines == 1 else f"the last {nines} digits are 9",
            lambda rng, n, nines=nines: digits(with_nines(rng, n, nines)),  # type: ignore[misc]
            shortest=nines + 1,
        )
        for nines in NINES
    }
    return found | {
        "half_nines": Stratum("the last half is nines", lambda rng, n: digits(with_nines(rng, n, n // 2)), shortest=2),
        "all_nines": Stratum("nines only", pool=lambda n: [repeat(9, n or 1)]),
        "nines_before_last": Stratum(
            "nines, but the last digit",
            pool=lambda n: [(*repeat(9, (n or 2) - 1), str(d)) for d in range(9)],
            shortest=2,
        ),
        "zeros": Stratum(
            "zeros, but the first digit",
            pool=lambda n: [(str(d), *repeat(0, (n or 2) - 1)) for d in range(1, 10)],
            shortest=2,
        ),
        "equal_digits": Stratum("one digit only", pool=lambda n: [repeat(d, n or 1) for d in range(1, 9)]),
    }


Pair = tuple[Sequence[int] | np.ndarray, Sequence[int] | np.ndarray]


def chain(rng: np.random.Generator, length: int, carried: int) -> Pair:
    """Draws operands where the last digits carry, and the carry goes on over the next ones up to `carried` in all."""
    first, second = number(rng, length), number(rng, length)
    start = length - carried
    first[start:] = rng.integers(0, 10, carried)
    if start == 0 and length > 1:
        first[0] = rng.integers(1, 9)  # neither operand begins with 0
    second[start:] = 9 - first[start:]
    first[-1] = rng.integers(1, 10)
    second[-1] = rng.integers(10 - first[-1], 10)
    return first, second


def every_carry(rng: np.random.Generator, length: int) -> Pair:
    """Draws operands of which every two digits make ten or more."""
    first = rng.integers(1, 10, length)
    return first, rng.integers(10 - first, 10)


def no_carry(rng: np.random.Generator, length: int) -> Pair:
    """Draws operands of which no two digits make ten."""
    first = np.concatenate([rng.integers(1, 9, 1), rng.integers(0, 10, length - 1)])
    second = rng.integers(0, 10 - first)
    second[0] = rng.integers(1, 10 - first[0])
    return first, second


def addition_strata() -> dict[str, Stratum]:
    """Returns the strata of addition."""

    def pair(about: str, draw: Callable[[np.random.Generator, int], Pair], shortest: int = 1) -> Stratum:
        def source(rng: np.random.Generator, length: int) -> Tokens:
            first, second = draw(rng, length)
            return (*digits(first), "+", *digits(second))

        return Stratum(about, source, shortest=shortest)

    def either(draw: Callable[[np.random.Generator, int], Pair]) -> Callable[[np.random.Generator, int], Pair]:
        return lambda rng, n: draw(rng, n)[:: int(rng.choice([1, -1]))]  # type: ignore[return-value]

    def pool(about: str, operands: Callable[[int], list[tuple[Tokens, Tokens]]], shortest: int = 1) -> Stratum:
        return Stratum(about, pool=lambda n: [(*a, "+", *b) for a, b in operands(n or 1)], shortest=shortest)

    both = [(a, b) for a in range(1, 10) for b in range(1, 10)]
    return {
        "carry_chain": pair("one carry through all digits", lambda rng, n: chain(rng, n, n)),
        "half_chain": pair("one carry through the last half", lambda rng, n: chain(rng, n, n // 2), 2),
        "every_carry": pair("a carry at every digit", every_carry),
        "no_carry": pair("no carry", no_carry),
        "nines": pool("nines only", lambda n: [(repeat(9, n), repeat(9, n))]),
        "nines_and_digit": pool(
            "nines and one digit",
            lambda n: [pair for d in "123456789" for pair in ((repeat(9, n), (d,)), ((d,), repeat(9, n)))],
        ),
        "half_as_long": pair(
            "one operand half as long", either(lambda rng, n: (number(rng, n), number(rng, n // 2))), 2
        ),
        "one_digit": pair("one operand of one digit", either(lambda rng, n: (number(rng, n), number(rng, 1))), 2),
        "plus_zero": pair("one operand is 0", either(lambda rng, n: (number(rng, n), [0])), 2),
        "sparse": pair("nine in ten digits are 0", lambda rng, n: (sparse(rng, n), sparse(rng, n)), 2),
        "zeros": pool(
            "zeros, but the first digits",
            lambda n: [((str(a), *repeat(0, n - 1)), (str(b), *repeat(0, n - 1))) for a, b in both],
            2,
        ),
        "equal_digits": pool(
            "one digit only, in each operand", lambda n: [(repeat(a, n), repeat(b, n)) for a, b in both]
        ),
        "same_operands": pair("a number and itself", lambda rng, n: (lambda a: (a, a))(number(rng, n))),
    }


def multiplication_strata() -> dict[str, Stratum]:
    """Returns the strata of multiplication by one digit."""

    def by(digit: int) -> Stratum:
        return Stratum(f"times {digit}", lambda rng, n: (*digits(number(rng, n)), "*", str(digit)))

    def pool(about: str, first: Callable[[int], list[Tokens]], shortest: int = 1) -> Stratum:
        return Stratum(
            about, pool=lambda n: [(*a, "*", str(d)) for a in first(n or 1) for d in range(10)], shortest=shortest
        )

    def carries(rng: np.random.Generator, length: int) -> Tokens:
        return (*digits(rng.integers(5, 10, length)), "*", str(rng.integers(2, 10)))

    def ripple(length: int | None) -> list[Tokens]:
        n = (length or 2) - 1
        return [
            *((*repeat(3, n), str(d), "*", "3") for d in range(4, 10)),
            *((*repeat(1, n), str(d), "*", "9") for d in range(2, 10)),
        ]

    return {
        **{f"times_{digit}": by(digit) for digit in (0, 1, 2, 5, 9)},
        "carry_chain": Stratum("one carry through all digits", pool=ripple, shortest=2),
        "every_carry": Stratum("a carry at every digit", carries),
        "nines": pool("nines only", lambda n: [repeat(9, n)]),
        "zeros": pool("zeros, but the first digit", lambda n: [(str(a), *repeat(0, n - 1)) for a in range(1, 10)], 2),
        "equal_digits": pool("one digit only", lambda n: [repeat(a, n) for a in range(1, 10)]),
        "sparse": Stratum(
            "nine in ten digits are 0",
            lambda rng, n: (*digits(sparse(rng, n)), "*", str(rng.integers(0, 10))),
            shortest=2,
        ),
    }


def parity_strata() -> dict[str, Stratum]:
    """Returns the strata of parity. The length counts decimal digits, as the task's."""

    def size(rng: np.random.Generator, length: int) -> int:
        """Draws a number of bits of which every number has so many decimal digits."""
        least, most = (10 ** (length - 1) - 1).bit_length() + 1, (10**length).bit_length() - 1
        return int(rng.integers(max(1, least), most + 1))

    def bits(about: str, write: Callable[[np.random.Generator, int], np.ndarray]) -> Stratum:
        def source(rng: np.random.Generator, length: int) -> Tokens:
            found = write(rng, size(rng, length)).astype(int)
            found[0] = 1
            return digits(found)

        return Stratum(about, source)

    def runs(rng: np.random.Generator, n: int) -> np.ndarray:
        return np.repeat(1 - np.arange(n) % 2, rng.integers(5, 21, n))[:n]

    return {
        "ones": bits("ones only", lambda _, n: np.ones(n)),
        "first_one": bits("one 1, at the start", lambda _, n: np.zeros(n)),
        "both_ends": bits("a 1 at either end, zeros between", lambda _, n: np.arange(n) == n - 1),
        "alternating": bits("ones and zeros in turn", lambda rng, n: np.arange(n) % 2 == 0),
        "few_ones": bits("one bit in twenty is 1", lambda rng, n: rng.random(n) < 0.05),
        "few_zeros": bits("one bit in twenty is 0", lambda rng, n: rng.random(n) > 0.05),
        "runs": bits("runs of 5 to 20 equal bits", runs),
    }
