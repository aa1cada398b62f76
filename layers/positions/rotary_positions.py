"""Rotary positions."""

import keras
from keras import ops

from kzoo.annotations import Config, Shape, Tensor
from kzoo.layers.bias.bias_inputs import places_at
from kzoo.layers.functional.sinusoid import angles, check_even, rotate
from kzoo.registry import alias, register


@register("position")
class RotaryPositions(keras.layers.Layer):
    """Rotates queries and keys by their positions, so that their products depend on their distance.

    From [Su et al., 2021](https://arxiv.org/abs/2104.09864), Eq. 14-16, computed as in Eq. 34: each pair (2j, 2j + 1)
    is rotated by p 10000^(-2j / H), p the position, counted from 0.

    Call arguments:
        queries: tensor of shape (B, N, T, H), H even.
        keys: tensor of shape (B, N, S, H).
        query_offset: int tensor of shape (B,), the position of the first query in each row. Defaults to 0.
        source_ends: int tensor of shape (B, K). The positions of the keys count back from index `source_ends[:, -1]`.
            Defaults to counting from 0.
        places: int tensor of shape (B, S), the places of a sequence's keys, and of its queries, where an encoding gives
            them. Defaults to the positions.

    Returns:
        Both, rotated.

    Raises:
        InputError: H is odd.

    Example:

    ```python
    attention = kzoo.layers.MultiHeadAttention(heads=2, head_units=4, position="rotary")
    output, weights = attention(np.ones((3, 5, 6), "float32"))
    assert weights.shape == (3, 2, 5, 5)
    ```
    """

    def build(self, queries_shape: Shape, keys_shape: Shape | None = None) -> None:
        check_even(queries_shape[-1], "the size of a head")
        self.built = True

    def call(
        self,
        queries: Tensor,
        keys: Tensor,
        query_offset: Tensor | None = None,
        source_ends: Tensor | None = None,
        places: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        rows = ops.arange(ops.shape(queries)[-2], dtype="int32")
        columns = ops.arange(ops.shape(keys)[-2], dtype="int32")
        if query_offset is not None:
            rows = rows + query_offset[:, None, None]
        if source_ends is not None:
            columns = ops.cast(source_ends[:, -1], columns.dtype)[:, None, None] - columns
        if places is not None:
            rows = places_at(places, ops.reshape(rows, (-1, ops.shape(queries)[-2])))[:, None]
            columns = places[:, None]
        return rotated(queries, rows), rotated(keys, columns)

    def get_config(self) -> Config:
        return super().get_config()  # without an override Keras leaves the dtype policy out


def rotated(x: Tensor, positions: Tensor) -> Tensor:
    """Returns vectors (B, N, T, H), rotated by positions (T,) or (B, 1, T); the angles are float32 under any dtype."""
    angle = angles(ops.cast(positions, "float32"), x.shape[-1])
    return ops.cast(rotate(ops.cast(x, "float32"), angle), x.dtype)


alias("position", "rotary", "RotaryPositions")
