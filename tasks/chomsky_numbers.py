"""The context-sensitive tasks of Deletang et al. (2023) on binary numbers."""

import math

import numpy as np

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Tokens
from kzoo.tasks.chomsky import BITS, ChomskyTask, random_tokens
from kzoo.tasks.number_task import NumberTask
from kzoo.tasks.strata import Stratum


class BinaryTask(ChomskyTask):
    """Base of the tasks on two numbers in binary, each from its last bit; up to two tokens are one number."""

    characters = True
    level = "context-sensitive"
    target_room = 1
    operator = ""

    def draw_source(self, rng: np.random.Generator, length: int) -> Tokens:
        if length <= 2:
            return self.number(rng, length)
        first = int(rng.integers(1, length - 1))
        return (*self.number(rng, first), self.operator, *self.number(rng, length - 1 - first))

    def number(self, rng: np.random.Generator, length: int) -> Tokens:
        """Draws a number that is not 0 of so many bits, leading zeros included, from its last."""
        while "1" not in (bits := random_tokens(rng, BITS, length)):
            pass
        return bits

    def numbers(self, source: Tokens) -> list[int]:
        """Returns the numbers of a source."""
        self.check(source, (*BITS, self.operator), f"two binary numbers with {self.operator} between them")
        parts = "".join(source).split(self.operator)
        if not all(parts) or len(parts) > 2:
            raise InputError(f"a source of {self.name} is two binary numbers with {self.operator} between them")
        return [int(part[::-1], 2) for part in parts]


@register("task", "binary_addition")
class BinaryAddition(BinaryTask, NumberTask):
    """The sum of two binary numbers, all three from their last bit.

    The lengths of the two are drawn so that they, with the +, are as long as the source; a sum has no leading zeros. A
    model may be given the two with their bits in line, see `CalculationPreprocessor`; it then takes two numbers only.

    Example:

    ```python
    task = kzoo.tasks.get("binary_addition")
    assert task.solve(tuple("011+11")) == tuple("1001")  # 6 + 3
    ```

    Differences: the end symbol closes a sum, where the paper has a mark and fills up with zeros.
    """

    name = "binary_addition"
    vocabulary = (*BITS, "+")
    operator = "+"
    lowest_first = True

    @property
    def strata(self) -> dict[str, Stratum]:
        def ripple(rng: np.random.Generator, n: int) -> Tokens:
            size = (n - 1) // 2
            return (*["1"] * size, "+", "1", *["0"] * (n - size - 2))

        def equal(rng: np.random.Generator, n: int) -> Tokens:
            size = (n - 1) // 2
            return (*self.number(rng, size), "+", *self.number(rng, n - 1 - size))

        return {
            "ripple": Stratum("a carry through all bits", ripple, shortest=3),
            "equal_lengths": Stratum("numbers of one length", equal, shortest=3),
        }

    def solve(self, source: Tokens) -> Tokens:
        return tuple(f"{sum(self.numbers(source)):b}"[::-1])


@register("task", "binary_multiplication")
class BinaryMultiplication(BinaryTask):
    """The product of two binary numbers, all three from their last bit; a single number is its own.

    Example:

    ```python
    task = kzoo.tasks.get("binary_multiplication")
    assert task.solve(tuple("011*11")) == tuple("01001")  # 6 * 3
    ```

    Differences: the end symbol closes a product, as in `BinaryAddition`; up to two tokens the paper's target is zeros.
    """

    name = "binary_multiplication"
    vocabulary = (*BITS, "*")
    operator = "*"
    row_symbols = ("0_", "1_", "00", "01", "10", "11", "0_<")

    @property
    def strata(self) -> dict[str, Stratum]:
        def power(rng: np.random.Generator, n: int) -> Tokens:
            size = (n - 1) // 2
            return (*self.number(rng, size), "*", *["0"] * (n - size - 2), "1")

        def ones(rng: np.random.Generator, n: int) -> Tokens:
            size = int(rng.integers(1, n - 1))
            return (*["1"] * size, "*", *["1"] * (n - 1 - size))

        return {
            "power_of_two": Stratum("a power of two as the second number", power, shortest=3),
            "ones": Stratum("ones only, which carry most", ones, shortest=3),
        }

    def solve(self, source: Tokens) -> Tokens:
        return tuple(f"{math.prod(self.numbers(source)):b}"[::-1])

    def execution_trace(self, source: Tokens) -> list[Tokens]:
        """Returns the rows of long multiplication: at first a sum of 0, and after each bit of the second number what it
        has become. A symbol is the bit of the sum in this column; that of the first number, which moves one column to
        the right at each step, or `_` beside it; and `<` where the bit of the second number stands that is next.
        """
        number, columns, found = self.numbers(source)[0], len(source) + 1, []
        first, *second = "".join(source).split(self.operator)
        bits = second[0] if second else "1"
        for step in range(len(bits) + 1):
            total = number * int("0" + bits[:step][::-1], 2)
            marks = [""] * columns
            if second:
                marks[len(first) + 1 + step] = "<"
            row = zip(f"{total:0{columns}b}"[::-1], ("_" * step + first).ljust(columns, "_"), marks, strict=True)
            found.append(tuple(map("".join, row)))
        return found


@register("task", "compute_sqrt")
class ComputeSqrt(ChomskyTask):
    """The square root of a binary number, rounded down: half as many bits, both from their first bit.

    Example:

    ```python
    task = kzoo.tasks.get("compute_sqrt")
    assert task.solve(tuple("01011")) == tuple("011")  # of 11
    ```

    Differences: both have their first bit first, as in the paper's code; its text says the last.
    """

    name = "compute_sqrt"
    vocabulary = BITS
    characters = True
    level = "context-sensitive"
    target_room = 1
    row_symbols = ("a", "b", "0.", "1.", "_.", "00", "10", "01", "11", "21", "31")

    @property
    def strata(self) -> dict[str, Stratum]:
        def near(rng: np.random.Generator, n: int, less: int) -> Tokens:
            root = int("".join(("1", *random_tokens(rng, BITS, n // 2 - 1))), 2)
            return tuple(f"{root * root - less:0{n}b}")

        return {
            "squares": Stratum("squares", lambda rng, n: near(rng, n, 0), shortest=4),
            "below_squares": Stratum("one less than a square", lambda rng, n: near(rng, n, 1), shortest=4),
        }

    def draw_source(self, rng: np.random.Generator, length: int) -> Tokens:
        while "1" not in (bits := random_tokens(rng, BITS, length)):
            pass
        return bits

    def solve(self, source: Tokens) -> Tokens:
        self.check(source, BITS, "one or more bits")
        root, bits = math.isqrt(int("".join(source), 2)), (len(source) + 1) // 2
        return tuple(f"{root:0{bits}b}")

    def execution_trace(self, source: Tokens) -> list[Tokens]:
        """Returns the rows of the square root by hand, a bit of it at each step: at first `a` and `b`, the first and
        the second bit of each pair, from the end on; then the number, with a 0 before it where its length is odd; and
        after each step what is left of it, moved one column to the left. There a symbol is what is left in this column,
        `_` behind its end, and the bit of the root or `.` where none is yet. The first column may have up to 3 left.
        """
        self.check_source(source)
        number, columns, bits = int("".join(source), 2), len(source) + 1, (len(source) + 1) // 2
        found: list[Tokens] = [(*("ab" * bits)[-len(source) :], "_.")]
        left, root = number << (columns - 2 * bits), 0  # column 0 counts 2 ** (columns - 1)
        for step in range(bits + 1):
            row = [str(left >> (columns - 1)), *f"{left % 2 ** (columns - 1):0{columns - 1}b}"]
            row[2 * bits - step :] = "_" * (columns - 2 * bits + step)
            known = f"{root:0{step}b}" if step else ""
            found.append(tuple(map("".join, zip(row, known.ljust(columns, "."), strict=True))))
            if step < bits:
                trial = (4 * root + 1) << (columns - step - 2)
                bit = int(left >= trial)
                left, root = 2 * (left - bit * trial), 2 * root + bit
        return found
