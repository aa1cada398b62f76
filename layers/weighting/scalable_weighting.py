"""The scalable softmax: scores grow with the logarithm of the number of keys."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Tensor
from kzoo.layers.functional.check_mask import check_boolean
from kzoo.layers.functional.masked_softmax import masked_softmax
from kzoo.registry import alias, register


@register("weighting")
class ScalableWeighting(keras.layers.Layer):
    """Turns scores into weights by a softmax whose scores are multiplied by s ln n.

    SSMax of [Nakanishi, 2025](https://arxiv.org/abs/2501.19399), Eq. 2, with z the scores, n the number of unmasked
    keys of a query, and s trained, one for each head: A_i = softmax(s ln(n) z_i). With `trained=False` and s = 1 it is
    the log-length scaled attention of [Chiang and Cholak, 2022](https://arxiv.org/abs/2202.12172). `TemperedWeighting`
    has one factor for all heads of a layer.

    Args:
        factor: float. What s starts at, -1,000 to 1,000. Defaults to 1.
        trained: bool. Whether s is trained. Defaults to True.
        dtype: str or DTypePolicy. Weights are float32 under any.

    Call arguments:
        scores: float32 tensor of shape (B, N, T, S).
        mask: bool tensor that broadcasts to (B, N, T, S), True at unmasked keys; every row has at least one.

    Returns:
        Weights, float32 of shape (B, N, T, S), exactly 0 at masked keys.

    Raises:
        InputError: an argument is out of range, or the mask is not boolean.

    Example:

    ```python
    scores, mask = np.array([[[[1, 0, 0, 0]]]], "float32"), np.ones(4, bool)
    weights = kzoo.layers.ScalableWeighting()(scores, mask)
    assert abs(float(weights[0, 0, 0, 0]) - 4 / 7) < 1e-6  # e^(ln 4) = 4 against three others
    ```

    Differences: the paper's factor starts at another value and has a variant with a bias, which is not here. A single
    key has ln 1 = 0, and all of the weight.
    """

    def __init__(self, factor: float = 1.0, trained: bool = True, dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(autocast=False, dtype=dtype, **kwargs)
        self.initial = checks.number("factor", factor, -1000.0, 1000.0)
        self.trained = checks.boolean("trained", trained)

    def build(self, scores_shape: Shape, mask_shape: Shape | None = None) -> None:
        constant = keras.initializers.Constant(self.initial)
        shape = (scores_shape[1], 1, 1)
        self.factor = self.add_weight(shape, initializer=constant, trainable=self.trained, name="factor")
        self.built = True

    def call(self, scores: Tensor, mask: Tensor) -> Tensor:
        check_boolean(mask)
        scores = ops.cast(scores, "float32")
        return masked_softmax(ops.cast(self.factor, "float32") * ops.log(number_of_keys(scores, mask)) * scores, mask)

    def get_config(self) -> Config:
        return {**super().get_config(), "factor": self.initial, "trained": self.trained}


def number_of_keys(scores: Tensor, mask: Tensor) -> Tensor:
    """Returns the number of unmasked keys of each query, float32 of shape (B, N, T, 1), at least 1."""
    unmasked = ops.cast(ops.logical_and(mask, ops.ones_like(scores, dtype="bool")), "float32")
    return ops.maximum(ops.sum(unmasked, axis=-1, keepdims=True), 1.0)


alias("weighting", "ssmax", "ScalableWeighting")
alias("weighting", "log_n", "ScalableWeighting", trained=False)
