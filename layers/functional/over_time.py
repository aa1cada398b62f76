"""A recurrent layer of Keras over a sequence."""

import keras
from keras import ops

from kzoo.annotations import Tensor
from kzoo.layers.functional.scan import scan
from kzoo.layers.functional.traced import exporting


def over_time(layer: keras.layers.RNN, sequence: Tensor) -> Tensor:
    """Returns the outputs (B, T, D) of a recurrent layer of Keras for a sequence (B, T, E).

    It is `layer(sequence)`; but under `torch.export` Keras' loop would be unrolled, and `scan` runs the layer's cell.
    """
    if not exporting():
        return layer(sequence)

    def step(states: list[Tensor], row: Tensor) -> tuple[list[Tensor], Tensor]:
        output, states = layer.cell(row, states)
        return list(states), output

    sizes = layer.cell.state_size
    initial = [
        ops.zeros((ops.shape(sequence)[0], n), sequence.dtype) for n in ([sizes] if isinstance(sizes, int) else sizes)
    ]
    _, outputs = scan(step, initial, ops.swapaxes(sequence, 0, 1))
    return ops.swapaxes(outputs, 0, 1)
