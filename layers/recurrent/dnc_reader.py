"""The differentiable neural computer as an encoder of whole sequences."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, States, Tensor, Trace
from kzoo.errors import InputError
from kzoo.layers.functional.scan import scan
from kzoo.layers.recurrent.reader import Reader
from kzoo.registry import alias, register

EPSILON = 1e-6
LIMIT = 20.0
MAX_MEMORY = 1 << 20  # numbers of an example's memory


@register("reader")
class DNCReader(Reader):
    """Reads a sequence with an LSTM that has a memory to write to and to read from, and gives its last output.

    From [Graves et al., 2016](https://doi.org/10.1038/nature20101), Methods, with two of the changes of
    [Csordas and Schmidhuber, 2019](https://arxiv.org/abs/1904.10278): a freed cell is also emptied (Eq. 1), and the
    temporal links are sharpened (Eq. 2). The baseline of
    [Csordas et al., 2022](https://arxiv.org/abs/2110.07732), section 3.1.

    In the first paper's letters: `usage` is u, `precedence` p, `links` L, `write` w^w, `read` w^r; the interface vector
    has, in this order, the write key, erase and write vectors, the free gates, write strength, allocation gate and
    write gate, then for all heads the read keys, read strengths, modes (backward, content, forward) and the sharpness
    of both links.

    Args:
        units: int. Size of the LSTM, of a cell of the memory and of the output, 1 to 8,192. Defaults to 200.
        cells: int. Cells of the memory, 1 to 1,024. Defaults to 21.
        heads: int. Read heads, 1 to 64. Defaults to 4.
        dtype: str or DTypePolicy. As of every Keras layer; the memory is float32 under any.

    Call arguments:
        sequence: tensor of shape (B, T, E).
        mask: bool tensor of shape (B, T), True at real tokens; every row has at least one.
        training: bool. Changes nothing.

    Returns:
        Tensor of shape (B, units).

    Raises:
        InputError: an argument is out of range, or the memory larger than 1,048,576 numbers.

    Example:

    ```python
    reader = kzoo.layers.DNCReader(6, cells=5, heads=2)
    assert reader(np.ones((2, 5, 3), "float32"), np.ones((2, 5), bool)).shape == (2, 6)
    ```

    As in the authors' code: the interface is clipped to +-20, no gradient goes from the usage into the last write, maps
    start Glorot-uniform with zero biases and a forget bias of 1.
    """

    def __init__(self, units: int = 200, cells: int = 21, heads: int = 4, dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(autocast=False, dtype=dtype, **kwargs)
        self.units = checks.integer("units", units, 1, 8192)
        self.cells = checks.integer("cells", cells, 1, 1024)
        self.heads = checks.integer("heads", heads, 1, 64)
        if self.units * self.cells > MAX_MEMORY:
            raise InputError(f"the memory of {cells} cells of size {units} is larger than {MAX_MEMORY:,} numbers")
        # Size of each part of the interface, in its order.
        self.parts = {"write_key": units, "erase": units, "vector": units, "free": heads, "write_strength": 1}
        self.parts |= {"allocation_gate": 1, "write_gate": 1, "read_keys": heads * units, "read_strengths": heads}
        self.parts |= {"modes": 3 * heads, "sharpness": 2 * heads}

    def build(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> None:
        units, read = self.units, self.heads * self.units
        self.controller = keras.layers.LSTMCell(units, recurrent_initializer="glorot_uniform", dtype="float32")
        self.controller.build((None, sequence_shape[-1] + read))
        self.interface = keras.layers.Dense(sum(self.parts.values()), dtype="float32")
        self.interface.build((None, units))
        self.from_controller = keras.layers.Dense(units, dtype="float32")
        self.from_controller.build((None, None, units))
        self.from_memory = keras.layers.Dense(units, dtype="float32")
        self.from_memory.build((None, None, read))
        self.built = True

    def states(self, sequence: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        sequence = ops.cast(sequence, "float32")
        blank = ops.zeros_like(sequence[:, 0, :1])

        def zeros(*shape: int) -> Tensor:
            return ops.reshape(blank, (-1, *[1] * len(shape))) + ops.zeros(shape, dtype="float32")

        one, vector, matrix = zeros(self.cells), zeros(self.units), zeros(self.cells, self.units)
        initial = {"hidden": vector, "cell": vector, "memory": matrix, "links": zeros(self.cells, self.cells)}
        initial |= {"usage": one, "write": one, "precedence": one, "read": zeros(self.heads, self.cells)}
        initial |= {"vectors": zeros(self.heads, self.units)}
        _, found = scan(self.step, initial, ops.swapaxes(sequence, 0, 1))
        hidden, vectors = (ops.swapaxes(found[name], 0, 1) for name in ("hidden", "vectors"))
        return ops.cast(self.from_controller(hidden) + self.from_memory(vectors), self.compute_dtype)

    def step(self, state: States, inputs: Tensor) -> tuple[States, Trace]:
        """Reads one token (B, E); returns the new state, and what the output is made of."""
        flat = ops.reshape(state["vectors"], (-1, self.heads * self.units))
        before = [state["hidden"], state["cell"]]
        _, [hidden, cell] = self.controller(ops.concatenate([inputs, flat], axis=-1), before)
        p = self.split(ops.clip(self.interface(hidden), -LIMIT, LIMIT))

        kept = ops.prod(1.0 - ops.sigmoid(p["free"])[..., None] * state["read"], axis=1)
        usage = (state["usage"] + ops.stop_gradient(state["write"]) * (1.0 - state["usage"])) * kept
        content = address(state["memory"], p["write_key"][:, None], p["write_strength"])[:, 0]
        gate = ops.sigmoid(p["allocation_gate"])
        write = ops.sigmoid(p["write_gate"]) * (gate * allocation(usage) + (1.0 - gate) * content)
        erased = (1.0 - write[..., None] * ops.sigmoid(p["erase"])[:, None]) * kept[..., None]
        memory = state["memory"] * erased + write[..., None] * p["vector"][:, None]

        later, earlier = write[:, :, None], write[:, None, :]
        links = (1.0 - later - earlier) * state["links"] + later * state["precedence"][:, None, :]
        links = links * (1.0 - ops.eye(self.cells))
        precedence = (1.0 - ops.sum(write, axis=-1, keepdims=True)) * state["precedence"] + write
        sharpness = ops.reshape(p["sharpness"], (-1, 2, self.heads, 1))
        backward = sharpen(ops.matmul(state["read"], links), sharpness[:, 0])
        forward = sharpen(ops.matmul(state["read"], ops.swapaxes(links, 1, 2)), sharpness[:, 1])
        keys = ops.reshape(p["read_keys"], (-1, self.heads, self.units))
        ways = ops.stack([backward, address(memory, keys, p["read_strengths"]), forward], axis=-1)
        modes = ops.softmax(ops.reshape(p["modes"], (-1, self.heads, 1, 3)), axis=-1)
        read = ops.sum(ways * modes, axis=-1)

        vectors = ops.matmul(read, memory)
        new = {"hidden": hidden, "cell": cell, "memory": memory, "links": links, "usage": usage, "write": write}
        new |= {"precedence": precedence, "read": read, "vectors": vectors}
        return new, {"hidden": hidden, "vectors": ops.reshape(vectors, (-1, self.heads * self.units))}

    def largest_activation(self, length: int) -> int:
        """Returns the numbers of its memory, its links, or what is read from it in so many steps."""
        return max(self.cells * max(self.units, self.cells), self.heads * self.units * length)

    def split(self, interface: Tensor) -> dict[str, Tensor]:
        """Returns the parts of the interface vector by name."""
        found, start = {}, 0
        for name, size in self.parts.items():
            found[name] = interface[:, start : start + size]
            start += size
        return found

    def get_config(self) -> Config:
        return {**super().get_config(), "units": self.units, "cells": self.cells, "heads": self.heads}


def address(memory: Tensor, keys: Tensor, strengths: Tensor) -> Tensor:
    """Returns how well each cell (B, C, W) matches keys (B, R, W) of strengths (B, R), as weights (B, R, C)."""
    lengths = ops.sqrt(ops.sum(keys**2, axis=-1)[:, :, None] * ops.sum(memory**2, axis=-1)[:, None] + EPSILON)
    cosines = ops.matmul(keys, ops.swapaxes(memory, 1, 2)) / lengths
    return ops.softmax(cosines * (1.0 + ops.softplus(strengths))[..., None], axis=-1)


def allocation(usage: Tensor) -> Tensor:
    """Returns the weights (B, C) of the cells to write anew: the least used first, each by what is left.

    A cell's share is its disuse, times the use of all that are used less; of equals, the first counts as less.
    """
    usage = EPSILON + (1.0 - EPSILON) * usage
    this, other = usage[:, :, None], usage[:, None, :]
    index = ops.arange(usage.shape[-1], dtype="int32")
    first = ops.logical_and(other == this, index[None, :] < index[:, None])
    less = ops.logical_or(other < this, first)
    return (1.0 - usage) * ops.exp(ops.sum(ops.where(less, ops.log(other), 0.0), axis=-1))


def sharpen(weights: Tensor, sharpness: Tensor) -> Tensor:
    """Returns weights (B, R, C) raised to the power 1 + softplus(sharpness), normalised."""
    scaled = (weights + EPSILON) / (ops.max(weights, axis=-1, keepdims=True) + EPSILON)
    raised = ops.exp(ops.log(scaled) * (1.0 + ops.softplus(sharpness)))
    return raised / ops.sum(raised, axis=-1, keepdims=True)


alias("reader", "dnc", "DNCReader")
