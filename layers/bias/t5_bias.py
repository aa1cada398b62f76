"""Learned numbers for distances in buckets."""

import math
from typing import Any

import keras
import numpy as np
from keras import ops

from kzoo import checks
from kzoo.annotations import Array, Config, DType, Shape, Tensor
from kzoo.errors import InputError
from kzoo.layers.bias.attention_bias import AttentionBias
from kzoo.layers.bias.bias_inputs import BiasInputs
from kzoo.registry import alias, register


@register("bias")
class T5Bias(AttentionBias):
    """Adds a learned number for the distance, in buckets that grow with it.

    The relative bias of T5, [Raffel et al., 2020](https://arxiv.org/abs/1910.10683), section 2.1: bias_ij of a head is
    b[bucket(i - j), head]. With K buckets a side and n = i - j: n below K/2 has a bucket of its own, from there on
    bucket K/2 + floor(K/2 ln(n / (K/2)) / ln(longest / (K/2))), at most K - 1. All distances from `longest` on are one
    bucket.

    Args:
        buckets: int. Number of buckets, 4 to 4,096; half of them a side, where there are two. Defaults to 32.
        longest: int. Above the number of buckets, to 65,536. Defaults to 128.
        both_sides: bool. Whether keys to the right have buckets of their own, as in an encoder; else their distance
            counts as 0, as in a decoder, where they are masked. Defaults to False.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        inputs: BiasInputs; it uses the lengths, `query_offset` and `places`.

    Returns:
        Tensor of shape (1, N, T, S), or with `query_offset` or `places` (B, N, T, S).

    Raises:
        InputError: an argument is out of range.

    Example:

    ```python
    bias = kzoo.layers.T5Bias()
    assert [bias.bucket(n) for n in (0, 15, 16, 20, 127, 128, 9999)] == [0, 15, 16, 17, 31, 31, 31]
    ```

    Differences from T5: there the first layer's numbers are those of all layers, here each layer has its own; and there
    scores are not divided by sqrt(H), which the scale of the attention decides.
    """

    def __init__(
        self, buckets: int = 32, longest: int = 128, both_sides: bool = False, dtype: DType = None, **kwargs: Any
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.buckets = checks.integer("buckets", buckets, 4, 4_096)
        self.longest = checks.integer("longest", longest, self.buckets + 1, 65_536)
        self.both_sides = checks.boolean("both_sides", both_sides)

    def build(self, states_shape: Shape, queries_shape: Shape) -> None:
        if queries_shape is None:
            raise InputError("T5Bias must be built, or called with queries, to know the number of heads")
        size = queries_shape[1] * (queries_shape[3] or 1)
        normal = keras.initializers.RandomNormal(stddev=size**-0.5)
        self.numbers = self.add_weight((self.buckets, queries_shape[1]), initializer=normal, name="numbers")
        self.built = True

    def bucket(self, distance: int) -> int:
        """Returns the bucket of a distance, query minus key, as an int."""
        number = self.buckets // 2 if self.both_sides else self.buckets
        first = number if self.both_sides and distance < 0 else 0
        distance = abs(distance) if self.both_sides else max(distance, 0)
        exact = number // 2
        if distance < exact:
            return first + distance
        scaled = math.log(distance / exact) / math.log(self.longest / exact) * (number - exact)
        return first + min(exact + int(scaled + 1e-9), number - 1)

    def table(self) -> Array:
        """Returns the bucket of each distance from -longest to longest, an int32 array."""
        return np.array([self.bucket(n) for n in range(-self.longest, self.longest + 1)], "int32")

    def call(self, inputs: BiasInputs, training: bool = False) -> Tensor:
        known = ops.take(self.numbers, ops.convert_to_tensor(self.table()), axis=0)  # (2 longest + 1, N)
        distances = ops.clip(inputs.distances(), -self.longest, self.longest) + self.longest
        return ops.transpose(ops.take(known, distances, axis=0), (0, 3, 1, 2))

    def get_config(self) -> Config:
        own = {"buckets": self.buckets, "longest": self.longest, "both_sides": self.both_sides}
        return {**super().get_config(), **own}


alias("bias", "t5", "T5Bias")
