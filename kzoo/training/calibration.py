"""Attention bias calibration: the attention of a trained model becomes biases of a new one, at any length."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kzoo import checks
from kzoo.errors import InputError, did_you_mean
from kzoo.models.protocols import TracesLayers
from kzoo.tasks import Example, Task
from kzoo.tasks import get as get_task
from kzoo.tasks.calculation import CalculationTask

SLOPES = {"diagonal": 1, "vertical": 0, "anti_diagonal": -1}
AVERAGES = ("rows", "line")
LEAST_EXAMPLES = 100
BATCH = 256
NOISE = 1e-6  # of float32 weights: a line must stand out by more
Lines = list[list[list[Any]]]


def calibrate(
    model: Any,
    task: str | Task | None = None,
    examples: int = 200,
    rows: int | None = None,
    cross_kappa: float | None = 4.5,
    self_kappa: float | None = 0.87,
    cross_directions: Sequence[str] = ("diagonal", "anti_diagonal", "vertical"),
    self_directions: Sequence[str] = ("diagonal",),
    average: str = "rows",
    length: int | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Returns the biases for a new model, along the lines of a trained one's attention, at any length.

    Attention bias calibration of [Duan et al., 2023](https://arxiv.org/abs/2310.11984), section 5 and Algorithm 1: the
    weights of the last decoder layer, averaged over examples, are averaged along the lines of each direction; a line l
    stays if d_l is above mu + kappa sigma, the mean and the standard deviation of all lines of its direction, and its
    bias is d_l - d_max. See `find_lines` for that, and `CalibratedBias` for what the biases do with the lines.

    The model should be right on nearly all examples of the length. The new one is trained from the start.

    Args:
        model: TransformerSeq2Seq, or a preset's name or folder.
        task: str or Task. Defaults to the task that the model was trained on.
        examples: int. Training examples, 100 to 1,000,000. Defaults to 200.
        rows: int. How many of the first written tokens count: those that depend on digits and not on zeros that only
            fill up. Defaults to the digits of the first operand.
        cross_kappa: float or None. For attention to the source. The more lines there are, the larger it may be: of L
            lines m equal ones stand out up to (1 - m / L) sqrt(L / m). None keeps every line. Defaults to 4.5, as the
            paper has for its long sources.
        self_kappa: float or None. The same for attention to what was written. Defaults to 0.87, as in the paper.
        cross_directions: sequence of str, of "diagonal", "anti_diagonal" and "vertical". Defaults to all.
        self_directions: the same. Defaults to "diagonal", as in the authors' code.
        average: str. See `find_lines`. Defaults to "rows".
        length: int. Of the examples. Defaults to the longest of the training split.
        seed: int. Seeds the examples. Defaults to 0.

    Returns:
        dict of `self_bias` and `cross_bias`, configs for `TransformerSeq2Seq`.

    Raises:
        InputError: an argument is out of range, or the model is none whose attention can be traced.

    Example:

    ```python
    model = kzoo.models.TransformerSeq2Seq.from_task("successor", encoding="sinusoidal", units=8)
    biases = kzoo.calibrate(model, examples=100, cross_kappa=2.0)
    new = kzoo.models.TransformerSeq2Seq.from_task("successor", units=8, **biases)
    assert set(biases) == {"self_bias", "cross_bias"} and len(new.generate("99")) <= 3
    ```

    Differences from the paper: the weights are those behind the softmax, as in the authors' code, not the scores; the
    average is over the rows that matter, see `find_lines`. Differences from the code: it reads the same example three
    times, adds up instead of averaging, and leaves out the causal mask.
    """
    attention = mean_attention(model, task, examples, rows, length, seed)
    own = find_lines(attention["self"], self_kappa, self_directions, average=average)
    ends = [int(end) for end in attention["ends"]]
    cross = find_lines(attention["cross"], cross_kappa, cross_directions, ends, average)
    found = {"self_bias": own, "cross_bias": cross}
    return {name: {"class": "CalibratedBias", "config": {"lines": lines}} for name, lines in found.items()}


def mean_attention(
    model: Any,
    task: str | Task | None = None,
    examples: int = 200,
    rows: int | None = None,
    length: int | None = None,
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """Returns the mean attention weights of the last decoder layer over training examples of one layout.

    Args:
        model, task, examples, rows, length, seed: see `calibrate`.

    Returns:
        dict of `self` (N, rows, rows), `cross` (N, rows, S), and `ends` (K,), the columns that end the source's parts.
    """
    import keras

    from kzoo.compiling import compile_for_backend

    if isinstance(model, (str, Path)):
        from kzoo.saving.preset import from_preset

        model = from_preset(model)
    if not isinstance(model, TracesLayers):
        raise InputError(f"{type(model).__name__} has no attention to calibrate by; a TransformerSeq2Seq has")
    task = model.task_name if task is None else task
    if task is None:
        raise InputError("this model does not say what it was trained on: pass task=...")
    task = get_task(task)
    checks.integer("examples", examples, LEAST_EXAMPLES, 1_000_000)
    length = task.splits["train"].lengths[1] if length is None else length
    chosen = _alike(model, task.examples("train", 4 * examples, seed, length), examples)
    most = min(_written(task, example) for example in chosen)
    rows = most if rows is None else checks.integer("rows", rows, 1, most)
    preprocessor = model.text_preprocessor()
    trace = compile_for_backend(model, lambda x, _: model.trace_layers(x)[-1])
    total: dict[str, Any] = {"self": 0.0, "cross": 0.0}
    for i in range(0, examples, BATCH):
        x, _, _ = preprocessor([(example.source, example.target) for example in chosen[i : i + BATCH]])
        for name, weights in trace(x, 0).items():
            total[name] = total[name] + keras.ops.convert_to_numpy(weights).astype("float64").sum(axis=0)
    mean = {name: weights[:, :rows] / examples for name, weights in total.items()}
    return {"self": mean["self"][:, :, :rows], "cross": mean["cross"], "ends": _ends(x)[0]}


def find_lines(
    attention: np.ndarray,
    kappa: float | None,
    directions: Sequence[str],
    ends: Sequence[int] | None = None,
    average: str = "rows",
) -> Lines:
    """Returns the lines along which each head attends.

    Args:
        attention: array of shape (N, m, n), of a head's weights by row and column.
        kappa: float or None. How many standard deviations above the mean of all lines of its direction a line has to
            be. None keeps every line.
        directions: sequence of str, of "diagonal", "anti_diagonal" and "vertical".
        ends: sequence of int. The columns that end the parts of a source; an anti-diagonal or vertical line is given by
            its distance from the end of the part in which it begins. Defaults to None: columns are rows that were
            before, what is behind them is masked, and lines are given by their distance from column 0.
        average: str. "line", as the paper, divides the sum along a line by its length; "rows" by the number of all
            rows, so that a line that is cut off at a corner does not stand out by its few weights: with it d_l is the
            authors' code's sum but for a factor. Defaults to "rows".

    Returns:
        A list of lines for each head, each [slope, part, offset, value]; see `kzoo.layers.CalibratedBias`.

    Raises:
        InputError: an argument is out of range.

    Example:

    ```python
    from kzoo.training.calibration import find_lines

    attention = np.zeros((1, 3, 6))
    attention[0, [0, 1, 2], [4, 3, 2]] = 1.0             # the source ends at column 5
    assert find_lines(attention, 2.0, ["anti_diagonal"], ends=[5]) == [[[-1, 0, -1, 0.0]]]
    ```
    """
    checks.choice("average", average, AVERAGES)
    if kappa is not None:
        checks.number("kappa", kappa, 0.0, 100.0)
    for direction in directions:
        if direction not in SLOPES:
            raise InputError(did_you_mean("direction", direction, SLOPES))
    heads, rows, columns = attention.shape
    down, across = np.mgrid[:rows, :columns]
    visible = across <= down if ends is None else np.ones((rows, columns), bool)
    found: Lines = [[] for _ in range(heads)]
    for direction in dict.fromkeys(directions):
        slope = SLOPES[direction]
        starts = across - slope * down  # where a line is, or would be, in the first row
        first = starts.min()
        lengths = np.bincount((starts - first)[visible])
        exist = np.flatnonzero(lengths)
        for head in range(heads):
            sums = np.bincount((starts - first)[visible], attention[head][visible])[exist]
            values = sums / (rows if average == "rows" else lengths[exist])
            limit = -np.inf if kappa is None else values.mean() + kappa * values.std() + NOISE
            for start, value in zip(exist + first, values, strict=True):
                if value > limit:
                    part, offset = _position(int(start), slope, ends)
                    found[head].append([slope, part, offset, round(float(value - values.max()), 6)])
    return found


def _position(start: int, slope: int, ends: Sequence[int] | None) -> tuple[int | None, int]:
    """Returns the part and the offset of a line that is at column `start` in the first row."""
    if ends is None or slope == 1:
        return None, start
    part = next((i for i, end in enumerate(ends) if start <= end), len(ends) - 1)
    return part, start - ends[part]


def _ends(x: dict[str, np.ndarray]) -> np.ndarray:
    return x["encoder_ends"] if "encoder_ends" in x else x["encoder_padding_mask"].sum(axis=1, keepdims=True) - 1


def _alike(model: Any, drawn: Sequence[Example], number: int) -> list[Example]:
    """Returns so many examples whose sources have their parts at the same columns."""
    preprocessor = model.text_preprocessor()
    layouts = [tuple(_ends(preprocessor([(e.source, e.target)])[0])[0].tolist()) for e in drawn]
    most, _ = Counter(layouts).most_common(1)[0]
    chosen = [example for example, layout in zip(drawn, layouts, strict=True) if layout == most][:number]
    if len(chosen) < number:
        raise InputError(f"only {len(chosen)} of {len(drawn)} examples have the same layout; ask for fewer")
    return chosen


def _written(task: Task, example: Example) -> int:
    """Returns how many of the first written tokens depend on digits."""
    return len(task.parts(example.source)[0] if isinstance(task, CalculationTask) else example.target)
