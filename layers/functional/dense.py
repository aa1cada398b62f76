"""Linear maps with the papers' initial weights."""

from typing import Any

import keras


def dense(units: int, inputs: int, **kwargs: Any) -> keras.layers.Dense:
    """Returns a `Dense` with Glorot-uniform kernel and a bias uniform in +-1/sqrt(inputs), the papers' initial values.

    Args:
        units: int. Output size.
        inputs: int. Input size.
        **kwargs: of `keras.layers.Dense`.
    """
    bias = keras.initializers.RandomUniform(-(inputs**-0.5), inputs**-0.5)
    return keras.layers.Dense(units, **{"bias_initializer": bias, **kwargs})
