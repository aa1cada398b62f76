"""The copying tasks of Ray Chowdhury and Caragea (2023): copy, repeat, and undo it, forward and reversed."""

import numpy as np

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Example, Split, Task, Tokens

PAPER = "Ray Chowdhury and Caragea, 2023 (arXiv:2305.20019), Table 2"
DIGITS = tuple("0123456789")


class DigitTask(Task):
    """Base of the tasks over strings of digits: trained on lengths 5-10, tested at 15, 30 and 100."""

    vocabulary = DIGITS
    splits = {"train": Split((5, 10), 10_000), "validation": Split((10, 15), 2_000), "test": Split((5, 10), 2_000)}
    test_lengths = (15, 30, 100)
    length_unit = "digits"
    paper = PAPER

    def sample(self, rng: np.random.Generator, length: int) -> Example:
        source = tuple(DIGITS[i] for i in rng.integers(0, 10, length))
        return Example(source, self.solve(source))

    def check(self, source: Tokens) -> None:
        """Raises `InputError` unless the source is a non-empty string of digits."""
        wrong = [token for token in source if token not in DIGITS]
        if wrong or not source:
            raise InputError(f"a source of {self.name} is one or more digits" + (f", not {wrong[0]!r}" if wrong else ""))


def repeats(digit: str) -> int:
    """Returns how often ReCopy writes a digit: 0-3 once, 4-6 three times, 7-9 five times.

    The rule is the one in the paper's text; its worked example, which writes 7 and 8 four times, is a misprint.
    """
    return (1, 1, 1, 1, 3, 3, 3, 5, 5, 5)[int(digit)]


@register("task", "recopy")
class ReCopy(DigitTask):
    """Copy and repeat: each digit is written as often as `repeats` says.

    Length counts the digits of the source; the target is 2.8 times as long on average.

    Example:

    ```python
    task = kzoo.tasks.get("recopy")
    assert task.solve(("4", "7", "9", "8")) == tuple("444777779999988888")
    ```
    """

    name = "recopy"
    paper_accuracy = {
        "onestep": {15: 1.0, 30: 1.0, 100: 1.0},
    }

    def solve(self, source: Tokens) -> Tokens:
        self.check(source)
        return tuple(digit for digit in source for _ in range(repeats(digit)))
