"""Calculations as a person writes them to arrays for a sequence-to-sequence model, and back."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from kzoo import checks
from kzoo.annotations import Config, Inputs, Tensor, Text, TokenIds
from kzoo.preprocessing.number_layout import NumberLayout, numbers_of
from kzoo.preprocessing.preprocessor import MAX_LENGTH
from kzoo.preprocessing.seq2seq_preprocessor import Seq2SeqPreprocessor
from kzoo.tasks import Task
from kzoo.tasks.number_task import NumberTask


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
        self.number_layout = NumberLayout(
            self.tokenizer,
            self.reversed_target,
            operator=operator,
            single=single,
            zeros=zeros,
            digits=digits,
            aligned=aligned,
            operands=operands,
            lowest_first=lowest_first,
            running=running,
        )
        for name in self.arguments:
            if name != "characters":
                setattr(self, name, getattr(self.number_layout, name))

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
        return self.closed(self.check_length(self.number_layout.source(self.tokenizer.encode(self.tokens(source)))))

    def any_source(self, rng: np.random.Generator, length: int) -> list[str]:
        numbers = self.number_layout.zeros is not None
        return self.number_layout.any_source(rng, length) if numbers else super().any_source(rng, length)

    def encode(self, source: Text, target: Text) -> tuple[list[int], list[int]]:
        """Returns the ids of both; a number as target has as many digits as the first operand with its zeros.

        Raises:
            InputError: as `encode_source`, or the target has more digits than that, or is not the sum where the sums so
                far are written.
        """
        first, second = self.encode_source(source), self.encode_target(target)
        return first, [*self.number_layout.target(first[1:-1], second[:-1]), second[-1]]

    def decode(self, ids: Iterable[int]) -> str:
        return self.number_layout.text(super().decode(ids))

    def steps(self, source: TokenIds, max_length: int | None = None) -> int:
        if self.number_layout.zeros is None:
            return super().steps(source, max_length)
        return min(max_length or MAX_LENGTH, self.number_layout.written(list(source[1:-1])) + 1)

    def sources(self, ids: Sequence[TokenIds], pad_to: int | None = None) -> dict[str, np.ndarray]:
        """Returns encoded sources as `encoder_token_ids` and `encoder_padding_mask`, each (B, S), and `encoder_ends`
        (B, K): the column of what ends each of their K parts, the operator behind each but the last, the end symbol;
        where there may be any number of parts, of the last alone.
        """
        ends = [[len(row) - 1] for row in ids]
        if self.number_layout.parts is not None and not self.number_layout.aligned:
            operator = self.number_layout.operator_id
            ends = [[*(k for k, i in enumerate(row) if i == operator), len(row) - 1] for row in ids]
        return {**super().sources(ids, pad_to), "encoder_ends": np.array(ends, "int32")}

    def text_rule(self) -> Config:
        return {**super().text_rule(), "number": self.number_layout.rule()}

    def tensors(self, token_ids: Tensor) -> Inputs:
        from keras import ops

        found, numbers = super().tensors(token_ids), self.number_layout
        tokens = ops.sum(ops.cast(found["encoder_padding_mask"], "int32"), axis=1) - 2
        columns = [] if numbers.aligned else self._columns(token_ids, (numbers.parts or 2) - 1)
        found["encoder_ends"] = ops.stack([*(columns if numbers.parts else []), tokens + 1], axis=1)
        if numbers.zeros is not None:
            width = numbers.width_of(tokens) if numbers.parts else columns[0] - 1
            found["limits"] = ops.minimum((tokens if numbers.running else width) + 1, MAX_LENGTH)
        return found

    def _columns(self, token_ids: Tensor, number: int) -> list[Tensor]:
        """Returns the columns of so many first operators, each (B,)."""
        from keras import ops

        if not number:
            return []
        passed = ops.cumsum(ops.cast(token_ids == self.number_layout.operator_id, "int32"), axis=1)
        before = [ops.cast(passed < k, "int32") for k in range(1, number + 1)]
        return [ops.cast(ops.sum(columns, axis=1), "int32") for columns in before]

    def max_target_length(self, columns: Any) -> Any:
        return super().max_target_length(columns) if self.number_layout.zeros is None else columns
