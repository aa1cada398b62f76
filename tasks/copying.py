"""The copying tasks of Ray Chowdhury and Caragea (2023): copy, repeat, and undo it, forward and reversed."""

from collections.abc import Sequence

import numpy as np

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Example, Split, Task, Tokens
from kzoo.tasks.paper_results import PAPER
from kzoo.tasks.paper_results import published as published_for
from kzoo.tasks.strata import Stratum
from kzoo.tasks.strata.copying import copying_strata

DIGITS = tuple("0123456789")


class DigitTask(Task):
    """Base of the tasks over strings of digits: trained on lengths 5-10, tested at 15, 30 and 100.

    The training split is one list of 10,000 different strings, of which short lengths have as many as long ones.
    The validation split is longer than the training split on purpose, as in the paper's code: the weights that go on
    best beyond the trained lengths are selected. The test split without a length has the trained lengths, and may share
    a handful of its shortest examples with the training split.
    """

    vocabulary = DIGITS
    splits = {"train": Split((5, 10), 10_000), "validation": Split((10, 15), 2_000), "test": Split((5, 10), 2_000)}
    test_lengths: tuple[int | None, ...] = (15, 30, 100)
    length_unit = "digits"
    stress_lengths = (10, 30, 100)
    paper = f"{PAPER}, Tables 2, 4 and 7"

    @property
    def strata(self) -> dict[str, Stratum]:
        return copying_strata(self.write)

    def write(self, digits: Tokens, rng: np.random.Generator) -> Tokens:
        """Returns the source that is made of random digits: by default the digits themselves."""
        return digits

    def sample(self, rng: np.random.Generator, length: int) -> Example:
        source = self.write(tuple(DIGITS[i] for i in rng.integers(0, 10, length)), rng)
        return Example(source, self.solve(source))

    def check(self, source: Tokens) -> None:
        """Raises `InputError` unless the source is a non-empty string of digits."""
        wrong = [token for token in source if token not in DIGITS]
        if wrong or not source:
            found = f", not {wrong[0]!r}" if wrong else ""
            raise InputError(f"a source of {self.name} is one or more digits{found}")


class CopyingTask(DigitTask):
    """Base of the tasks whose target consists of digits of the source: `indices` says of which."""

    def indices(self, source: Tokens) -> Sequence[int]:
        """Returns the index of the source digit behind each digit of the target."""
        raise NotImplementedError

    def solve(self, source: Tokens) -> Tokens:
        self.check(source)
        return tuple(source[i] for i in self.indices(source))

    def gold_attention(self, source: Tokens) -> tuple[int, ...]:
        self.check(source)
        return (*self.indices(source), len(source))


def repeats(digit: str) -> int:
    """Returns how often ReCopy writes a digit: 0-3 once, 4-6 three times, 7-9 five times.

    The rule is the one in the paper's text; its worked example, which writes 7 and 8 four times, is a misprint.
    """
    return (1, 1, 1, 1, 3, 3, 3, 5, 5, 5)[int(digit)]


def repeated(digits: Tokens) -> Tokens:
    """Returns each digit as often as `repeats` says."""
    return tuple(digit for digit in digits for _ in range(repeats(digit)))


@register("task", "copy")
class Copy(CopyingTask):
    """Copy: the target is the source. Length counts the digits of either.

    Example:

    ```python
    task = kzoo.tasks.get("copy")
    assert task.solve(("4", "7", "9", "8")) == ("4", "7", "9", "8")
    assert task.gold_attention(("4", "7", "9", "8")) == (0, 1, 2, 3, 4)
    ```
    """

    name = "copy"
    target_room = 1
    published = published_for("copy")

    def indices(self, source: Tokens) -> Sequence[int]:
        return range(len(source))


@register("task", "reverse_copy")
class ReverseCopy(CopyingTask):
    """Reverse copy: the target is the source from its last digit to its first. Length counts the digits of either.

    Example:

    ```python
    task = kzoo.tasks.get("reverse_copy")
    assert task.solve(("4", "7", "9", "8")) == ("8", "9", "7", "4")
    assert task.gold_attention(("4", "7", "9", "8")) == (3, 2, 1, 0, 4)
    ```
    """

    name = "reverse_copy"
    target_room = 1
    published = published_for("reverse_copy")

    def indices(self, source: Tokens) -> Sequence[int]:
        return range(len(source))[::-1]


@register("task", "recopy")
class ReCopy(CopyingTask):
    """Copy and repeat: each digit is written as often as `repeats` says.

    Length counts the digits of the source; the target is 2.8 times as long on average.

    Example:

    ```python
    task = kzoo.tasks.get("recopy")
    assert task.solve(("4", "7", "9", "8")) == tuple("444777779999988888")
    assert task.gold_attention(("1", "4")) == (0, 1, 1, 1, 2)
    ```
    """

    name = "recopy"
    published = published_for("recopy")

    def indices(self, source: Tokens) -> Sequence[int]:
        return [i for i, digit in enumerate(source) for _ in range(repeats(digit))]


@register("task", "reverse_recopy")
class ReverseReCopy(ReCopy):
    """Copy and repeat from the last digit to the first. Length counts the digits of the source.

    Example:

    ```python
    task = kzoo.tasks.get("reverse_recopy")
    assert task.solve(("4", "7", "9", "8")) == tuple("888889999977777444")
    ```
    """

    name = "reverse_recopy"
    published = published_for("reverse_recopy")

    def indices(self, source: Tokens) -> Sequence[int]:
        return super().indices(source)[::-1]


@register("task", "inv_recopy")
class InvReCopy(CopyingTask):
    """Undo ReCopy: the source has each digit as often as `repeats` says, the target has it once.

    Length counts the digits of the target; the source is 2.8 times as long on average. Of the digits that stand for
    one, gold attention is on the first.

    Example:

    ```python
    task = kzoo.tasks.get("inv_recopy")
    assert task.solve(tuple("444777779999988888")) == ("4", "7", "9", "8")
    assert task.gold_attention(("4", "4", "4", "1", "1")) == (0, 3, 4, 5)
    ```
    """

    name = "inv_recopy"
    target_room = 1
    length_unit = "digits of the target"
    published = published_for("inv_recopy")

    def write(self, digits: Tokens, rng: np.random.Generator) -> Tokens:
        return repeated(digits)

    def indices(self, source: Tokens) -> Sequence[int]:
        found, i = [], 0
        while i < len(source):
            found.append(i)
            i += repeats(source[i])
        if repeated(tuple(source[i] for i in found)) != tuple(source):
            raise InputError(f"a source of {self.name} has 4, 5, 6 in threes and 7, 8, 9 in fives")
        return found


@register("task", "inv_reverse_recopy")
class InvReverseReCopy(InvReCopy):
    """Undo ReCopy from the last digit to the first. Length counts the digits of the target.

    Example:

    ```python
    task = kzoo.tasks.get("inv_reverse_recopy")
    assert task.solve(tuple("888889999977777444")) == ("4", "7", "9", "8")
    ```
    """

    name = "inv_reverse_recopy"
    published = published_for("inv_reverse_recopy")

    def write(self, digits: Tokens, rng: np.random.Generator) -> Tokens:
        return repeated(digits[::-1])

    def indices(self, source: Tokens) -> Sequence[int]:
        return super().indices(source)[::-1]
