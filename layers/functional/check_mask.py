"""The check of masks."""

from typing import Any

import keras
import numpy as np
from keras import ops

from kzoo.annotations import Tensor
from kzoo.errors import InputError


def check_mask(mask: Tensor, name: str = "mask") -> None:
    """Raises `InputError` unless a mask is boolean, True at real tokens, with padding on the right.

    The values are checked where they can be read at no cost: not while a function is compiled or exported, nor on an
    accelerator.

    Args:
        mask: tensor of shape (B, T).
        name: str. The name of the argument, for the message.
    """
    check_boolean(mask, name)
    values = _values(mask)
    if values is None or values.ndim != 2:
        return
    if (values[:, 1:] & ~values[:, :-1]).any():
        raise InputError(f"{name} must be True at the left of every row, where real tokens are, and False at padding")
    if not values.any(axis=1).all():
        raise InputError(f"{name} must be True at one token of every row at least")


def check_boolean(mask: Tensor, name: str = "mask") -> None:
    """Raises `InputError` unless a mask is boolean: numbers may mean anything."""
    dtype = keras.backend.standardize_dtype(mask.dtype)
    if dtype != "bool":
        raise InputError(f"{name} must be boolean, True at unmasked tokens, not {dtype}")


def mask_for_heads(mask: Tensor | None) -> Tensor:
    """Returns a mask that broadcasts to weights (B, N, T, S).

    Args:
        mask: bool tensor of shape (B, S) or (B, T, S), True at unmasked keys; None for no key masked.

    Raises:
        InputError: the mask is not boolean or has another number of axes.
    """
    mask = ops.ones((1, 1), dtype="bool") if mask is None else ops.convert_to_tensor(mask)
    check_boolean(mask)
    if len(mask.shape) not in (2, 3):
        raise InputError(f"mask must be of shape (B, S) or (B, T, S), not of {len(mask.shape)} axes")
    return mask[:, None, None, :] if len(mask.shape) == 2 else mask[:, None, :, :]


def _values(mask: Tensor) -> np.ndarray | None:
    """Returns the values of a tensor, or None where they cannot be read at no cost."""
    if isinstance(mask, np.ndarray):
        return mask
    module: Any = type(mask).__module__.split(".")[0]
    if module == "torch":
        import torch

        readable = type(mask) is torch.Tensor and mask.device.type == "cpu" and not torch.compiler.is_compiling()
        return mask.numpy() if readable else None
    if module == "tensorflow":
        return mask.numpy() if hasattr(mask, "numpy") and mask.device.endswith("CPU:0") else None
    if module in ("jax", "jaxlib"):
        import jax

        readable = not isinstance(mask, jax.core.Tracer) and mask.is_fully_addressable
        return np.asarray(mask) if readable and all(d.platform == "cpu" for d in mask.devices()) else None
    return None
