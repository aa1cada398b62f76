"""Absolute sinusoids of cyclic positions."""

from typing import Any

from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Tensor
from kzoo.layers.positions.sinusoidal_encoding import SinusoidalEncoding
from kzoo.registry import alias, register


@register("encoding")
class CyclicEncoding(SinusoidalEncoding):
    """Adds to each input the sinusoids of its position modulo a period.

    Cyclic position indexing of [Duan et al., 2023](https://arxiv.org/abs/2310.11984), section 4.1: position i becomes
    i mod T, with the paper's T as `period`. No position at inference is new to the model.

    Args:
        period: int. 1 to 10,000. Defaults to 3, as in the paper.
        dropout: float. Rate on the sum while training. Defaults to 0.
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
        InputError: D is odd, or an argument is out of range.

    Example:

    ```python
    encoded = np.array(kzoo.layers.CyclicEncoding(period=3)(np.zeros((1, 7, 4), "float32")))
    assert np.allclose(encoded[0, :3], encoded[0, 3:6]) and not np.allclose(encoded[0, 0], encoded[0, 1])
    ```
    """

    def __init__(self, period: int = 3, dropout: float = 0.0, dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(dropout=dropout, dtype=dtype, **kwargs)
        self.period = checks.integer("period", period, 1, 10_000)

    def index(self, positions: Tensor) -> Tensor:
        return ops.mod(positions, self.period)

    def get_config(self) -> Config:
        return {**super().get_config(), "period": self.period}


alias("encoding", "cyclic", "CyclicEncoding")
