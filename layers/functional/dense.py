"""Linear maps with the papers' initial weights."""

from typing import Any

import keras


def dense(units: int, inputs: int, bound: float | None = None, **kwargs: Any) -> keras.layers.Dense:
    """Returns a `Dense` with the initial weights of the papers' framework.

    Args:
        units: int. Output size.
        inputs: int. Input size. The bias starts uniform in +-1/sqrt(inputs).
        bound: float. The kernel starts uniform in +-bound. Defaults to that of `glorot`.
        **kwargs: of `keras.layers.Dense`.
    """
    options: dict[str, Any] = {} if bound is None else {"kernel_initializer": uniform(bound)}
    options["bias_initializer"] = uniform(inputs**-0.5)
    return keras.layers.Dense(units, **{**options, **kwargs})


def uniform(bound: float) -> keras.initializers.Initializer:
    """Returns the initializer that draws uniformly from +-bound."""
    return keras.initializers.RandomUniform(-bound, bound)


def glorot(inputs: int, outputs: int, gain: float = 1.0) -> float:
    """Returns the bound of the Glorot-uniform distribution of a map, times `gain`."""
    return gain * (6 / (inputs + outputs)) ** 0.5


def recurrent_initializers(units: int) -> dict[str, keras.initializers.Initializer]:
    """Returns the initializers of a GRU or LSTM of the papers' framework: all weights uniform in +-1/sqrt(units)."""
    names = ("kernel_initializer", "recurrent_initializer", "bias_initializer")
    return {name: uniform(units**-0.5) for name in names}
