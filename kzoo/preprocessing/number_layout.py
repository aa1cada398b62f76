"""How numbers stand in the sources that a model reads and in the targets that it writes."""

from itertools import accumulate
from typing import Any

import numpy as np

from kzoo import checks
from kzoo.annotations import Config
from kzoo.errors import InputError
from kzoo.preprocessing.preprocessor import MAX_LENGTH
from kzoo.preprocessing.tokenizer import Tokenizer
from kzoo.tasks.number_task import NumberTask
from kzoo.tasks.separated import separated

NUMBERS = ("operator", "single", "zeros", "operands", "lowest_first")  # arguments that say what the numbers are


def numbers_of(task: NumberTask) -> Config:
    """Returns the arguments `NUMBERS` of a task."""
    return {name: getattr(task, "terms" if name == "operands" else name) for name in NUMBERS}


class NumberLayout:
    """Fills up the numbers of encoded sources and targets with zeros, lays the digits of operands side by side, or
    writes all sums so far.

    Sources and targets are here without the symbols around them. Where `zeros` is None they are no numbers, and stay as
    they are.

    Args:
        tokenizer: Tokenizer.
        reversed_target: bool. Whether the model writes a target from its last token to its first.
        operator, single, zeros, digits, aligned, operands, lowest_first, running: as of `CalculationPreprocessor`.

    Raises:
        InputError: an argument is out of range, or does not go with another.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        reversed_target: bool = False,
        operator: str | None = None,
        single: bool = False,
        zeros: int | None = None,
        digits: int = 1,
        aligned: bool = False,
        operands: int | None = 2,
        lowest_first: bool = False,
        running: bool = False,
    ) -> None:
        self.tokenizer, self.reversed_target = tokenizer, reversed_target
        self.operator = None if operator is None else checks.choice("operator", operator, tokenizer.tokens[:-3])
        self.operator_id = None if operator is None else tokenizer.ids[operator]
        self.operands = None if operands is None else checks.integer("operands", operands, 2, 100)
        self.single = checks.boolean("single", single)
        self.zeros = None if zeros is None else checks.integer("zeros", zeros, 0, 100)
        self.digits = checks.integer("digits", digits, 1, MAX_LENGTH)
        self.aligned = checks.boolean("aligned", aligned)
        self.lowest_first = checks.boolean("lowest_first", lowest_first)
        self.running = checks.boolean("running", running)
        if zeros is not None and "0" not in tokenizer.tokens[:-3]:
            raise InputError("numbers are filled up with the token '0', which the vocabulary lacks")
        if zeros is None and (digits > 1 or aligned):
            raise InputError("digits and aligned are for numbers, which say how many zeros they need")
        if aligned and operator is None:
            raise InputError("aligned lays operands side by side, and there is no operator between any")
        if self.lowest_first and (zeros is None or reversed_target):
            raise InputError("lowest_first is for numbers, whose results are written as they stand in a text")
        if self.single and self.operands != 2:
            raise InputError(f"single is for two operands, not {self.operands}")
        if self.aligned and self.operands is None:
            raise InputError("aligned lays operands side by side, and needs to know how many there are")
        if self.running and (operator != "+" or zeros is None or not reversed_target or single or aligned):
            raise InputError("running is for sums written from their last digit, of operands that are not interleaved")

    @property
    def parts(self) -> int | None:
        """int or None. How many numbers a source is; None: two or more."""
        return 1 if self.operator is None else self.operands

    def any_source(self, rng: np.random.Generator, length: int) -> list[str]:
        """Returns the tokens of some source whose numbers have that length."""
        digits = [token for token in self.tokenizer.tokens[:-3] if token.isdigit()]
        sizes = [length, *[1 if self.single else length] * ((self.parts or 2) - 1)]
        numbers = [[str(digit) for digit in rng.choice(digits, n)] for n in sizes]
        return [*numbers[0], *(token for number in numbers[1:] for token in (str(self.operator), *number))]

    def source(self, ids: list[int]) -> list[int]:
        """Returns the ids of a source with zeros to the left of its operands, interleaved where that is asked.

        Raises:
            InputError: it has other operands than the task.
        """
        if self.zeros is None:
            return ids
        parts = separated(ids, self.operator_id)
        number = self.parts
        right = all(parts) and (len(parts) == number if number else len(parts) >= 2)
        if not right or (self.single and len(parts[1]) != 1):
            shown = self.tokenizer.decode(ids).replace(" ", "")
            raise InputError(f"a source is {self._forms()}, not {shown!r:.60}")
        parts = [part[::-1] for part in parts] if self.lowest_first else parts
        longest = len(parts[0]) if self.single else max(map(len, parts))
        width = max(self.digits, longest + self.zeros)
        zero = self.tokenizer.ids["0"]
        first, *others = (
            [zero] * (0 if self.single and k else width - len(part)) + part for k, part in enumerate(parts)
        )
        if self.operator_id is None:
            return first
        if not self.aligned:
            return [*first, *(i for part in others for i in (self.operator_id, *part))]
        if self.single:
            others = [others[0] * width]
        return [self.operator_id, *(i for column in zip(first, *others, strict=True) for i in column)]

    def _forms(self) -> str:
        if self.operator is None:
            return "one number"
        if self.operands is None:
            return f"two or more numbers with {self.operator!r} between them"
        if self.operands > 2:
            return f"{self.operands} numbers with {self.operator!r} between them"
        return f"a number, {self.operator!r} and {'one digit' if self.single else 'a number'}"

    def target(self, source: list[int], target: list[int]) -> list[int]:
        """Returns the ids of a target, in the order of writing, as the model writes them: with as many digits as the
        first operand of its source, as `source` returns it, or all sums so far.

        Raises:
            InputError: the target has more digits than that, or is not the sum where the sums so far are written.
        """
        if self.zeros is None:
            return target
        if self.running:
            return self._running_sums(source, target)
        return self._filled(target, self._width(source))

    def _running_sums(self, source: list[int], target: list[int]) -> list[int]:
        parts = separated(source, self.operator_id)
        numbers = [int("".join(self.tokenizer.tokens[i] for i in part)) for part in reversed(parts)]
        sums = [self.tokenizer.encode(list(str(total)))[::-1] for total in accumulate(numbers)]
        if target != sums[-1]:
            shown = [self.tokenizer.decode(ids[::-1]).replace(" ", "") for ids in (sums[-1], target)]
            raise InputError(f"the target of a sum is {shown[0]} here, not {shown[1]!r:.40}")
        plus = self.tokenizer.ids["+"]
        return [i for ids in sums for i in (*self._filled(ids, len(parts[0])), plus)][:-1]

    def _filled(self, target: list[int], width: int) -> list[int]:
        missing = width - len(target)
        if missing < 0:
            raise InputError(f"a target has at most {width} digits here, not {len(target)}")
        zeros = [self.tokenizer.ids["0"]] * missing
        return [*target, *zeros] if self.reversed_target or self.lowest_first else [*zeros, *target]

    def _width(self, source: list[int]) -> int:
        return len(separated(source, self.operator_id)[0]) if self.parts is None else int(self.width_of(len(source)))

    def width_of(self, tokens: Any) -> Any:
        """Returns how many tokens the first operand has, with its zeros, in sources of so many tokens, an int or a
        tensor; where the number of operands is known.
        """
        if self.operator is None or self.operands is None:
            return tokens
        if self.single and not self.aligned:
            return tokens - 2
        return (tokens - (1 if self.aligned else self.operands - 1)) // self.operands

    def written(self, source: list[int]) -> int:
        """Returns how many tokens of numbers the model writes for a source."""
        return len(source) if self.running else self._width(source)

    def text(self, text: str) -> str:
        """Returns the text of the number that a model wrote: the last sum, without the zeros it was filled up with."""
        text = text.split("+")[0] if self.running else text  # read from the left, the last sum is first
        if self.zeros is None or not text:
            return text
        return (text.rstrip("0") if self.lowest_first else text.lstrip("0")) or "0"

    def rule(self) -> Config | None:
        """Returns the layout as plain data, see `kzoo.exporting.reader`; None where there are no numbers."""
        if self.zeros is None:
            return None
        second = ("itself" if self.aligned else "nothing") if self.single else "zeros"
        number = {"operator": self.operator, "zeros": self.zeros, "digits": self.digits}
        number |= {"second": second, "aligned": self.aligned, "lowest_first": self.lowest_first}
        return number | ({"running": True} if self.running else {})
