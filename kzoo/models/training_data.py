"""What `fit`, `evaluate` and `predict` take, checked before Keras begins."""

import inspect
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import keras

from kzoo.checks import short
from kzoo.data.alignment import Alignment
from kzoo.data.batches import Batches
from kzoo.errors import InputError
from kzoo.preprocessing.learned_attention import LearnedAttention
from kzoo.tasks import TaskData

LOADERS = ("tensorflow", "torch", "grain")  # packages whose data sets Keras reads
KEYS = ("source", "target")  # of a pair that is a mapping
PREDICTED = "what preprocessor.sources or preprocessor(examples)[0] returns (generate takes texts):"

EXAMPLES = "a task's data, a list of (source, target) pairs, an alignment, a list of texts with their targets in y,"
UNROLLED = (
    "on PyTorch jit_compile=True unrolls loops, anew at each length: leave it out, or a fit of seconds takes minutes"
)
CONSTRUCTED = (
    "these weights were constructed, and few steps of the default optimizer lose what they do: to train them "
    "nevertheless, compile the model with an optimizer of your own"
)
ARRAYS = "what the preprocessor makes of examples,"


def as_pairs(x: Any) -> Any:
    """Returns pairs (source, target) if `x` is a task's data, an alignment, pairs, or rows with "source" and "target".

    Raises:
        InputError: `x` is a data set of the package datasets, or a table of pandas, without these columns.
    """
    if isinstance(x, (TaskData, Alignment)):
        return x
    package = type(x).__module__.split(".")[0]
    if package in ("datasets", "pandas"):
        columns = list(x.columns) if package == "pandas" and hasattr(x, "columns") else getattr(x, "column_names", None)
        if not isinstance(columns, list) or not set(KEYS) <= set(columns):
            has = ", ".join(map(str, columns)) if isinstance(columns, (list, dict)) else "none"
            raise InputError(f"a data set needs the columns source and target; this has {has} (choose a split first)")
        rows = x.to_dict("records") if package == "pandas" else x
        return [tuple(row[key] for key in KEYS) for row in rows]
    if not isinstance(x, (list, tuple)) or not x:
        return None
    if all(isinstance(row, dict) and set(KEYS) <= set(row) for row in x):
        return [tuple(row[key] for key in KEYS) for row in x]
    pairs = all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in x)
    return list(x) if pairs and (isinstance(x, list) or all(_is_pair(pair) for pair in x)) else None


def _is_pair(pair: Any) -> bool:
    """Whether two things are texts: a tuple may as well be `(x, y)` of arrays."""
    return all(isinstance(side, str) or (isinstance(side, (list, tuple)) and _words(side)) for side in pair)


def _words(side: Sequence[Any]) -> bool:
    return all(isinstance(token, str) for token in side)


def is_texts(x: Any) -> bool:
    """Whether `x` is a list of texts."""
    return isinstance(x, (list, tuple)) and len(x) > 0 and isinstance(x[0], str)


def pairs_of(x: Any, model: Any) -> tuple[Any, Any]:
    """Returns the pairs of `as_pairs`, and what makes arrays of them: the preprocessor of the model; or for
    an alignment, what supervises the attention too.

    Raises:
        InputError: the model has no preprocessor, or no attention that is supervised.
    """
    if not isinstance(x, Alignment):
        return x, model.text_preprocessor()
    if "attention_supervision" not in model.objectives:
        raise InputError(f"an alignment supervises the attention of a RecurrentSeq2Seq, not a {type(model).__name__}")
    return x.pairs, LearnedAttention(model.text_preprocessor(), x)


def batches_of(model: Any, x: Any, y: Any, batch_size: int | None, shuffle: bool) -> tuple[Any, Any, int | None]:
    """Returns x, y and the batch size for Keras: pairs and texts as batches of their own, all else as it is.

    Raises:
        InputError: the data is in no form that a model takes.
    """
    if is_texts(x):
        if y is None or len(y) != len(x):
            raise InputError(f"{len(x)} source texts need as many targets in y")
        x = list(zip(x, y, strict=True))
    pairs = as_pairs(x)
    if pairs is None:
        return check_arrays(x, model.input_names, EXAMPLES), y, batch_size
    seed = int(keras.random.SeedGenerator().state.numpy()[0]) if shuffle else None
    pairs, preprocessor = pairs_of(pairs, model)
    return Batches(pairs, preprocessor, batch_size or 32, seed=seed), None, None


def check_arrays(x: Any, names: Sequence[str], forms: str) -> Any:
    """Returns `x` if Keras can read the model's inputs from it.

    Args:
        x: what was given: a dict of arrays, or a loader or generator of batches.
        names: sequence of str. The inputs that the model needs.
        forms: str. What else would have been right, for the error.

    Raises:
        InputError: it is anything else, or a dict lacks an input.
    """
    needed = f"a dict of arrays ({', '.join(names)})" if names else "a dict of arrays"
    if isinstance(x, dict):
        missing = [name for name in names if name not in x]
        if missing:
            raise InputError(f"x must be {needed}; it lacks {', '.join(missing)}")
        return x
    if inspect.isgenerator(x):
        first = next(x, None)
        if not (isinstance(first, tuple) and len(first) > 0 and isinstance(first[0], dict)):
            raise InputError(f"a generator must yield batches, tuples with {needed} first, not {short(first)}")
        check_arrays(first[0], names, forms)
        return _again(first, x)
    loader = isinstance(x, keras.utils.PyDataset) or type(x).__module__.split(".")[0] in LOADERS
    if not loader or hasattr(x, "shape"):
        raise InputError(
            f"x must be {forms} {needed}, or a data set of such batches, not {type(x).__name__} {short(x)}"
        )
    return x


def _again(first: Any, others: Iterator[Any]) -> Iterator[Any]:
    yield from chain([first], others)  # Keras asks for a generator
