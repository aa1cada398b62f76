"""Accuracy by length."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

import kzoo
from kzoo import checks
from kzoo.backend import ensure_backend
from kzoo.errors import InputError
from kzoo.evaluation.report import Report, Row, wilson
from kzoo.models.protocols import TracesSteps
from kzoo.tasks import Task
from kzoo.tasks import get as get_task
from kzoo.tasks.classification import ClassificationTask

MAX_EXAMPLES = 1_000_000
OF_SEQUENCES = ("sequence_accuracy", "accuracy_before_end", "last_token_accuracy")  # shares, with an interval


def evaluate(
    model: Any,
    task: str | Task | None = None,
    lengths: int | Sequence[int | None] | None = None,
    examples: int = 2000,
    seed: int = 0,
    metrics: Sequence[str] | None = None,
    progress: bool = False,
    steps: int | None = None,
    split: str = "test",
) -> Report:
    """Measures a model on the test examples of each length.

    Sequence accuracy counts a sequence as right only if every token is, the end symbol included; token accuracy is the
    share of right tokens. Both are taken from one pass with the true tokens before each step: the sequence accuracy of
    greedy decoding is the same, since the first wrong token of either is the same.

    Args:
        model: a model of kzoo, or a preset's name or folder.
        task: str or Task. Defaults to the task that the model was trained on.
        lengths: int or sequence of int; None among them is the whole split. Defaults to what the task's paper reports;
            of another split than "test" to its shortest and its longest.
        examples: int. Examples a length, 1 to 1,000,000, or all there are if they are fewer. Defaults to 2,000.
        seed: int. Seeds the examples. Defaults to 0.
        metrics: sequence of str, of those that `kzoo.evaluation.measure.measure` explains: sequence_accuracy,
            token_accuracy, majority_accuracy, accuracy_before_end, last_token_accuracy, edit_distance, attention_loss.
            Defaults to the first two; of a task whose targets are labels, to sequence_accuracy and majority_accuracy.
        progress: bool. Whether to show a progress bar on stderr.
        steps: int. For a model with shared depth, another number of steps than its `inference_steps`; rows then say it.
        split: str. The task's split that examples are drawn from, where not "test" rows say it. Defaults to "test".

    Returns:
        Report. `print(report)` shows a table, `report[30]` is the sequence accuracy at length 30; its rows say `dtype`
        where the model does not compute in float32.

    Raises:
        InputError: no task is known, a length or number is out of range, or the model has no steps to choose.
    """
    ensure_backend()
    from kzoo.evaluation.measure import DEFAULT, LABEL_DEFAULT, check_metrics, measure

    model, task = find(model, task)
    checks.text("split", split)
    if lengths is None:
        lengths = task.splits[split].lengths if split != "test" and split in task.splits else task.test_lengths
    lengths = check_lengths(lengths)
    if metrics is None:
        metrics = LABEL_DEFAULT if isinstance(task, ClassificationTask) else DEFAULT
    metrics = check_metrics(metrics)
    check_examples(examples, seed)
    common = origin(model, steps)
    preset = getattr(model, "preset_name", None)
    report = Report(preset, task.name, common["backend"])
    report.trained = "constructed" not in (getattr(model, "supervision", None) or ())
    if split != "test":
        common["split"] = split
    total = len(lengths) * examples
    with running(model, steps), tqdm(total=total, unit=" examples", disable=not progress, leave=False) as bar:
        for length in lengths:
            bar.set_description(f"{task.name}, " + (f"{split} split" if length is None else f"length {length}"))
            drawn = task.examples(split, None if length is None else examples, seed, length)
            n = len(drawn)
            bar.total += n - examples
            for metric, value in measure(model, drawn, metrics, task, bar).items():
                row: Row = {"preset": preset, "task": task.name, "length": length, "metric": metric, "value": value}
                row |= {"n": n, "seed": seed}
                if length is None:
                    row |= {"lengths": list(task.splits[split].lengths)}
                if metric in OF_SEQUENCES:
                    row["low"], row["high"] = wilson(value, n)
                if metric == "sequence_accuracy":
                    given = getattr(model, "mechanism", None), length, getattr(model, "supervision", None)
                    row["paper"] = task.published.number(*given) if split == "test" else None
                report.rows.append(row | common)
    return report


def find(model: Any, task: str | Task | None) -> tuple[Any, Task]:
    """Returns the model of a preset, or the model itself, and its task, or another one.

    Raises:
        InputError: no task is known.
    """
    if isinstance(model, (str, Path)):
        from kzoo.saving.preset import from_preset

        model = from_preset(model)
    if not hasattr(model, "text_preprocessor"):
        raise InputError(f"a model of kzoo, or the name of a preset, is needed, not {checks.short(model)}")
    return model, get_task(_task_of(model) if task is None else task)


def check_lengths(lengths: int | Sequence[int | None]) -> list[int | None]:
    """Returns the lengths, once each, if there are any and all are in range; None is the split as it is."""
    given: Any = lengths.tolist() if hasattr(lengths, "tolist") else lengths  # an array, or a number of one
    if isinstance(given, (str, bytes, dict)) or not isinstance(given, (int, Iterable)):
        raise InputError(f"lengths must be a length or a list of them, not {type(given).__name__} {given!r:.60}")
    found: list[int | None] = []
    for length in [given] if isinstance(given, int) else given:
        if length is not None:
            checks.integer("a length", length, 1, 100_000)
        if length not in found:
            found.append(length)
    if not found:
        raise InputError("lengths are one or more")
    return found


def check_examples(examples: int, seed: int) -> None:
    """Raises `InputError` unless the number of examples and their seed are in range."""
    checks.integer("examples", examples, 1, MAX_EXAMPLES)
    checks.integer("seed", seed, 0, 2**32 - 1)


def origin(model: Any, steps: int | None) -> Row:
    """Returns what every row says of the model: version of kzoo, backend, weights, dtype and steps where not usual."""
    import keras

    from kzoo.saving.weights import weights_sha256

    found: Row = {"version": kzoo.__version__, "backend": keras.config.backend()}
    found["weights_sha256"] = weights_sha256(model)
    if getattr(model, "compute_dtype", "float32") != "float32":
        found["dtype"] = model.compute_dtype
    if steps is not None:
        found["steps"] = steps
    return found


@contextmanager
def running(model: Any, steps: int | None) -> Iterator[None]:
    """Lets a model with shared depth run another number of steps, for a while."""
    if steps is None:
        yield
        return
    if not isinstance(model, TracesSteps):
        raise InputError(f"{type(model).__name__} has no steps to choose")
    own = model.inference_steps
    model.inference_steps = steps
    try:
        yield
    finally:
        model.inference_steps = own


def _task_of(model: Any) -> str:
    name = getattr(model, "task_name", None)
    if name is None:
        raise InputError("this model does not say what it was trained on: pass task=...")
    return str(name)
