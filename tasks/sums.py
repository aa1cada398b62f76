"""Addition of several numbers (Cho et al., 2025): by their digits, and by their number."""

import numpy as np

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Example, Split, Task, Tokens
from kzoo.tasks.classification import held_out
from kzoo.tasks.digits import to_digits, to_int
from kzoo.tasks.number_task import NumberTask
from kzoo.tasks.strata import Stratum

DIGITS = tuple("0123456789")


class SumTask(Task):
    """Base of both: numbers with + between them, and their sum, which a model writes from its last digit.

    As in [Cho et al., 2025](https://arxiv.org/abs/2410.15787) half of the examples have numbers of one length, the
    largest; of the others each number's length is drawn, and one has the largest. No number begins with 0, but 0
    itself.

    Differences: the paper writes the sums so far as well, and fills up all numbers to one length. Its results are
    pictures.
    """

    vocabulary = (*DIGITS, "+")
    characters = True
    reversed_target = True
    target_room = 1
    paper = "Cho et al., 2025 (arXiv:2410.15787)"
    form = ""  # of a source

    @property
    def strata(self) -> dict[str, Stratum]:
        def nines(rng: np.random.Generator, length: int) -> Tokens:
            operands, digits = self.sizes(length)
            numbers = ["9" * digits] * (operands - 1) + [str(rng.integers(1, 10))]
            return tuple("+".join(numbers))

        return {
            "nines": Stratum("numbers of nines, and a digit", nines),
            "equal_lengths": Stratum("numbers of one length", lambda rng, n: self.write(rng, n, True)),
        }

    def fits(self, numbers: list[str]) -> bool:
        """Returns whether a source may have these numbers."""
        raise NotImplementedError

    def sizes(self, length: int) -> tuple[int, int]:
        """Returns how many numbers, of how many digits at most, an example of a length has."""
        raise NotImplementedError

    def write(self, rng: np.random.Generator, length: int, equal: bool) -> Tokens:
        """Draws a source."""
        operands, most = self.sizes(length)
        lengths = np.full(operands, most) if equal else rng.integers(1, most + 1, operands)
        lengths[rng.integers(operands)] = most
        numbers = []
        for size in lengths:
            digits = rng.integers(0, 10, size)
            digits[0] = rng.integers(1 if size > 1 else 0, 10)
            numbers.append("".join(map(str, digits)))
        return tuple("+".join(numbers))

    def sample(self, rng: np.random.Generator, length: int) -> Example:
        source = self.write(rng, length, bool(rng.integers(2)))
        return Example(source, self.solve(source))

    def belongs(self, example: Example, split: str) -> bool:
        return split == "test" or held_out(example.source) == (split == "validation")

    def solve(self, source: Tokens) -> Tokens:
        parts = "".join(source).split("+")
        if not set(source) <= set(self.vocabulary) or not all(parts) or not self.fits(parts):
            raise InputError(f"a source of {self.name} is {self.form} with + between them")
        return to_digits(sum(to_int(tuple(part)) for part in parts))


@register("task", "sum_digits")
class SumDigits(SumTask, NumberTask):
    """The sum of three numbers. Length counts the digits of the longest.

    A model may be given the three with their digits in line, see `CalculationPreprocessor`.

    Example:

    ```python
    task = kzoo.tasks.get("sum_digits")
    assert task.solve(tuple("99+7+105")) == tuple("211")
    ```
    """

    name = "sum_digits"
    operator = "+"
    terms = 3
    splits = {"train": Split((1, 8), 10_000), "validation": Split((1, 8), 1_000), "test": Split((9, 80), 500)}
    test_lengths = (12, 16, 24, 40, 80)
    length_unit = "digits of the longest number"
    form = "three numbers"

    def fits(self, numbers: list[str]) -> bool:
        return len(numbers) == self.terms

    def sizes(self, length: int) -> tuple[int, int]:
        return self.terms, length


@register("task", "sum_operands")
class SumOperands(SumTask, NumberTask):
    """The sum of numbers of up to three digits. Length counts the numbers.

    A model may write the sums so far on the way, see `running` of `CalculationPreprocessor`. The longest number gets
    two zeros before it, so that there is room for the sum of a hundred.

    Example:

    ```python
    task = kzoo.tasks.get("sum_operands")
    assert task.solve(tuple("5+15+120+0")) == tuple("140")
    ```
    """

    name = "sum_operands"
    operator = "+"
    terms = None
    zeros = 2
    splits = {"train": Split((2, 6), 10_000), "validation": Split((2, 6), 1_000), "test": Split((7, 60), 500)}
    test_lengths = (9, 12, 18, 30, 60)
    length_unit = "numbers"
    form = "numbers of up to three digits"

    def fits(self, numbers: list[str]) -> bool:
        return max(map(len, numbers)) <= 3

    def sizes(self, length: int) -> tuple[int, int]:
        return length, 3
