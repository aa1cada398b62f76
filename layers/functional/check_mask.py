"""The check of masks."""

from typing import Any

import keras
import numpy as np

from kzoo.annotations import Tensor
from kzoo.errors import InputError


def check_mask(mask: Tensor, name: str = "mask") -> None:
    """Raises `InputError` unless a mask is boolean, True at real tokens, which stand at the left of every row.

    The values are looked at where that costs nothing: not while a function is compiled or exported, nor on an
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
        raise InputError(f"{name} must be boolean, True where a token may be seen, not {dtype}")


def _values(mask: Tensor) -> np.ndarray | None:
    """Returns the values of a tensor, or None where they are not at hand."""
    if isinstance(mask, np.ndarray):
        return mask
    module: Any = type(mask).__module__.split(".")[0]
    if module == "torch":
        import torch

        at_hand = type(mask) is torch.Tensor and mask.device.type == "cpu" and not torch.compiler.is_compiling()
        return mask.numpy() if at_hand else None
    if module == "tensorflow":
        return mask.numpy() if hasattr(mask, "numpy") and mask.device.endswith("CPU:0") else None
    if module in ("jax", "jaxlib"):
        import jax

        at_hand = not isinstance(mask, jax.core.Tracer) and mask.is_fully_addressable
        return np.asarray(mask) if at_hand and all(d.platform == "cpu" for d in mask.devices()) else None
    return None
