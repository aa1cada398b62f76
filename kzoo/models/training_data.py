"""What `fit`, `evaluate` and `predict` take, checked before Keras begins."""

import inspect
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import keras

from kzoo.data.alignment import Alignment
from kzoo.errors import InputError
from kzoo.preprocessing.learned_attention import LearnedAttention
from kzoo.tasks import TaskData

LOADERS = ("tensorflow", "torch", "grain")  # packages whose data sets Keras reads

EXAMPLES = "a task's data, a list of (source, target) pairs, an alignment, a list of texts with their targets in y,"
UNROLLED = (
    "on PyTorch jit_compile=True unrolls loops, anew at each length: leave it out, or a fit of seconds takes minutes"
)
ARRAYS = "what the preprocessor makes of examples,"


def is_pairs(x: Any) -> bool:
    """Whether `x` is a task's data, an alignment, or a list of pairs (source, target)."""
    if isinstance(x, (TaskData, Alignment)):
        return True
    return isinstance(x, list) and len(x) > 0 and all(isinstance(p, (tuple, list)) and len(p) == 2 for p in x)


def is_texts(x: Any) -> bool:
    """Whether `x` is a list of texts."""
    return isinstance(x, (list, tuple)) and len(x) > 0 and isinstance(x[0], str)


def pairs_of(x: Any, model: Any) -> tuple[Any, Any]:
    """Returns the pairs in what `is_pairs` takes, and what makes arrays of them: the preprocessor of the model; or for
    an alignment, what supervises the attention too.

    Raises:
        InputError: the model has no preprocessor, or no attention that is supervised.
    """
    if not isinstance(x, Alignment):
        return x, model.text_preprocessor()
    if "attention_supervision" not in model.objectives:
        raise InputError(f"an alignment supervises the attention of a RecurrentSeq2Seq, not a {type(model).__name__}")
    return x.pairs, LearnedAttention(model.text_preprocessor(), x)


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
            raise InputError(f"a generator must yield batches, tuples with {needed} first, not {first!r:.60}")
        check_arrays(first[0], names, forms)
        return _again(first, x)
    loader = isinstance(x, keras.utils.PyDataset) or type(x).__module__.split(".")[0] in LOADERS
    if not loader or hasattr(x, "shape"):
        raise InputError(f"x must be {forms} {needed}, or a data set of such batches, not {type(x).__name__} {x!r:.60}")
    return x


def _again(first: Any, others: Iterator[Any]) -> Iterator[Any]:
    yield from chain([first], others)  # Keras asks for a generator
