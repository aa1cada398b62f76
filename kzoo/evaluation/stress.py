"""Accuracy on the strata of a task: kinds of input that its test split has rarely or never."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from kzoo.backend import ensure_backend
from kzoo.errors import InputError
from kzoo.evaluation.evaluate import check_examples, check_lengths, find, origin, running
from kzoo.evaluation.report import Report, Row, wilson
from kzoo.tasks import Example, Task


def stress(
    model: Any,
    task: str | Task | None = None,
    lengths: int | Sequence[int | None] | None = None,
    examples: int = 500,
    seed: int = 0,
    progress: bool = False,
    steps: int | None = None,
    strata: Sequence[str] | None = None,
) -> Report:
    """Measures a model's sequence accuracy on each stratum of a task.

    A stratum has inputs of one kind, as numbers that end with nines: drawn uniformly they are so rare that the accuracy
    on the test split says nothing of them. The test set of a stratum may hold examples of the training split, where the
    stratum has few inputs and the length was trained. Strata of one length share batches.

    Args:
        model: a model of kzoo, or a preset's name or folder.
        task: str or Task. Defaults to the task that the model was trained on.
        lengths: int or sequence of int. Defaults to what the task says; a stratum is left out where it has no such
            length.
        examples: int. Examples a stratum and length, or all there are if they are fewer. Defaults to 500.
        seed: int. Seeds the examples. Defaults to 0.
        progress: bool. Whether to show a progress bar on stderr.
        steps: int. For a model with shared depth, another number of steps than its `inference_steps`; rows then say it.
        strata: sequence of str. Defaults to all of the task.

    Returns:
        Report. Its rows are as those of `kzoo.evaluate`, with the name of the `stratum`.

    Raises:
        InputError: the task has no strata, or none of these lengths; or as `kzoo.evaluate` raises.
    """
    ensure_backend()
    model, task = find(model, task)
    wanted = list(task.strata if strata is None else dict.fromkeys(strata))
    if not wanted:
        raise InputError(f"{task.name} has no strata")
    own = task.stress_lengths or tuple(n for n in task.test_lengths if n is not None) or (None,)
    lengths = check_lengths(own if lengths is None else lengths)
    check_examples(examples, seed)
    common = origin(model, steps)
    preset = getattr(model, "preset_name", None)
    report = Report(preset, task.name, common["backend"])
    with running(model, steps), tqdm(unit=" examples", disable=not progress, leave=False) as bar:
        for length in lengths:
            drawn = {
                name: task.stratum_examples(name, examples, seed, length)
                for name in wanted
                if strata is not None or task.strata[name].has(length)
            }
            right = _right(model, [example for found in drawn.values() for example in found], bar)
            for name, found in drawn.items():
                if found:
                    own_part, right = right[: len(found)], right[len(found) :]
                    value = float(np.mean(own_part))
                    row: Row = {"preset": preset, "task": task.name, "stratum": name, "length": length}
                    row |= {"metric": "sequence_accuracy", "value": value, "n": len(found), "seed": seed}
                    row["low"], row["high"] = wilson(value, len(found))
                    if length is None:
                        row["lengths"] = [min(len(e.target) for e in found), max(len(e.target) for e in found)]
                    report.rows.append(row | common)
    if not report.rows:
        raise InputError(f"the strata of {task.name} have none of these lengths")
    return report


def _right(model: Any, examples: Sequence[Example], bar: Any) -> np.ndarray:
    """Returns of each example whether the model gets all of it right."""
    from kzoo.evaluation.measure import right_sequences

    if not examples:
        return np.zeros(0, bool)
    preprocessor = model.text_preprocessor()
    pairs = [preprocessor.encode(example.source, example.target) for example in examples]
    bar.total = (bar.total or 0) + len(pairs)
    sources, targets = map(list, zip(*pairs, strict=True))
    return right_sequences(model, sources, targets, bar).whole
