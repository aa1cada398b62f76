"""Parity of Duan et al. (2023): bit by bit, and as one answer."""

from itertools import accumulate
from operator import xor

import numpy as np

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Example, Tokens
from kzoo.tasks.calculation import PAPER, CalculationTask, draw_number, published_at_60
from kzoo.tasks.classification import ClassificationTask
from kzoo.tasks.digits import to_digits, to_int
from kzoo.tasks.strata import Stratum
from kzoo.tasks.strata.calculation import parity_strata

BITS = ("0", "1")


class ParityTask(CalculationTask):
    """Base of both: sources are decimal numbers, drawn as in the other tasks, and written in binary.

    So length 6 is about 20 bits and length 60 about 200, as in the paper.
    """

    vocabulary: Tokens = BITS
    zeros = None
    length_unit = "decimal digits of the number that is written in binary"
    paper = f"{PAPER}, Table 3"

    @property
    def strata(self) -> dict[str, Stratum]:
        return parity_strata()

    def write(self, rng: np.random.Generator, first: int, second: int) -> Example:
        source = tuple(f"{to_int(draw_number(rng, first)):b}")
        return Example(source, self.solve(source))

    def belongs(self, example: Example, split: str) -> bool:
        number = to_digits(int("".join(example.source), 2))
        return super().belongs(Example(number, ()), split)

    def odd(self, source: Tokens) -> list[int]:
        """Returns for each bit whether the ones from it to the end are odd, as 0 or 1.

        Raises:
            InputError: the source is not one or more bits.
        """
        if not source or not set(source) <= set(BITS):
            raise InputError(f"a source of {self.name} is one or more bits, not {''.join(source)!r:.60}")
        return list(accumulate((int(bit) for bit in reversed(source)), xor))[::-1]


@register("task", "parity")
class Parity(ParityTask):
    """Running parity: under each bit stands whether the ones from it to the end are odd.

    The first bit of the target is the answer; a model writes it last. Length counts the decimal digits of the number
    that is written in binary.

    Example:

    ```python
    task = kzoo.tasks.get("parity")
    assert task.solve(tuple("1011")) == tuple("1001")
    ```
    """

    name = "parity"
    published = published_at_60(
        vanilla=(29.23, 0.29, 0, 0, 0),
        windowed=(100, 100, 100, 100, 100),
        windowed_nope=(100, 100, 100, 100, 100),
        windowed_sinusoidal=(100, 100, 100, 100, 100),
    )

    def solve(self, source: Tokens) -> Tokens:
        return tuple(BITS[bit] for bit in self.odd(source))


@register("task", "parity_class")
class ParityClass(ParityTask, ClassificationTask):
    """Parity as one answer: 1 where the source has an odd number of ones. Length counts as in `Parity`.

    Example:

    ```python
    task = kzoo.tasks.get("parity_class")
    assert task.solve(tuple("1011")) == ("1",)
    ```
    """

    name = "parity_class"
    labels = BITS
    reversed_target = False

    def solve(self, source: Tokens) -> Tokens:
        return (BITS[self.odd(source)[0]],)
