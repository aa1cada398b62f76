"""Accuracy by length."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

import kzoo
from kzoo import checks
from kzoo.backend import ensure_backend
from kzoo.errors import InputError
from kzoo.evaluation.report import Report, Row, wilson
from kzoo.preprocessing.preprocessor import bucket
from kzoo.tasks import Example, Task
from kzoo.tasks import get as get_task

BATCH = 256
MAX_EXAMPLES = 1_000_000


def evaluate(
    model: Any,
    task: str | Task | None = None,
    lengths: Sequence[int] | None = None,
    examples: int = 2000,
    seed: int = 0,
    progress: bool = False,
) -> Report:
    """Measures a model on fresh examples of each length.

    Sequence accuracy counts a sequence as right only if every token is, the end symbol included; token accuracy is the
    share of right tokens. Both are taken from one pass with the true tokens before each step: the sequence accuracy of
    greedy decoding is the same, since the first wrong token of either is the same.

    Args:
        model: a model of kzoo, or a preset's name or folder.
        task: str or Task. Defaults to the task that the model was trained on.
        lengths: sequence of int. Defaults to the lengths that the task's paper reports.
        examples: int. Examples a length, 1 to 1,000,000. Defaults to 2,000.
        seed: int. Seeds the examples. Defaults to 0.
        progress: bool. Whether to show a progress bar on stderr.

    Returns:
        Report. `print(report)` shows a table, `report[30]` is the sequence accuracy at length 30.

    Raises:
        InputError: no task is known, or a length or number is out of range.
    """
    ensure_backend()
    import keras

    from kzoo.weights import weights_sha256

    if isinstance(model, (str, Path)):
        from kzoo.presets_io import from_preset

        model = from_preset(model)
    task = get_task(_task_of(model) if task is None else task)
    lengths = task.test_lengths if lengths is None else list(lengths)
    for length in lengths:
        checks.integer("a length", length, 1, 100_000)
    checks.integer("examples", examples, 1, MAX_EXAMPLES)
    checks.integer("seed", seed, 0, 2**32 - 1)
    preset = getattr(model, "preset_name", None)
    report = Report(preset, task.name, keras.config.backend())
    common = {"version": kzoo.__version__, "backend": report.backend, "weights_sha256": weights_sha256(model)}
    with tqdm(total=len(lengths) * examples, unit=" examples", disable=not progress, leave=False) as bar:
        for length in dict.fromkeys(lengths):
            bar.set_description(f"{task.name}, length {length}")
            found = measure(model, task.examples("test", examples, seed, length), bar)
            for metric, value in found.items():
                interval = wilson(value, examples) if metric.endswith("sequence_accuracy") else None
                row: Row = {"preset": preset, "task": task.name, "length": length, "metric": metric, "value": value}
                row |= {"n": examples, "seed": seed}
                if metric == "sequence_accuracy":
                    row |= {"low": interval[0], "high": interval[1]} if interval else {}
                    row |= {"paper": paper_accuracy(task, preset, length)}
                report.rows.append(row | common)
    return report


def measure(model: Any, examples: Sequence[Example], bar: Any = None) -> dict[str, float]:
    """Returns sequence and token accuracy of a model on examples."""
    preprocessor = model.text_preprocessor()
    sources = [preprocessor.encode_source(example.source) for example in examples]
    targets = [preprocessor.encode_target(example.target) for example in examples]
    shape = (bucket(max(map(len, sources))), bucket(max(map(len, targets))))
    size = -(-len(examples) // -(-len(examples) // BATCH))  # equal batches: one shape
    sequences = right_tokens = tokens = 0
    for i in range(0, len(examples), size):
        rows = np.minimum(np.arange(i, i + size), len(examples) - 1)
        real = min(size, len(examples) - i)
        x, y, weight = preprocessor.arrays([sources[k] for k in rows], [targets[k] for k in rows], shape)
        guesses = np.argmax(model.predict_on_batch(x), axis=-1)
        mask = (weight > 0)[:real]
        right = (guesses == y)[:real] & mask
        sequences += int((right.sum(axis=1) == mask.sum(axis=1)).sum())
        right_tokens, tokens = right_tokens + int(right.sum()), tokens + int(mask.sum())
        if bar is not None:
            bar.update(real)
    return {"sequence_accuracy": sequences / len(examples), "token_accuracy": right_tokens / tokens}


def paper_accuracy(task: Task, preset: str | None, length: int) -> float | None:
    """Returns the published accuracy of a preset's mechanism, which its name begins with, or None."""
    mechanism = (preset or "").removesuffix(f"_{task.name}")
    return task.paper_accuracy.get(mechanism, {}).get(length)


def _task_of(model: Any) -> str:
    name = getattr(model, "task_name", None)
    if name is None:
        raise InputError("this model does not say what it was trained on: pass task=...")
    return str(name)
