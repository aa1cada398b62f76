"""Vectors of length 1, or with a mean square of 1."""

from keras import ops

from kzoo.annotations import Tensor

EPSILON = 1e-6


def normalized(x: Tensor) -> Tensor:
    """Returns vectors divided by their length, along the last axis; 1e-6 is added to its square."""
    return x * ops.rsqrt(ops.sum(x * x, axis=-1, keepdims=True) + EPSILON)


def rms_norm(x: Tensor) -> Tensor:
    """Returns vectors divided by the root of their mean square, along the last axis; 1e-6 is added to that mean."""
    return x * ops.rsqrt(ops.mean(x * x, axis=-1, keepdims=True) + EPSILON)
