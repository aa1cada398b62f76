"""Abacus embeddings: the place of a digit in its number."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Tensor
from kzoo.layers.positions.placed_encoding import PlacedEncoding, runs
from kzoo.registry import alias, register


@register("encoding")
class AbacusEncoding(PlacedEncoding):
    """Adds a learned vector of a digit's place in its number, counted from the number's first token.

    Abacus embeddings of [McLeish et al., 2024](https://arxiv.org/abs/2405.17399): the i-th digit of a run
    of digits, from 1, has the place i + k, everything else place 0. For numbers that are written from their last digit
    a place is a significance. While training k is uniform in 0 .. `shift` - 1; else it is 0.

    This gives a model the alignment of the digits: a result with it has the supervision "built-in alignment".

    Args:
        longest: int. The largest place, 2 to 100,000. Defaults to 200.
        shift: int. Number of values of k, 1 to `longest`. Defaults to 100.
        digits: int. The token ids below it are digits; kzoo's tasks have them first. Defaults to 10.
        deviation: float. Of the normal distribution that the vectors start from. Defaults to 1.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        inputs: tensor of shape (B, T, D).
        places: int tensor of shape (B, S), from `places`.
        training: bool.
        offset: int tensor of shape (B,), the column of the first input in each row. Defaults to 0.

    Returns:
        Tensor of shape (B, T, D).

    Raises:
        InputError: an argument is out of range.

    Example:

    ```python
    encoding = kzoo.layers.AbacusEncoding()
    tokens = np.array([[3, 5, 6, 10, 9, 4, 11, 2, 0, 7]])  # 653 + 49 | 702, each from its last digit
    assert np.array(encoding.places(tokens)).tolist() == [[1, 2, 3, 0, 1, 2, 0, 1, 2, 3]]
    ```

    Differences from the paper: its code draws one k for a batch, here each sequence has its own; its runs draw k from
    0 to 100, the published layer from 0 to 99. A place above `longest`, an error there, is `longest` here. The norm of
    the sum in its models is no part of this.
    """

    def __init__(
        self,
        longest: int = 200,
        shift: int = 100,
        digits: int = 10,
        deviation: float = 1.0,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.longest = checks.integer("longest", longest, 2, 100_000)
        self.shift = checks.integer("shift", shift, 1, self.longest)
        self.digits = checks.integer("digits", digits, 1, 65_536)
        self.deviation = checks.number("deviation", deviation, 0.0, 100.0)
        self.seeds = keras.random.SeedGenerator()

    def build(self, inputs_shape: Shape) -> None:
        normal = keras.initializers.RandomNormal(stddev=self.deviation)
        self.vectors = self.add_weight((self.longest + 1, inputs_shape[-1]), initializer=normal, name="vectors")
        self.built = True

    def places(
        self, token_ids: Tensor, mask: Tensor | None = None, delimiter: Tensor | None = None, training: bool = False
    ) -> Tensor:
        tokens = ops.convert_to_tensor(token_ids, dtype="int32")
        is_digit = tokens < self.digits
        index = runs(is_digit)[0] + 1
        if training and self.shift > 1:
            drawn = keras.random.uniform((ops.shape(tokens)[0], 1), dtype="float32", seed=self.seeds)
            index = index + ops.cast(ops.floor(drawn * float(self.shift)), "int32")
        return ops.where(is_digit, ops.minimum(index, self.longest), 0)

    def encode(self, inputs: Tensor, places: Tensor, training: bool) -> Tensor:
        return inputs + ops.cast(ops.take(self.vectors, places, axis=0), inputs.dtype)

    def get_config(self) -> Config:
        own = {"longest": self.longest, "shift": self.shift, "digits": self.digits, "deviation": self.deviation}
        return {**super().get_config(), **own}


alias("encoding", "abacus", "AbacusEncoding")
