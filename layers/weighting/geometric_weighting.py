"""Geometric attention: the closest match gets the weight."""

from functools import partial
from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Tensor
from kzoo.errors import InputError
from kzoo.layers.functional.check_mask import check_boolean
from kzoo.layers.functional.masked_softmax import masked_softmax
from kzoo.layers.functional.stretched_sigmoid import stretched_sigmoid
from kzoo.layers.functional.windows import windows
from kzoo.layers.weighting.stick_breaking_weighting import last_unmasked, missed_behind
from kzoo.registry import alias, register

MOST = 1.0 - 1e-5  # of a match, where the logarithm of what it leaves is taken
LEAST = 1e-9  # that a sum of weights is divided by


@register("weighting")
class GeometricWeighting(keras.layers.Layer):
    """Turns scores into weights that fall on the closest matching key: a match leaves less to all keys farther away.

    From [Csordas et al., 2022](https://arxiv.org/abs/2110.07732), Eq. 6-8. With z_ij the score:

        P_ij = sigmoid(z_ij),   A_ij = P_ij * product over keys k closer to i than j of (1 - P_ik)

    Of two keys at one distance the right one is closer. The query's own position is out: A_ii = 0, and it is in no
    product; so are masked keys. The rows of A sum to at most 1.

    The product is a sum of logarithms over the keys around i, and that a difference of two cumulative sums: no product
    underflows, and time and memory are O(T^2). `windows` takes the far end of that sum from a reversed row.

    With `stretch` the sigmoid reaches 0 and 1, as in `CopyGate`:

        P_ij = min(max((1 + 2 stretch) sigmoid(z_ij) - stretch, 0), 1)

    What is far below a match takes nothing from the keys behind it, however many there are, and a whole match leaves
    them a hundred thousandth.

    Args:
        normalize: bool. Whether each row is divided by its sum. Defaults to False.
        stretch: float, 0 to 1. How far the sigmoid is stretched beyond 0 and 1, to be cut there. Defaults to 0.
        dtype: str or DTypePolicy. Weights are float32 under any.

    Call arguments:
        scores: float32 tensor of shape (B, N, T, T), or (B, N, 1, S): one query of a decoder, whose own position is its
            last unmasked key.
        mask: bool tensor that broadcasts to the scores, True at unmasked keys.

    Returns:
        Weights, float32 of the shape of the scores, exactly 0 at masked keys and at the query's own position.

    Raises:
        InputError: the mask is not boolean, or there is another number of keys than of queries, and not one query.

    Example:

    ```python
    scores = np.array([[[[0, 1, -1], [0, 0, 20], [5, 5, 0]]]], "float32")
    weights = np.array(kzoo.layers.GeometricWeighting()(scores, np.ones(3, bool)))[0, 0]
    assert weights[1, 2] > 0.99 and weights[1, 0] < 0.01  # one step away both; the right one is first
    ```

    Differences: the paper does not mention normalisation; the authors' code normalises in the models without copy gate
    only, "geometric_normalized" here.
    """

    def __init__(self, normalize: bool = False, stretch: float = 0.0, dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(autocast=False, dtype=dtype, **kwargs)
        self.normalize = checks.boolean("normalize", normalize)
        self.stretch = checks.number("stretch", stretch, 0.0, 1.0)

    def call(self, scores: Tensor, mask: Tensor) -> Tensor:
        check_boolean(mask)
        queries, keys = scores.shape[-2:]
        known = isinstance(queries, int) and isinstance(keys, int)
        if known and queries not in (1, keys):
            raise InputError(f"geometric weighting needs as many keys as queries, not {keys} for {queries}")
        scores = ops.cast(scores, "float32")
        if isinstance(queries, int) and queries == 1 and not (known and keys == 1):
            own, missed = last_unmasked(ops.logical_and(mask, ops.ones_like(scores, dtype="bool"))), missed_behind
        else:
            positions = ops.arange(ops.shape(scores)[-1], dtype="int32")
            offsets = positions[None, :] - positions[:, None]  # key minus query
            own, missed = offsets == 0, partial(missed_before, right=offsets > 0)
        unmasked = ops.logical_and(mask, ops.logical_not(own))
        share = ops.cast(unmasked, "float32")  # times this, and not `where`, which is slow on PyTorch
        if self.stretch:
            matches = stretched_sigmoid(scores, self.stretch)
            misses = -ops.log1p(-ops.minimum(matches, MOST))
            weights = matches * ops.exp(-missed(misses * share)) * share
            return weights / ops.maximum(ops.sum(weights, -1, keepdims=True), LEAST) if self.normalize else weights
        misses = ops.softplus(scores)  # -log(1 - P), and log P = z + log(1 - P)
        log_weights = (scores - misses) - missed(misses * share)
        if self.normalize:
            # The softmax of logarithms divides by the sum; a row without an unmasked key stays empty.
            return masked_softmax(log_weights, unmasked) * share
        return ops.exp(log_weights) * share

    def get_config(self) -> Config:
        return {**super().get_config(), "normalize": self.normalize, "stretch": self.stretch}


def missed_before(misses: Tensor, right: Tensor) -> Tensor:
    """Returns, for each query i and key j, the sum of `misses` over the keys that are closer to i than j is.

    With C_k the sum of the first k, a key to the right has C_j - C_(2i-j+1) before it, and a key to the left
    C_(2i-j+1) - C_(j+1), the index cut to the row. Without a key between, both are one number: the 0 is exact.

    Args:
        misses: float tensor of shape (..., T, T), 0 on the diagonal.
        right: bool tensor of shape (T, T), True where the key is right of the query.
    """
    sums, zeros = ops.pad(ops.cumsum(misses, axis=-1), [(0, 0)] * (misses.ndim - 1) + [(1, 0)]), ops.zeros_like(misses)
    before, after = sums[..., :-1], sums[..., 1:]  # C_j and C_(j+1)
    # C from the end of the row to its start, with the ends repeated as far as the windows reach.
    flipped = ops.concatenate([after[..., -1:] + zeros, ops.flip(before, axis=-1), zeros], axis=-1)
    mirrored = windows(flipped, 2, ops.shape(misses)[-1])  # C_(2i-j+1)
    right = ops.cast(right, misses.dtype)
    return (before - mirrored) * right + (mirrored - after) * (1.0 - right)


alias("weighting", "geometric", "GeometricWeighting")
alias("weighting", "geometric_normalized", "GeometricWeighting", normalize=True)
alias("weighting", "stretched_geometric", "GeometricWeighting", stretch=0.05)
