"""The arguments that models hand on to their blocks, as editors and type checkers see them."""

from typing import Any, TypedDict

import numpy as np

from kzoo.annotations import Config
from kzoo.errors import InputError, did_you_mean
from kzoo.registry import KERAS_ARGUMENTS


class KerasOptions(TypedDict, total=False):
    """The arguments of every Keras object."""

    name: str
    dtype: Any
    trainable: bool


class BlockOptions(KerasOptions, total=False):
    """Arguments of a `TransformerBlock`, or of a `CopyGate` around one; see there."""

    heads: int
    hidden_units: int
    dropout: float
    attention_dropout: float


class LayerOptions(KerasOptions, total=False):
    """Arguments of the blocks of an encoder and a decoder; see `TransformerBlock`."""

    heads: int
    hidden_units: int
    dropout: float
    norm: str


def split(options: Any, known: type) -> tuple[Config, Config]:
    """Returns the options of the block that are not None, NumPy's integers as Python's, and those of Keras.

    Raises:
        InputError: an option is not among the `known`.
    """
    for key in options:
        if key not in known.__annotations__:
            raise InputError(did_you_mean("argument", key, known.__annotations__))
    own = {key: value for key, value in options.items() if key not in KERAS_ARGUMENTS and value is not None}
    own = {key: int(value) if isinstance(value, np.integer) else value for key, value in own.items()}
    return own, {key: value for key, value in options.items() if key in KERAS_ARGUMENTS}
