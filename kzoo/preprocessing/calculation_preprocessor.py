"""Calculations as a person writes them to arrays for a sequence-to-sequence model, and back."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, Self

import numpy as np

from kzoo import checks
from kzoo.annotations import Config, Inputs, Tensor, Text, TokenIds
from kzoo.errors import InputError
from kzoo.preprocessing.preprocessor import MAX_LENGTH
from kzoo.preprocessing.seq2seq_preprocessor import Seq2SeqPreprocessor
from kzoo.tasks import Task
from kzoo.tasks.number_task import NumberTask
from kzoo.tasks.separated import separated

NUMBERS = ("operator", "single", "zeros", "operands", "lowest_first")  # arguments that say what the numbers are


def numbers_of(task: NumberTask) -> Config:
    """Returns the arguments `NUMBERS` of a task."""
    return {name: getattr(task, "terms" if name == "operands" else name) for name in NUMBERS}


class CalculationPreprocessor(Seq2SeqPreprocessor):
    """Turns sources and targets into the `(x, y, sample_weight)` of teacher forcing, with the places of digits in line.

    As [Duan et al., 2023](https://arxiv.org/abs/2310.11984), section 3.3, "123+48" becomes "<start> 0123+0048 <end>",
    and its target 171 becomes "1710 <end>": operands are filled up with zeros to the left, the result too, and it is
    written from its last digit. Aligned (section A.4) the source becomes "<start> +00102438 <end>", the digits of a
    place side by side. Start and end symbol stand around every source.

    With `running` the model writes all sums so far, as in the scratchpad of
    [Cho et al., 2025](https://arxiv.org/abs/2410.15787); here from the last operand to the first. With `zeros` 2 the
    target 140 of "5+15+120" becomes "02100+53100+04100 <end>": the last operand, the sum of the last two, and of all. A
    digit of a sum then stands as far from the start as its operand's digit from the source's end, which is where
    `WindowedCrossBias` looks, and one number behind the same digit of the sum before. Decoded it is the last sum.

    Args:
        tokens: iterable of str. The vocabulary, see `Tokenizer`.
        characters: bool. Whether a text is a token a character, without spaces. Defaults to False.
        reversed_target: bool. Whether the model writes a target from its last token to its first. Defaults to False.
        operator: str or None. The token between operands. Defaults to None: a source is one part.
        single: bool. Whether the second operand is one digit, which is not filled up, and aligned stands behind every
            digit of the first. Defaults to False.
        zeros: int or None. So many zeros at least are put to the left of every operand. Defaults to None: sources and
            targets are no numbers, and nothing is filled up.
        digits: int. Operands have so many digits at least, with their zeros. Defaults to 1.
        aligned: bool. Whether the digits of the operands are interleaved. Defaults to False.
        operands: int or None. How many operands an operator stands between, 2 to 100; None: two or more. Defaults
            to 2.
        lowest_first: bool. Whether texts have numbers from their last digit; the model reads them from their first.
            Defaults to False.
        running: bool. Whether the model writes the sum of every last operands on the way to the whole. Defaults to
            False.

    Example:

    ```python
    options = {"characters": True, "reversed_target": True, "operator": "+", "zeros": 1}
    preprocessor = kzoo.CalculationPreprocessor("0123456789+", **options)
    x, y, weight = preprocessor([("12+9", "21")])
    assert x["encoder_token_ids"].tolist() == [[11, 0, 1, 2, 10, 0, 0, 9, 12]]
    assert x["encoder_ends"].tolist() == [[4, 8]] and y.tolist() == [[1, 2, 0, 12]]
    assert preprocessor.decode(y[0]) == "21"
    ```
    """

    layout = ("digits", "aligned", "running")
    arguments = (
        "characters",
        "reversed_target",
        "operator",
        "single",
        "zeros",
        "digits",
        "aligned",
        "operands",
        "lowest_first",
        "running",
    )

    def __init__(
        self,
        tokens: Iterable[str],
        characters: bool = False,
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
        super().__init__(tokens)
        self.characters = checks.boolean("characters", characters)
        self.reversed_target = checks.boolean("reversed_target", reversed_target)
        self.operator = None if operator is None else checks.choice("operator", operator, self.tokenizer.tokens[:-3])
        self.operator_id = None if operator is None else self.tokenizer.ids[operator]
        self.operands = None if operands is None else checks.integer("operands", operands, 2, 100)
        self.single = checks.boolean("single", single)
        self.zeros = None if zeros is None else checks.integer("zeros", zeros, 0, 100)
        self.digits = checks.integer("digits", digits, 1, MAX_LENGTH)
        self.aligned = checks.boolean("aligned", aligned)
        self.lowest_first = checks.boolean("lowest_first", lowest_first)
        self.running = checks.boolean("running", running)
        if zeros is not None and "0" not in self.tokenizer.tokens[:-3]:
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

    @classmethod
    def from_task(cls, task: Task, **layout: Any) -> Self:
        """Returns the preprocessor of a task.

        Args:
            task: Task.
            **layout: `digits`, `aligned` and `running`, of a `NumberTask`.
        """
        own: dict[str, Any] = {"characters": task.characters, "reversed_target": task.reversed_target}
        if isinstance(task, NumberTask):
            own |= numbers_of(task)
        return cls(task.vocabulary, **own, **layout)

    def closed(self, ids: list[int]) -> list[int]:
        return [self.tokenizer.start_id, *ids, self.tokenizer.end_id]

    def encode_source(self, source: Text) -> list[int]:
        """Returns the ids of one source as the model reads it.

        Raises:
            InputError: as of every preprocessor, or it has other operands than the task.
        """
        ids = self.tokenizer.encode(self.tokens(source))
        return self.closed(self.check_length(ids if self.zeros is None else self.filled_up(ids)))

    def any_source(self, rng: np.random.Generator, length: int) -> list[str]:
        if self.zeros is None:
            return super().any_source(rng, length)
        digits = [token for token in self.tokenizer.tokens[:-3] if token.isdigit()]
        sizes = [length, *[1 if self.single else length] * ((self._parts() or 2) - 1)]
        numbers = [[str(digit) for digit in rng.choice(digits, n)] for n in sizes]
        return [*numbers[0], *(token for number in numbers[1:] for token in (str(self.operator), *number))]

    def _parts(self) -> int | None:
        """Returns how many numbers a source is; None: two or more."""
        return 1 if self.operator is None else self.operands

    def filled_up(self, ids: list[int]) -> list[int]:
        """Returns the ids of a calculation with zeros to the left of its operands, interleaved where that is asked."""
        parts = separated(ids, self.operator_id)
        number = self._parts()
        right = all(parts) and (len(parts) == number if number else len(parts) >= 2)
        if not right or (self.single and len(parts[1]) != 1):
            if self.operator is None:
                forms = "one number"
            elif number is None:
                forms = f"two or more numbers with {self.operator!r} between them"
            elif number > 2:
                forms = f"{self.operands} numbers with {self.operator!r} between them"
            else:
                forms = f"a number, {self.operator!r} and {'one digit' if self.single else 'a number'}"
            raise InputError(f"a source is {forms}, not {self.tokenizer.decode(ids).replace(' ', '')!r:.60}")
        parts = [part[::-1] for part in parts] if self.lowest_first else parts
        longest = len(parts[0]) if self.single else max(map(len, parts))
        width = max(self.digits, longest + int(self.zeros or 0))
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

    def encode(self, source: Text, target: Text) -> tuple[list[int], list[int]]:
        """Returns the ids of both; a number as target has as many digits as the first operand with its zeros.

        Raises:
            InputError: as `encode_source`, or the target has more digits than that, or is not the sum where the sums so
                far are written.
        """
        first, second = self.encode_source(source), self.encode_target(target)
        if self.zeros is None:
            return first, second
        if self.running:
            return first, self.running_sums(first, second)
        return first, self.filled_target(second, self.width(first))

    def running_sums(self, source: list[int], target: list[int]) -> list[int]:
        """Returns the ids of all sums so far of an encoded source, with the end symbol.

        Raises:
            InputError: an encoded target is not the last of them, or a sum has more digits than the numbers.
        """
        parts = separated(source[1:-1], self.operator_id)
        numbers = [int("".join(self.tokenizer.tokens[i] for i in part)) for part in reversed(parts)]
        sums = [self.tokenizer.encode(list(str(total)))[::-1] for total in accumulate(numbers)]
        if target[:-1] != sums[-1]:
            shown = [self.tokenizer.decode(ids[::-1]).replace(" ", "") for ids in (sums[-1], target[:-1])]
            raise InputError(f"the target of a sum is {shown[0]} here, not {shown[1]!r:.40}")
        filled = [self.filled_target([*ids, self.tokenizer.end_id], len(parts[0]))[:-1] for ids in sums]
        plus = self.tokenizer.ids["+"]
        return [*(i for ids in filled for i in (*ids, plus))][:-1] + [self.tokenizer.end_id]

    def filled_target(self, target: list[int], width: int) -> list[int]:
        """Returns an encoded target with zeros, of so many digits and its end symbol.

        Raises:
            InputError: it has more digits.
        """
        missing = width - (len(target) - 1)
        if missing < 0:
            raise InputError(f"a target has at most {width} digits here, not {len(target) - 1}")
        zeros = [self.tokenizer.ids["0"]] * missing
        from_last = self.reversed_target or self.lowest_first
        return [*target[:-1], *zeros, target[-1]] if from_last else [*zeros, *target]

    def width(self, source: TokenIds) -> int:
        """Returns how many tokens the first operand of an encoded source has, with its zeros."""
        if self._parts() is None:
            return source.index(self.operator_id) - 1
        return int(self.width_of(len(source) - 2))

    def width_of(self, inner: Any) -> Any:
        """Returns the same of a source with so many tokens, without the symbols around it, where the number of operands
        is known.
        """
        if self.operator is None or self.operands is None:
            return inner
        if self.single and not self.aligned:
            return inner - 2
        return (inner - (1 if self.aligned else self.operands - 1)) // self.operands

    def decode(self, ids: Iterable[int]) -> str:
        text = super().decode(ids)
        return self.without_zeros(text.split("+")[0] if self.running else text)

    def without_zeros(self, text: str) -> str:
        """Returns the text of a number without the zeros that it was filled up with."""
        if self.zeros is None or not text:
            return text
        return (text.rstrip("0") if self.lowest_first else text.lstrip("0")) or "0"

    def steps(self, source: TokenIds, max_length: int | None = None) -> int:
        if self.zeros is None:
            return super().steps(source, max_length)
        return min(max_length or MAX_LENGTH, (len(source) - 2 if self.running else self.width(source)) + 1)

    def sources(self, ids: Sequence[TokenIds], pad_to: int | None = None) -> dict[str, np.ndarray]:
        """Returns encoded sources as `encoder_token_ids` and `encoder_padding_mask`, each (B, S), and `encoder_ends`
        (B, K): the column of what ends each of their K parts, the operator behind each but the last, the end symbol;
        where there may be any number of parts, of the last alone.
        """
        ends = [[len(row) - 1] for row in ids]
        if self._parts() is not None and not self.aligned:
            ends = [[*(k for k, i in enumerate(row) if i == self.operator_id), len(row) - 1] for row in ids]
        return {**super().sources(ids, pad_to), "encoder_ends": np.array(ends, "int32")}

    def text_rule(self) -> Config:
        number = None
        if self.zeros is not None:
            second = ("itself" if self.aligned else "nothing") if self.single else "zeros"
            number = {"operator": self.operator, "zeros": self.zeros, "digits": self.digits}
            number |= {"second": second, "aligned": self.aligned, "lowest_first": self.lowest_first}
            number |= {"running": True} if self.running else {}
        return {**super().text_rule(), "number": number}

    def tensors(self, token_ids: Tensor) -> Inputs:
        from keras import ops

        found = super().tensors(token_ids)
        sizes = ops.sum(ops.cast(found["encoder_padding_mask"], "int32"), axis=1)
        number = self._parts()
        columns = [] if self.aligned else self._columns(token_ids, (number or 2) - 1)
        found["encoder_ends"] = ops.stack([*(columns if number else []), sizes - 1], axis=1)
        if self.zeros is not None:
            width = self.width_of(sizes - 2) if number else columns[0] - 1
            found["limits"] = ops.minimum((sizes - 2 if self.running else width) + 1, MAX_LENGTH)
        return found

    def _columns(self, token_ids: Tensor, number: int) -> list[Tensor]:
        """Returns the columns of so many first operators, each (B,)."""
        from keras import ops

        if not number:
            return []
        passed = ops.cumsum(ops.cast(token_ids == self.operator_id, "int32"), axis=1)
        before = [ops.cast(passed < k, "int32") for k in range(1, number + 1)]
        return [ops.cast(ops.sum(columns, axis=1), "int32") for columns in before]

    def max_target_length(self, columns: Any) -> Any:
        return super().max_target_length(columns) if self.zeros is None else columns
