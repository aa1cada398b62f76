"""A recurrent layer of Keras over a sequence."""

from collections.abc import Sequence

import keras
from keras import ops

from kzoo.annotations import Structure, Tensor
from kzoo.layers.functional.scan import scan
from kzoo.layers.functional.traced import exporting


def over_time(layer: keras.layers.RNN, sequence: Tensor, noise: Sequence[Tensor] | None = None) -> Tensor:
    """Returns the outputs (B, T, D) of a recurrent layer of Keras for a sequence (B, T, E).

    It is `layer(sequence)`; but under `torch.export` Keras' loop would be unrolled, and `scan` runs the layer's cell,
    as it does with `noise`: of each state of the cell (B, T, D), what is added to it before each step. For LSTMs
    on PyTorch without an accelerator, where Keras has a loop in Python, it is PyTorch's own.
    """
    if noise is None and not exporting():
        return _torch_loop(layer, sequence) if _has_torch_loop(layer, sequence) else layer(sequence)

    def step(states: list[Tensor], row: Structure) -> tuple[list[Tensor], Tensor]:
        if noise is not None:
            states = [state + added for state, added in zip(states, row["noise"], strict=True)]
        output, states = layer.cell(row["inputs"], states)
        return list(states), output

    initial = list(layer.cell.get_initial_state(ops.shape(sequence)[0]))
    rows = {"inputs": sequence} if noise is None else {"inputs": sequence, "noise": list(noise)}
    _, outputs = scan(step, initial, keras.tree.map_structure(lambda x: ops.swapaxes(x, 0, 1), rows))
    return ops.swapaxes(outputs, 0, 1)


def _has_torch_loop(layer: keras.layers.RNN, sequence: Tensor) -> bool:
    """Whether PyTorch has a loop for this. It has one of GRUs too, whose rounding differs from that of the other
    backends by more than 1e-5 of logits.
    """
    lstm = isinstance(layer, keras.layers.LSTM) and keras.config.backend() == "torch"
    return lstm and bool(sequence.device.type == "cpu")


def _torch_loop(layer: keras.layers.LSTM, sequence: Tensor) -> Tensor:
    """Returns the outputs of an LSTM with the usual functions by the loop of PyTorch, many times as fast."""
    import torch

    cell = layer.cell
    kernel, recurrent, bias = map(ops.convert_to_tensor, (cell.kernel, cell.recurrent_kernel, cell.bias))
    zeros = torch.zeros((1, len(sequence), layer.units), dtype=kernel.dtype)
    weights = [kernel.T.contiguous(), recurrent.T.contiguous(), bias, torch.zeros_like(bias)]
    # There are biases; one layer; no dropout; gradients are wanted or not; one direction; the batch is the first axis.
    options = (True, 1, 0.0, torch.is_grad_enabled(), False, True)
    return torch.lstm(sequence.to(kernel.dtype), (zeros, zeros), weights, *options)[0]


def state_noise(
    sequence: Tensor, units: int, stddev: float, seeds: keras.random.SeedGenerator | None, states: int = 1
) -> list[Tensor] | None:
    """Returns noise for so many states at every token of a sequence, each (B, T, units), as `over_time` takes it; None
    without a generator.
    """
    if seeds is None:
        return None
    shape, options = (*ops.shape(sequence)[:2], units), {"dtype": sequence.dtype, "seed": seeds}
    return [keras.random.normal(shape, stddev=stddev, **options) for _ in range(states)]
