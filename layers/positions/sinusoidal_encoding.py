"""Absolute sinusoids, added to the inputs."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Tensor
from kzoo.layers.functional.sinusoid import check_even, sinusoid
from kzoo.registry import alias, register


@register("encoding")
class SinusoidalEncoding(keras.layers.Layer):
    """Adds to each input the sinusoids of its position, counted from 0.

    From [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762), section 3.5, sine and cosine interleaved. The inputs
    are not scaled. They are computed: there is no longest sequence.

    Args:
        dropout: float. Rate on the sum while training. Defaults to 0.1, what the code of
            [Csordas et al., 2022](https://arxiv.org/abs/2110.07732) always has here, whatever its other rates.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        inputs: tensor of shape (B, T, D), D even.
        training: bool.
        offset: int tensor of shape (B,), the position of the first input in each row. Defaults to 0.
        source_ends: int tensor of shape (B, K). The positions count back from index `source_ends[:, -1]`. Defaults to
            counting from 0.

    Returns:
        Tensor of shape (B, T, D).

    Raises:
        InputError: D is odd, or the rate is out of range.

    Example:

    ```python
    encoded = kzoo.layers.SinusoidalEncoding()(np.zeros((1, 2, 4), "float32"))
    assert np.allclose(encoded[0], [[0, 1, 0, 1], [0.84147, 0.5403, 0.01, 0.99995]], atol=1e-4)
    ```
    """

    def __init__(self, dropout: float = 0.1, dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.dropout = keras.layers.Dropout(checks.number("dropout", dropout, 0.0, 0.99), dtype=self.dtype_policy)

    def build(self, inputs_shape: Shape) -> None:
        check_even(inputs_shape[-1], "the size of the inputs")
        self.built = True

    def call(
        self, inputs: Tensor, training: bool = False, offset: Tensor | None = None, source_ends: Tensor | None = None
    ) -> Tensor:
        positions = ops.arange(ops.shape(inputs)[1], dtype="int32")
        if offset is not None:
            positions = positions + offset[:, None]
        if source_ends is not None:
            positions = ops.cast(source_ends[:, -1:], positions.dtype) - positions
        positions = self.index(positions)
        encoded = inputs + ops.cast(sinusoid(ops.cast(positions, "float32"), inputs.shape[-1]), inputs.dtype)
        return self.dropout(encoded, training=training)

    def index(self, positions: Tensor) -> Tensor:
        """Returns the index that is encoded for each position: here the position itself."""
        return positions

    def get_config(self) -> Config:
        return {**super().get_config(), "dropout": self.dropout.rate}


alias("encoding", "sinusoidal", "SinusoidalEncoding")
