"""Linear maps with the initial weights of the Transformer papers."""

from typing import Any

import keras


def glorot(inputs: int, outputs: int, gain: float = 1.0) -> float:
    """Returns the bound of the Glorot-uniform distribution of a map, times `gain`."""
    return gain * (6 / (inputs + outputs)) ** 0.5


def linear(units: int, inputs: int, bound: float | None = None, **kwargs: Any) -> keras.layers.Dense:
    """Returns a `Dense` whose kernel is uniform in +-bound and whose bias is uniform in +-1/sqrt(inputs).

    Args:
        units: int. Output size.
        inputs: int. Input size.
        bound: float. Defaults to 1/sqrt(inputs).
        **kwargs: of `keras.layers.Dense`.
    """
    bound, default = inputs**-0.5 if bound is None else bound, inputs**-0.5
    kernel = keras.initializers.RandomUniform(-bound, bound)
    bias = keras.initializers.RandomUniform(-default, default)
    return keras.layers.Dense(units, **{"kernel_initializer": kernel, "bias_initializer": bias, **kwargs})
