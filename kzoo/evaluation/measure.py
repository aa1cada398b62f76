"""The numbers of an evaluation, on examples of one length."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np

from kzoo import checks
from kzoo.compiling import compile_for_backend
from kzoo.errors import InputError, did_you_mean
from kzoo.models.activation import at_once
from kzoo.models.protocols import TracesAttention
from kzoo.models.tracing import in_source_order
from kzoo.preprocessing.classifier_preprocessor import ClassifierPreprocessor
from kzoo.tasks import Example, Task
from kzoo.tasks.classification import ClassificationTask

BATCH = 256
MAX_NUMBERS = 2**27  # of a tensor that is computed at once
DEFAULT = ("sequence_accuracy", "token_accuracy")
LABEL_DEFAULT = ("sequence_accuracy", "majority_accuracy")  # where the answer is one label
WRITTEN = ("accuracy_before_end", "last_token_accuracy", "edit_distance")  # of models that write sequences
METRICS = (*DEFAULT, "majority_accuracy", *WRITTEN, "attention_loss")


def check_metrics(metrics: Sequence[str]) -> tuple[str, ...]:
    """Returns the metrics, once each, if all are known.

    Raises:
        InputError: one is unknown.
    """
    if not isinstance(metrics, (list, tuple)):
        raise InputError(f"metrics must be a list of names, not {checks.short(metrics)}")
    for metric in metrics:
        if metric not in METRICS:
            raise InputError(did_you_mean("metric", metric, METRICS))
    return tuple(dict.fromkeys(metrics))


def measure(
    model: Any,
    examples: Sequence[Example],
    metrics: Sequence[str] = DEFAULT,
    task: Task | None = None,
    bar: Any = None,
) -> dict[str, float]:
    """Returns the metrics of a model on examples.

    Args:
        model: a model of kzoo.
        examples: sequence of Example, at least one.
        metrics: sequence of str, of these:
            sequence_accuracy: the share of sequences with every token right, end symbol included;
            token_accuracy: the share of right tokens, given the true ones before;
            majority_accuracy: what always giving the most frequent label of the training split would reach;
            accuracy_before_end: as the first, an end symbol not counted: the model is stopped where the target ends;
            last_token_accuracy: the share of greedy outputs with the right token where the target's last one is, an end
                symbol not counted, whatever the tokens before it are;
            edit_distance: the mean number of insertions, deletions and replacements between greedy output and target,
                output cut at its end symbol, or at twice the longest target and ten more;
            attention_loss: the mean squared error between attention weights and the task's gold attention, over the
                steps before the end symbol and over start vector, source and end vector (Dubois et al., 2020,
                section 6.2); where a model reads from either end, in the order of the source.
        task: Task, needed for `attention_loss` and `majority_accuracy`.
        bar: a progress bar with `update(n)`, or None.

    Raises:
        InputError: an unknown metric; `accuracy_before_end`, `last_token_accuracy` or `edit_distance` of a model that
            answers with one label;
            `majority_accuracy` of any other;
            `attention_loss` where the task has no gold attention or the model no trace.
    """
    metrics = check_metrics(metrics)
    preprocessor = model.text_preprocessor()
    for metric in WRITTEN:
        if metric in metrics and isinstance(preprocessor, ClassifierPreprocessor):
            raise InputError(f"{metric} is of written sequences; {type(model).__name__} answers with one label")
    pairs = [preprocessor.encode(example.source, example.target) for example in examples]
    sources, targets = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    found: dict[str, float] = {}
    if set(metrics) & {*DEFAULT, "accuracy_before_end"}:
        found |= _accuracies(model, sources, targets, bar)
    if set(metrics) & {"last_token_accuracy", "edit_distance"}:
        longest = max(map(len, targets))
        limit = 2 * longest + 10 if "edit_distance" in metrics else longest
        found |= _of_outputs(list(_outputs(model, sources, targets, limit)), metrics)
    if "majority_accuracy" in metrics:
        if not isinstance(task, ClassificationTask):
            raise InputError("majority_accuracy needs a task whose targets are labels")
        label = task.majority_label()
        found["majority_accuracy"] = sum(example.target == (label,) for example in examples) / len(examples)
    if "attention_loss" in metrics:
        found["attention_loss"] = _attention_loss(model, examples, sources, targets, task)
    return {metric: found[metric] for metric in metrics}


Rows = list[list[int]]


def _batches(model: Any, sources: Rows, targets: Rows) -> Any:
    """Yields (arrays, first row, number of real rows) in equal batches of one shape."""
    shape = model.preprocessor.shape(max(map(len, sources)), max(map(len, targets)))
    size = -(-len(sources) // -(-len(sources) // at_once(model, max(shape), BATCH, MAX_NUMBERS)))
    distribution = keras.distribution.distribution()
    devices = 1 if distribution is None else distribution.num_model_replicas
    size = -(-size // devices) * devices  # each takes an equal part
    for i in range(0, len(sources), size):
        rows = np.minimum(np.arange(i, i + size), len(sources) - 1)
        arrays = model.preprocessor.arrays([sources[k] for k in rows], [targets[k] for k in rows], shape)
        yield arrays, i, min(size, len(sources) - i)


def _accuracies(model: Any, sources: Rows, targets: Rows, bar: Any) -> dict[str, float]:
    found = right_sequences(model, sources, targets, bar)
    return {
        "sequence_accuracy": float(np.mean(found.whole)),
        "accuracy_before_end": float(np.mean(found.before_end)),
        "token_accuracy": int(found.tokens.sum()) / int(found.of.sum()),
    }


class Right(NamedTuple):
    """What a model got right of each sequence: all of it, all before the end symbol, how many tokens of how many."""

    whole: np.ndarray
    before_end: np.ndarray
    tokens: np.ndarray
    of: np.ndarray


def right_sequences(model: Any, sources: Rows, targets: Rows, bar: Any = None) -> Right:
    """Returns what a model got right of each sequence of ids, given the true tokens before each step."""
    found: list[Right] = []
    ends = model.preprocessor.has_end
    for (x, y, weight), _, real in _batches(model, sources, targets):
        guesses = np.argmax(model.predict_on_batch(x), axis=-1).reshape(y.shape)  # a classifier's y is (B, 1)
        mask = (weight > 0)[:real]
        right = (guesses == y)[:real] & mask
        lengths, tokens = mask.sum(axis=1), right.sum(axis=1)
        at_end = right[np.arange(real), mask.shape[1] - 1 - np.argmax(mask[:, ::-1], axis=1)]
        found.append(Right(tokens == lengths, tokens - at_end * ends == lengths - ends, tokens, lengths))
        if bar is not None:
            bar.update(real)
    return Right(*map(np.concatenate, zip(*found, strict=True)))


def _outputs(model: Any, sources: Rows, targets: Rows, limit: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yields greedy outputs of so many tokens, cut at an end symbol, beside their targets without it."""
    end, ends = model.preprocessor.tokenizer.end_id, model.preprocessor.has_end
    size = at_once(model, max(limit, *map(len, sources)), BATCH, MAX_NUMBERS)
    for i in range(0, len(sources), size):
        outputs = model.generator.decode(sources[i : i + size], limit).tolist()
        for output, target in zip(outputs, targets[i : i + size], strict=True):
            stop = output.index(end) if ends and end in output else limit if ends else len(target)
            yield output[:stop], target[:-1] if ends else target


def _of_outputs(pairs: Sequence[tuple[list[int], list[int]]], metrics: Collection[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    if "last_token_accuracy" in metrics:
        right = [output[len(target) - 1 : len(target)] == target[-1:] for output, target in pairs]
        found["last_token_accuracy"] = float(np.mean(right))
    if "edit_distance" in metrics:
        found["edit_distance"] = float(np.mean([edit_distance(output, target) for output, target in pairs]))
    return found


def edit_distance(a: Sequence[Any], b: Sequence[Any]) -> int:
    """Returns the least number of insertions, deletions and replacements that turn one sequence into another.

    Example:

    ```python
    from kzoo.evaluation.measure import edit_distance

    assert edit_distance("4 7 9".split(), "4 9 9 8".split()) == 2
    ```
    """
    symbols = {symbol: i for i, symbol in enumerate(dict.fromkeys([*a, *b]))}
    other = np.array([symbols[symbol] for symbol in b])
    columns = np.arange(len(b) + 1)
    row = columns
    for symbol in a:
        replaced = row[:-1] + (other != symbols[symbol])
        best = np.concatenate([[row[0] + 1], np.minimum(replaced, row[1:] + 1)])
        row = np.minimum.accumulate(best - columns) + columns  # insertions, all at once
    return int(row[-1])


def _attention_loss(model: Any, examples: Sequence[Example], sources: Rows, targets: Rows, task: Task | None) -> float:
    gold = [None if task is None else task.gold_attention(example.source) for example in examples]
    if any(indices is None for indices in gold) or not isinstance(model, TracesAttention):
        raise InputError("attention_loss needs a task with gold attention and a recurrent model")
    trace: Callable[..., Any] = compile_for_backend(model, lambda x, _: model.trace_attention(x)[1])
    total, count = 0.0, 0
    for (x, _, _), start, real in _batches(model, sources, targets):
        found = {key: keras.ops.convert_to_numpy(value) for key, value in trace(x, 0).items()}
        for k in range(real):
            length, steps = len(sources[start + k]) + 2, len(targets[start + k]) - 1
            alpha = found["direction"][k, 0] if "direction" in found else 1.0
            weights = in_source_order(found["weights"][k, :steps, :length], alpha)
            wanted = np.zeros((steps, length))
            # The start vector stands at 0, so source token i at i + 1; its length is the end vector's index.
            wanted[np.arange(steps), np.asarray(gold[start + k], int)[:steps] + 1] = 1.0
            total, count = total + float(np.square(weights - wanted).sum()), count + steps * length
    return total / count
