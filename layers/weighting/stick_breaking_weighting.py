"""Stick-breaking: the latest match gets the weight."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Tensor
from kzoo.layers.functional.check_mask import check_boolean
from kzoo.registry import alias, register


@register("weighting")
class StickBreakingWeighting(keras.layers.Layer):
    """Turns scores into weights that break a stick from the query backwards: each key takes a share of what is left.

    From [Tan et al., 2025](https://arxiv.org/abs/2410.17980). With z_ij the score of query i and key j:

        b_ij = sigmoid(z_ij),   A_ij = b_ij * product of (1 - b_ik) over j < k < i,   for j < i

    No positions are needed: of two equal keys the later takes more. Rows sum to at most 1. It is the causal half of
    `GeometricWeighting`, and attends to cached keys as well. The query's own position is its last unmasked key, so the
    mask must be causal; masked keys are in no product.

    Args:
        attend_current: bool. Whether the query's own position takes a share too, the first. Defaults to False.
        rest: str. What is left of the stick: "lost", or on the query's "own" key. Defaults to "lost".
        dtype: str or DTypePolicy. Weights are float32 under any.

    Call arguments:
        scores: float32 tensor of shape (B, N, T, S).
        mask: bool tensor that broadcasts to (B, N, T, S), True at unmasked keys.

    Returns:
        Weights, float32 of shape (B, N, T, S), exactly 0 at masked keys.

    Raises:
        InputError: an argument is out of range, or the mask is not boolean.

    Example:

    ```python
    scores, mask = np.zeros((1, 1, 3, 3), "float32"), np.tril(np.ones((3, 3), bool))
    weights = np.array(kzoo.layers.StickBreakingWeighting()(scores, mask))[0, 0]
    assert np.allclose(weights, [[0, 0, 0], [0.5, 0, 0], [0.25, 0.5, 0]])
    ```

    The authors' code returns what is left beside the output, and their language models add it times the query's own
    value: that is `rest="own"`.
    """

    def __init__(self, attend_current: bool = False, rest: str = "lost", dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(autocast=False, dtype=dtype, **kwargs)
        self.attend_current = checks.boolean("attend_current", attend_current)
        self.rest = checks.choice("rest", rest, ["lost", "own"])

    def call(self, scores: Tensor, mask: Tensor) -> Tensor:
        check_boolean(mask)
        scores = ops.cast(scores, "float32")
        mask = ops.logical_and(mask, ops.ones_like(scores, dtype="bool"))
        own = last_unmasked(mask)
        taken = mask if self.attend_current else ops.logical_and(mask, ops.logical_not(own))
        share = ops.cast(taken, "float32")
        misses = ops.softplus(scores)  # -log(1 - b), and log b = z + log(1 - b)
        weights = ops.exp(scores - misses - missed_behind(misses * share)) * share
        if self.rest == "own":
            left = ops.exp(-ops.sum(misses * share, axis=-1, keepdims=True))
            weights = weights + left * ops.cast(ops.logical_and(own, mask), "float32")
        return weights

    def get_config(self) -> Config:
        return {**super().get_config(), "attend_current": self.attend_current, "rest": self.rest}


def last_unmasked(mask: Tensor) -> Tensor:
    """Returns where the last unmasked key of each row is, bool of the shape of the mask (..., S)."""
    columns = ops.arange(ops.shape(mask)[-1], dtype="int32")
    return columns == ops.max(ops.where(mask, columns, -1), axis=-1, keepdims=True)


def missed_behind(misses: Tensor) -> Tensor:
    """Returns for each key the sum of `misses` (..., S) over the keys behind it: what a stick has lost up to it."""
    return ops.flip(ops.cumsum(ops.flip(misses, axis=-1), axis=-1), axis=-1) - misses


alias("weighting", "stick_breaking", "StickBreakingWeighting")
