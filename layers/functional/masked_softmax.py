"""The softmax over what a mask leaves open."""

from keras import ops

from kzoo.annotations import Tensor


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Returns the softmax along the last axis over the unmasked keys, exactly 0 at the others.

    Args:
        scores: float tensor of shape (..., S), finite.
        mask: bool tensor that broadcasts to (..., S), True at unmasked keys; every row has at least one.
    """
    return ops.softmax(ops.where(mask, scores, -1e30), axis=-1)
