"""The LSTM as a reader of whole sequences."""

from typing import Any

import keras

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Tensor
from kzoo.errors import InputError
from kzoo.layers.functional.dense import recurrent_initializers
from kzoo.layers.functional.over_time import over_time, state_noise
from kzoo.layers.recurrent.reader import Reader
from kzoo.registry import alias, register


@register("reader")
class LSTMReader(Reader):
    """Reads a sequence with one or more layers of LSTM, and gives the last state.

    A baseline of [Csordas et al., 2022](https://arxiv.org/abs/2110.07732): the output of the last layer at the last
    real token, dropout between the layers.

    Args:
        units: int. Size of the state, 1 to 8,192. Defaults to 200.
        layers: int. 1 to 100. Defaults to 1.
        dropout: float. Rate between the layers while training; 0 where there is one. Defaults to 0.
        noise: float. Standard deviation of noise on both states of every layer before each step while training, 0 to
            10, as in [Lim et al., 2021](https://arxiv.org/abs/2102.04877): what is to stay has to survive it. No paper
            of the zoo has it. Defaults to 0.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        sequence: tensor of shape (B, T, E).
        mask: bool tensor of shape (B, T), True at real tokens; every row has at least one.
        training: bool.

    Returns:
        Tensor of shape (B, units).

    Raises:
        InputError: an argument is out of range or does not apply.

    Example:

    ```python
    reader = kzoo.layers.LSTMReader(6, layers=2)
    assert reader(np.ones((2, 5, 3), "float32"), np.ones((2, 5), bool)).shape == (2, 6)
    ```

    Weights start uniform in +-1/sqrt(units), biases too, the forget gate's included, as in the authors' framework,
    which has two bias vectors a gate where there is one here.
    """

    def __init__(
        self,
        units: int = 200,
        layers: int = 1,
        dropout: float = 0.0,
        noise: float = 0.0,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.units = checks.integer("units", units, 1, 8192)
        self.layers = checks.integer("layers", layers, 1, 100)
        rate = checks.number("dropout", dropout, 0.0, 0.99)
        if layers == 1 and rate:
            raise InputError(f"dropout={rate} does not apply: it is between layers, and there is one")
        self.dropout = keras.layers.Dropout(rate, dtype=self.dtype_policy)
        self.noise = checks.number("noise", noise, 0.0, 10.0)
        self.seeds = keras.random.SeedGenerator() if noise else None
        self.stack = [self.one_layer() for _ in range(layers)]

    def one_layer(self) -> Tensor:
        """Returns the network of one layer."""
        return lstm(self.units, dtype=self.dtype_policy)

    def build(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> None:
        for layer in self.stack:
            layer.build(sequence_shape)
            sequence_shape = (None, None, self.units)
        self.built = True

    def states(self, sequence: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        for i, layer in enumerate(self.stack):
            sequence = self.dropout(sequence, training=training) if i else sequence
            sequence = over_time(layer, sequence, self.drawn(sequence, training))
        return sequence

    def drawn(self, sequence: Tensor, training: bool) -> list[Tensor] | None:
        """Returns noise for both states at every token of a sequence, or None where there is none."""
        seeds = self.seeds if training else None
        return state_noise(sequence, self.units, self.noise, seeds, states=2)

    def get_config(self) -> Config:
        own = {"units": self.units, "layers": self.layers, "dropout": self.dropout.rate, "noise": self.noise}
        return {**super().get_config(), **own}


def lstm(units: int, **kwargs: Any) -> keras.layers.LSTM:
    """Returns an LSTM over sequences with the papers' initial weights."""
    initial = recurrent_initializers(units)
    return keras.layers.LSTM(units, return_sequences=True, unit_forget_bias=False, **initial, **kwargs)


alias("reader", "lstm", "LSTMReader")
