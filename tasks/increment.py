"""Adding one to a number, of Awasthi and Gupta (2023), Appendix C.1, and its carry hint."""

import numpy as np

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Example, Split, Tokens
from kzoo.tasks.digits import to_digits, to_int
from kzoo.tasks.hinting import BUDGET, PAPER, WINDOWED, Draws, HintingTask, neighbours
from kzoo.tasks.published import Published, percent
from kzoo.tasks.strata import Stratum
from kzoo.tasks.strata.calculation import successor_strata

DIGITS = tuple("0123456789")
NINES = 0.1


class IncrementTask(HintingTask):
    """Base of the tasks over decimal numbers without leading zero.

    The training split "train" has four fifths of its lengths in 2-4 and the rest in 5-10, as the paper's; in "uniform"
    they are uniform. In a tenth of the sources of either the last k digits are nines, k uniform from 1 to all. In
    "windows", which is ours, three quarters of the sources of "uniform" have digits from a window of 1 to 10
    neighbours, its width log-uniform: ten digits then have the same few side by side as often as twenty. In "carries",
    which is ours too, half of the sources of "uniform" end with nines.
    """

    vocabulary: Tokens = (*DIGITS, "↑")
    splits = {
        **{name: Split((2, 10), 1_000_000) for name in ("train", "uniform", "windows", "carries")},
        **{name: Split((2, 10), 2_000) for name in ("validation", "test")},
    }
    draws = {
        "train": Draws((2, 4), NINES),
        "uniform": Draws(None, NINES),
        "windows": Draws(None, NINES, WINDOWED),
        "carries": Draws(None, 0.5),
    }
    test_lengths = tuple(range(11, 21))
    seen_lengths = (2, 3, 4)
    stress_lengths = (10, 20, 50)
    characters = True
    length_unit = "digits"
    paper = f"{PAPER}, Table 3"

    @property
    def strata(self) -> dict[str, Stratum]:
        return successor_strata()

    def write(self, rng: np.random.Generator, split: str, length: int, repeated: bool) -> Example:
        digits = rng.integers(0, 10, length)
        windowed = self.draws_of(split).windowed
        if windowed and rng.random() < windowed:
            digits = neighbours(rng, 10, length)
        digits[0] = digits[0] if windowed and digits[0] else rng.integers(1, 10)
        if repeated:
            digits[length - int(rng.integers(1, length + 1)) :] = 9
        source = tuple(DIGITS[i] for i in digits)
        return Example(source, self.solve(source))

    def value(self, source: Tokens) -> int:
        """Returns the number of a source.

        Raises:
            InputError: it is not one or more digits, the first of which is not 0.
        """
        if not source or source[0] == "0" or not set(source) <= set(DIGITS):
            raise InputError(f"a source of {self.name} is one or more digits and does not begin with 0")
        return to_int(source)


@register("task", "incrementer")
class Incrementer(IncrementTask):
    """Increment: the target is the number after the source. Length counts the digits of the source.

    A decoder writes it from its last digit to its first, as the paper's, and an end symbol behind.

    Example:

    ```python
    task = kzoo.tasks.get("incrementer")
    assert task.solve(tuple("129")) == tuple("130") and task.solve(tuple("99")) == tuple("100")
    ```
    """

    name = "incrementer"
    reversed_target = True
    published = Published(
        percent(
            range(11, 21),
            plain=(98.2, 93.8, 81.5, 60.1, 41, 23.2, 10, 4.1, 1.4, 0.3),
            hinted=(99.4, 96.4, 88.4, 69.2, 47.7, 27.1, 13.7, 6, 2.2, 0.5),
            tempered=(99.8, 97.5, 91.4, 78.3, 62.1, 46.4, 29, 16, 8, 4),
        ),
        budget=BUDGET,
    )

    def solve(self, source: Tokens) -> Tokens:
        return to_digits(self.value(source) + 1)


@register("task", "carry")
class Carry(IncrementTask):
    """The carry hint: each digit of the increment, the last first, with "↑" and its carry behind.

    Length counts the digits of the source.

    Example:

    ```python
    task = kzoo.tasks.get("carry")
    assert "".join(task.solve(tuple("123"))) == "4↑02↑01↑0" and "".join(task.solve(tuple("9"))) == "0↑11↑0"
    ```
    """

    name = "carry"

    def solve(self, source: Tokens) -> Tokens:
        written = to_digits(self.value(source) + 1)[::-1]
        nines = len(source) - len("".join(source).rstrip("9"))
        return tuple(token for i, digit in enumerate(written) for token in (digit, "↑", str(int(i < nines))))
