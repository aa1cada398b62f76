"""Lines of attention, extended to any size."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Tensor
from kzoo.errors import InputError
from kzoo.layers.bias.bias_inputs import BiasInputs
from kzoo.layers.bias.masking_bias import MASKED, MaskingBias
from kzoo.registry import alias, register

MAX_OFFSET = 10_000
MAX_LINES = 10_000  # of all heads
MAX_TABLE = 2**22  # numbers of the values by offset and head
MAX_TABLES = 32


class Line(NamedTuple):
    """A line through an attention matrix: for query i it is at key `base + offset + slope * i`.

    Args:
        slope: int. 1 is a diagonal, -1 an anti-diagonal, 0 a vertical line.
        part: int or None. The base is the index of the key that ends this part of the source; None: 0.
        offset: int.
        value: float. The bias on the line.
    """

    slope: int
    part: int | None
    offset: int
    value: float


@register("bias")
class CalibratedBias(MaskingBias):
    """Restricts each head to the lines along which another model's head attended, at whatever length.

    Attention bias calibration of [Duan et al., 2023](https://arxiv.org/abs/2310.11984), section 5, Eq. 1: the bias is
    d_l - d_max along the lines l that passed the drop-off, the largest where lines cross, and masks every other key.
    `kzoo.calibrate` finds the lines. A head without lines has no bias, nor has a query that no line crosses.

    Args:
        lines: sequence of sequences of lines, one a head, each line (slope, part, offset, value) as in `Line`.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        inputs: BiasInputs; it uses the lengths, `query_offset`, `mask` and `source_ends`.

    Returns:
        Tensor of shape (1, N, T, S) or (B, N, T, S).

    Raises:
        InputError: a line is malformed, there are too many or they reach too far, the number of heads differs, or a
            line refers to a part that the source lacks.

    Example:

    ```python
    bias = kzoo.layers.CalibratedBias([[[1, None, -1, 0.0], [1, None, 0, -0.5]], []])
    found = np.array(bias(kzoo.layers.BiasInputs(query_length=3, key_length=3)))
    assert found[0, 0, 2].tolist() == [-1e9, 0, -0.5] and (found[0, 1] == 0).all()
    ```

    Differences from the paper: its matrices have the longest size that will be needed, in which all operands are
    padded to one length; here a line keeps its distance from the end of the operand that it begins in, so that there is
    no longest size. Differences from the authors' code: the causal mask is kept, heads of cross-attention without
    lines have no bias too, and a query that no line crosses sees every key.
    """

    def __init__(self, lines: Sequence[Sequence[Any]], dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, **kwargs)
        if not isinstance(lines, (list, tuple)) or not all(isinstance(own, (list, tuple)) for own in lines):
            raise InputError("lines must be a list of a list for each head")
        if (count := sum(map(len, lines))) > MAX_LINES:
            raise InputError(f"the heads have at most {MAX_LINES:,} lines, not {count:,}")
        self.lines = [[_line(line) for line in own] for own in lines]
        self._check_sizes()

    def _check_sizes(self) -> None:
        offsets: dict[tuple[int, int | None], list[int]] = {}
        for line in (line for own in self.lines for line in own):
            offsets.setdefault((line.slope, line.part), []).append(line.offset)
        if len(offsets) > MAX_TABLES:
            raise InputError(f"lines have at most {MAX_TABLES} different slopes and parts, not {len(offsets)}")
        size = len(self.lines) * sum(max(own) - min(own) + 3 for own in offsets.values())
        if size > MAX_TABLE:
            raise InputError(f"the offsets of the lines reach too far for so many heads: {size:,} values")

    def build(self, states_shape: Shape, queries_shape: Shape) -> None:
        if queries_shape is not None and queries_shape[1] != len(self.lines):
            heads = queries_shape[1]
            raise InputError(f"the bias has lines for {len(self.lines)} heads, but the attention has {heads}")
        self.built = True

    def values(self, inputs: BiasInputs) -> Tensor:
        rows, columns = inputs.query_positions(), inputs.key_positions()
        ends = inputs.last_key() if inputs.source_ends is None else inputs.source_ends
        found = ops.full((1, len(self.lines), inputs.query_length, inputs.key_length), MASKED, dtype="float32")
        for (slope, part), (first, table) in self.tables().items():
            if part is not None and part >= ends.shape[1]:
                raise InputError(f"a line ends at part {part} of a source that has {ends.shape[1]}")
            base = 0 if part is None else ops.cast(ends[:, part], rows.dtype)[:, None, None]
            offsets = columns - (slope * rows)[:, :, None] - base
            index = ops.clip(offsets - first, 0, len(table) - 1)
            values = ops.take(ops.convert_to_tensor(table), index, axis=0)  # another axis does not run in ONNX
            found = ops.maximum(found, ops.transpose(values, (0, 3, 1, 2)))
        return found

    def tables(self) -> dict[tuple[int, int | None], tuple[int, np.ndarray]]:
        """Returns for each slope and part the first offset, and the values by offset from there on and by head.

        The first and the last value are `MASKED`, for the offsets that are beyond.
        """
        groups: dict[tuple[int, int | None], list[tuple[int, Line]]] = {}
        for head, own in enumerate(self.lines):
            for line in own:
                groups.setdefault((line.slope, line.part), []).append((head, line))
        found = {}
        for key, lines in groups.items():
            offsets = [line.offset for _, line in lines]
            first = min(offsets) - 1
            table = np.full((max(offsets) - first + 2, len(self.lines)), MASKED, "float32")
            for head, line in lines:
                row = line.offset - first
                table[row, head] = max(line.value, table[row, head])
            found[key] = first, table
        return found

    def get_config(self) -> Config:
        return {**super().get_config(), "lines": [[list(line) for line in own] for own in self.lines]}


def _line(line: Any) -> Line:
    if not isinstance(line, (list, tuple)) or len(line) != 4:
        raise InputError(f"a line is (slope, part, offset, value), not {line!r:.60}")
    slope, part, offset, value = line
    checks.integer("the slope of a line", slope, -1, 1)
    if part is not None:
        checks.integer("the part of a line", part, 0, 100)
    checks.integer("the offset of a line", offset, -MAX_OFFSET, MAX_OFFSET)
    return Line(slope, part, offset, checks.number("the value of a line", value, -1e6, 1e6))


alias("bias", "calibrated", "CalibratedBias")
