"""Random factors, one a sequence."""

import math

import keras
from keras import ops

from kzoo.annotations import Tensor


def log_uniform(rows: Tensor, largest: float, seeds: keras.random.SeedGenerator) -> Tensor:
    """Returns a factor for each row, between 1 and `largest`, its logarithm uniform: float32 of shape (B, 1, 1, 1)."""
    return ops.exp(math.log(largest) * keras.random.uniform((rows, 1, 1, 1), dtype="float32", seed=seeds))
