"""Names for what functions take and return.

Keras gives its tensors no type that holds on every backend, so a `Tensor` is anything to a type checker; the name says
what is meant.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

Tensor: TypeAlias = Any  # of the backend, symbolic, or a NumPy array
Shape: TypeAlias = tuple[Any, ...]  # integers, None where a size is not known
Structure: TypeAlias = Any  # tensors in nested dicts, lists and tuples
States: TypeAlias = dict[str, Tensor]  # of an attention cell, a decoder, by name
Prepared: TypeAlias = dict[str, Any]  # what an attention computes once of the sequence it attends to, by name
Trace: TypeAlias = dict[str, Tensor]  # what a layer or a model did, by name

Array: TypeAlias = np.ndarray
Arrays: TypeAlias = tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]  # x, y and sample_weight
Inputs: TypeAlias = dict[str, Tensor]  # what a model is called with

Text: TypeAlias = str | Sequence[str]  # a text, or its tokens
Texts: TypeAlias = Text | Iterable[Text] | np.ndarray  # one, or several
TokenIds: TypeAlias = Sequence[int]  # of one sequence

Config: TypeAlias = dict[str, Any]  # the arguments of a class, plain data
Spec: TypeAlias = Any  # what `registry.get` takes: a name, {"class": ..., "config": {...}} or an object
DType: TypeAlias = Any  # what Keras takes: the name of a dtype policy, a keras.DTypePolicy, or None
