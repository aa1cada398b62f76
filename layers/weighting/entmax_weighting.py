"""1.5-entmax: weights that are exactly 0 at keys that do not match."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Tensor
from kzoo.layers.functional.check_mask import check_boolean
from kzoo.layers.functional.log_uniform import log_uniform
from kzoo.registry import alias, register

MASKED = -1e4  # half the distance at least at which a key has no weight is 1


@register("weighting")
class EntmaxWeighting(keras.layers.Layer):
    """Turns scores into weights by 1.5-entmax, which gives exactly 0 to keys far below the best.

    From [Peters et al., 2019](https://arxiv.org/abs/1905.05702), with alpha = 1.5: A_ij = max(z_ij / 2 - tau, 0)^2,
    where tau makes the row sum to 1. It is found exactly, from the sorted scores (Algorithm 2).
    Keys that are added far below the best change nothing, at any number.

    With a `sharpness` scores are multiplied by it; while training, by a factor that is drawn for each sequence,
    log-uniform from 1 up to it. What is told apart at 1 is then far below the best.

    Args:
        sharpness: float. 1 to 1,000. Defaults to 1, the plain entmax.
        dtype: str or DTypePolicy. Weights are float32 under any.

    Call arguments:
        scores: float32 tensor of shape (B, N, T, S).
        mask: bool tensor that broadcasts to (B, N, T, S), True at unmasked keys; every row has at least one.
        training: bool.

    Returns:
        Weights, float32 of shape (B, N, T, S), exactly 0 at masked keys.

    Raises:
        InputError: the mask is not boolean, or the sharpness is out of range.

    Example:

    ```python
    scores, mask = np.array([[[[0, 3, 0.5, 2.5]]]], "float32"), np.ones(4, bool)
    weights = np.array(kzoo.layers.EntmaxWeighting()(scores, mask))[0, 0, 0]
    assert weights[0] == 0 and abs(weights.sum() - 1) < 1e-6 and weights[1] > weights[3] > 0
    ```
    """

    def __init__(self, sharpness: float = 1.0, dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(autocast=False, dtype=dtype, **kwargs)
        self.sharpness = checks.number("sharpness", sharpness, 1.0, 1000.0)
        if self.sharpness > 1:
            self.seeds = keras.random.SeedGenerator()

    def call(self, scores: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        check_boolean(mask)
        scores, factor = ops.cast(scores, "float32"), self.sharpness
        if training and self.sharpness > 1:
            factor = log_uniform(ops.shape(scores)[0], self.sharpness, self.seeds)
        return entmax(factor * scores, mask)

    def get_config(self) -> Config:
        return {**super().get_config(), "sharpness": self.sharpness}


def entmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Returns the 1.5-entmax along the last axis over the unmasked keys, exactly 0 at the others.

    Args:
        scores: float32 tensor of shape (..., S).
        mask: bool tensor that broadcasts to (..., S); every row has at least one unmasked key.
    """
    x = ops.where(mask, scores, -1e30) / 2.0
    x = ops.maximum(x - ops.stop_gradient(ops.max(x, axis=-1, keepdims=True)), MASKED)
    ordered = ops.flip(ops.sort(x, axis=-1), axis=-1)
    number = ops.cast(ops.arange(1, ops.shape(x)[-1] + 1, dtype="int32"), "float32")
    # Of the k best: their mean, and the threshold if the support were these. Beyond -1 a key is in no support, and is
    # cut there, so that no sum of squares grows large.
    near = ops.maximum(ordered, -2.0)
    mean = ops.cumsum(near, axis=-1) / number
    square = ops.cumsum(near * near, axis=-1) / number
    discriminant = (1.0 - number * (square - mean * mean)) / number
    threshold = mean - ops.sqrt(ops.maximum(ops.stop_gradient(discriminant), 0.0))
    support = ops.sum(ops.cast(threshold <= ordered, "int32"), axis=-1, keepdims=True)
    chosen = ops.cast(ops.arange(ops.shape(x)[-1], dtype="int32") < support, "float32")
    # Once more of the chosen alone: a square root of what is not chosen has no gradient.
    size = ops.cast(support, "float32")
    mean = ops.sum(ordered * chosen, axis=-1, keepdims=True) / size
    spread = ops.sum(chosen * (ordered - mean) ** 2, axis=-1, keepdims=True)
    tau = mean - ops.sqrt(ops.maximum((1.0 - spread) / size, 1e-12))
    weights = ops.relu(x - tau) ** 2
    return weights * ops.cast(mask, "float32")


alias("weighting", "entmax", "EntmaxWeighting")
