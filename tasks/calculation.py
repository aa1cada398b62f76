"""Calculating with digits: the tasks of Duan et al. (2023) but parity."""

import zlib
from collections.abc import Sequence

import numpy as np

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Example, Split, Tokens
from kzoo.tasks.digits import to_digits, to_int
from kzoo.tasks.number_task import NumberTask
from kzoo.tasks.published import Published, percent
from kzoo.tasks.separated import separated
from kzoo.tasks.strata import Stratum
from kzoo.tasks.strata import calculation as strata_of

PAPER = "Duan et al., 2023 (arXiv:2310.11984)"
DIGITS = tuple("0123456789")
TRAINED = 6  # digits of the longest operand in the training split
SHORTEST_KEPT = 3  # digits from which on some sources are kept from it: of shorter ones there are too few
MOST_DIGITS = 10_000
LENGTHS = (6, 10, 15, 20, 60, 100)


def published_at_60(**rows: Sequence[float | None]) -> Published:
    """Returns the published accuracies of mechanisms at 6, 10, 15, 20 and 60 digits, in percent."""
    # The paper, too, interleaves the operands of its windowed models, and counts calibrated lines from their ends.
    interleaved = ("windowed", "windowed_nope", "windowed_sinusoidal", "abc")
    aligned = {name: ("built-in alignment",) for name in interleaved if name in rows}
    return Published(percent((6, 10, 15, 20, 60), **rows), given=aligned)


class CalculationTask(NumberTask):
    """Base of the tasks of that paper; length counts the digits of an operand.

    Sources and targets are as a person writes them. The training split has operands of 1 to 6 digits, each number of
    digits as often; a recipe may draw other examples each epoch. Of the sources
    of 3 to 6 digits one in eight is kept from training, half of them for the validation split, half for the test split.
    """

    vocabulary: Tokens = DIGITS
    splits = {
        "train": Split((1, TRAINED), 20_000),
        "validation": Split((10, 20), 1_000),
        "test": Split((SHORTEST_KEPT, TRAINED), 2_000),
    }
    test_lengths = LENGTHS
    seen_lengths = tuple(range(1, SHORTEST_KEPT))
    stress_lengths = (20, 60, 100)
    characters = True
    reversed_target = True
    length_unit = "digits of an operand"
    paper = f"{PAPER}, Tables 1 and 3"

    def draw(self, rng: np.random.Generator, split: str, length: int | None) -> Example:
        low, high = self.splits[split].lengths if length is None else (length, length)
        return self.write(rng, *(int(n) for n in rng.integers(low, high + 1, 2)))

    def sample(self, rng: np.random.Generator, length: int) -> Example:
        return self.write(rng, length, length)

    def write(self, rng: np.random.Generator, first: int, second: int) -> Example:
        """Draws one example of operands that have so many digits."""
        source = draw_number(rng, first)
        if self.operator is not None:
            source = (*source, self.operator, *draw_number(rng, 1 if self.single else second))
        return Example(source, self.solve(source))

    def belongs(self, example: Example, split: str) -> bool:
        longest = max(map(len, self.parts(example.source)))
        if longest > TRAINED or longest < SHORTEST_KEPT:
            return True
        return split == {0: "test", 1: "validation"}.get(zlib.crc32("".join(example.source).encode()) % 16, "train")

    def solve(self, source: Tokens) -> Tokens:
        return to_digits(self.result(*map(to_int, self.operands(source))))

    def result(self, *operands: int) -> int:
        """Returns the result of the operands."""
        raise NotImplementedError

    def operands(self, source: Tokens) -> list[Tokens]:
        """Returns the digits of each operand.

        Raises:
            InputError: the source is not one of this task's.
        """
        parts = self.parts(source)
        right = len(parts) == 1 + (self.operator is not None) and not (self.single and len(parts[1]) != 1)
        if not right or not all(0 < len(part) <= MOST_DIGITS and set(part) <= set(DIGITS) for part in parts):
            forms = (
                "a number"
                if self.operator is None
                else f"a number, {self.operator!r} and a " + ("digit" if self.single else "number")
            )
            raise InputError(f"a source of {self.name} is {forms}, not {''.join(source)!r:.60}")
        return parts

    def parts(self, source: Tokens) -> list[Tokens]:
        """Returns what stands before, between and after operators."""
        return [tuple(part) for part in separated(source, self.operator)]


def draw_number(rng: np.random.Generator, length: int) -> Tokens:
    """Draws a number of so many digits, uniformly; of one digit, any of ten."""
    if length > MOST_DIGITS:
        raise InputError(f"numbers have at most {MOST_DIGITS:,} digits, not {length:,}")
    digits = rng.integers(0, 10, length)
    if length > 1:
        digits[0] = rng.integers(1, 10)
    return tuple(DIGITS[i] for i in digits)


@register("task", "successor")
class Successor(CalculationTask):
    """Successor: the target is the number after the source. Length counts the digits of the source.

    Example:

    ```python
    task = kzoo.tasks.get("successor")
    assert task.solve(tuple("129")) == tuple("130") and task.solve(tuple("99")) == tuple("100")
    ```
    """

    name = "successor"
    published = published_at_60(
        vanilla=(100, 0, 0, 0, 0),
        windowed=(100, 100, 100, 100, 100),
        windowed_nope=(100, 100, 100, 100, 100),
        windowed_sinusoidal=(100, 100, 100, 100, 100),
        alibi=(1.3, 0, 0, 0, 0),
        rope=(100, 0, 0, 0, 0),
        abc=(100, 100, None, 100, 100),
    )

    @property
    def strata(self) -> dict[str, Stratum]:
        return strata_of.successor_strata()

    def result(self, *operands: int) -> int:
        return operands[0] + 1


@register("task", "addition")
class Addition(CalculationTask):
    """Addition: the target is the sum. Length counts the digits of an operand.

    Example:

    ```python
    task = kzoo.tasks.get("addition")
    assert task.solve(tuple("123+748")) == tuple("871") and task.solve(tuple("9+95")) == tuple("104")
    ```
    """

    name = "addition"
    vocabulary = (*DIGITS, "+")
    operator = "+"
    published = published_at_60(
        vanilla=(100, 0, 0, 0, 0),
        windowed=(100, 100, 100, 100, 100),
        windowed_nope=(99.95, 99.81, 99.84, 99.76, 99.35),
        windowed_sinusoidal=(100, 0, 0, 0, 0),
        alibi=(0, 0, 0, 0, 0),
        rope=(100, 0, 0, 0, 0),
        abc=(100, 100, None, 99.9, 99.8),
    )

    @property
    def strata(self) -> dict[str, Stratum]:
        return strata_of.addition_strata()

    def result(self, *operands: int) -> int:
        return sum(operands)


@register("task", "multiplication")
class Multiplication(CalculationTask):
    """Multiplication by one digit: the target is the product. Length counts the digits of the first operand.

    Example:

    ```python
    task = kzoo.tasks.get("multiplication")
    assert task.solve(tuple("123*6")) == tuple("738") and task.solve(tuple("57*0")) == tuple("0")
    ```

    The digit is 0 to 9, as in the paper; in the authors' code it is 1 to 9.
    """

    name = "multiplication"
    vocabulary = (*DIGITS, "*")
    operator = "*"
    single = True
    published = published_at_60(
        vanilla=(100, 0, 0, 0, 0),
        windowed=(100, 100, 100, 100, 100),
        windowed_nope=(99.89, 99.63, 99.49, 99.39, 98.31),
        windowed_sinusoidal=(100, 6, 0.19, 0, 0),
        rope=(100, 0, 0, 0, 0),
        abc=(100, 100, None, 100, 100),
    )

    @property
    def strata(self) -> dict[str, Stratum]:
        return strata_of.multiplication_strata()

    def result(self, *operands: int) -> int:
        return operands[0] * operands[1]
