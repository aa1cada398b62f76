"""How much memory a model needs for an input, before it is computed."""

import math
from pathlib import Path
from typing import Any

import keras

from kzoo.accelerator import accelerator
from kzoo.errors import InputError

ITEM = 4  # bytes
TOGETHER = 3  # tensors of the largest size that live at once, as scores, bias and weights of an attention


def largest_activation(model: Any, length: int) -> int:
    """Returns the numbers of the largest tensor that a model computes of one sequence of so many tokens.

    It is counted from its weights, whose last axis is the size of an output, and from what its layers say themselves
    with `largest_activation(length)`: those whose tensors grow with more than the length.
    """
    if not isinstance(model, keras.Model):  # another program that answers as one
        return length**2
    width = max((variable.shape[-1] for variable in model.weights if len(variable.shape)), default=1)
    said = [
        layer.largest_activation(length) for layer in model._flatten_layers() if hasattr(layer, "largest_activation")
    ]
    return max([int(width) * length, *said])


def at_once(model: Any, length: int, most: int, numbers: int) -> int:
    """Returns how many sequences of a length to compute together.

    Args:
        model: a model of kzoo.
        length: int. Tokens of the longest.
        most: int. The most sequences.
        numbers: int. The most numbers of a tensor.

    Raises:
        InputError: memory does not suffice for one.
    """
    size = largest_activation(model, length)
    available = available_memory()
    if available is not None and ITEM * TOGETHER * size > available:
        raise InputError(
            f"a sequence of {length:,} tokens needs about {_gigabytes(ITEM * TOGETHER * size)} GB of memory in "
            f"{type(model).__name__}, and {_gigabytes(available)} GB are free; give shorter inputs"
        )
    return max(1, min(most, numbers // size))


def available_memory() -> int | None:
    """Returns the bytes of memory that this process may still take; None where the system does not say, or where
    tensors are on an accelerator.
    """
    if accelerator() is not None:
        return None
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = {name: int(rest.split()[0]) * 1024 for name, rest in (line.split(":") for line in lines)}["MemAvailable"]
    except (OSError, ValueError, KeyError, IndexError):
        return None
    try:  # of a container; without a limit it reads "max"
        return min(free, int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    except (OSError, ValueError):
        return free


def _gigabytes(size: int) -> str:
    return f"{math.ceil(size / 1e8) / 10:,.1f}"
