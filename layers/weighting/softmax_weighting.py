"""The softmax as a weighting."""

from typing import Any

import keras
from keras import ops

from kzoo.annotations import Config, DType, Tensor
from kzoo.layers.functional.check_mask import check_boolean
from kzoo.layers.functional.masked_softmax import masked_softmax
from kzoo.registry import alias, register


@register("weighting")
class SoftmaxWeighting(keras.layers.Layer):
    """Turns scores into weights by the softmax over the unmasked keys.

    That of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762), Eq. 1.

    Call arguments:
        scores: float32 tensor of shape (B, N, T, S).
        mask: bool tensor that broadcasts to (B, N, T, S), True at unmasked keys; every row has at least one.

    Returns:
        Weights, float32 of shape (B, N, T, S), exactly 0 at masked keys.

    Example:

    ```python
    scores, mask = np.zeros((1, 1, 1, 3), "float32"), np.array([True, True, False])
    assert np.array(kzoo.layers.SoftmaxWeighting()(scores, mask)).tolist() == [[[[0.5, 0.5, 0.0]]]]
    ```
    """

    def __init__(self, dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(autocast=False, dtype=dtype, **kwargs)

    def call(self, scores: Tensor, mask: Tensor) -> Tensor:
        check_boolean(mask)
        return masked_softmax(ops.cast(scores, "float32"), mask)

    def get_config(self) -> Config:
        return super().get_config()  # without an override Keras leaves the dtype policy out


alias("weighting", "softmax", "SoftmaxWeighting")
