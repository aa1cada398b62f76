"""Writing one position into a cache."""

import keras
from keras import ops

from kzoo.annotations import Tensor
from kzoo.layers.functional.traced import exporting


def place(new: Tensor, cache: Tensor, index: Tensor) -> Tensor:
    """Returns a cache of vectors with one more of them in each row.

    On PyTorch the cache itself is changed where no gradients are recorded: to copy it at every step would take most of
    the time of decoding.

    Args:
        new: tensor of shape (B, N, 1, H).
        cache: tensor of shape (B, N, S, H).
        index: int tensor of shape (B,), the position in each row.
    """
    new = ops.cast(new, cache.dtype)
    if keras.config.backend() == "torch" and not exporting():
        import torch

        if not torch.is_grad_enabled():
            # A step that is made although all rows have ended may be beyond the end: nothing reads what it writes.
            where = torch.clamp(index, max=cache.shape[2] - 1).to(torch.int64)
            return cache.scatter_(2, where[:, None, None, None].expand_as(new), new)
    positions = ops.arange(ops.shape(cache)[2], dtype="int32")
    return ops.where((positions[None, :] == index[:, None])[:, None, :, None], new, cache)
