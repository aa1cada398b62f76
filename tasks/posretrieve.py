"""The PosRetrieve task of Ray Chowdhury and Caragea (2023)."""

from kzoo.registry import register
from kzoo.tasks.base import Tokens
from kzoo.tasks.copying import DIGITS, DigitTask
from kzoo.tasks.paper_results import PAPER
from kzoo.tasks.paper_results import published as published_for


@register("task", "posretrieve")
class PosRetrieve(DigitTask):
    """Look up by position: each digit is written with the digit at that position, counted from 0.

    A digit that points behind the end of the source gets "n/a", so only sources of fewer than ten digits have any.
    Length counts the digits of the source; the target has four tokens for each.

    Example:

    ```python
    task = kzoo.tasks.get("posretrieve")
    assert task.solve(("2", "0", "7")) == ("2", ":", "7", ";", "0", ":", "2", ";", "7", ":", "n/a", ";")
    ```
    """

    name = "posretrieve"
    vocabulary = (*DIGITS, "n/a", ":", ";")
    test_lengths = (None, 15, 30, 100)
    paper = f"{PAPER}, Table 6"
    published = published_for("posretrieve")

    def solve(self, source: Tokens) -> Tokens:
        self.check(source)
        found = (source[int(digit)] if int(digit) < len(source) else "n/a" for digit in source)
        return tuple(token for digit, value in zip(source, found, strict=True) for token in (digit, ":", value, ";"))

    def gold_attention(self, source: Tokens) -> tuple[int, ...]:
        self.check(source)
        size = len(source)
        return (*(index for i, digit in enumerate(source) for index in (i, i, min(int(digit), size), i)), size)
