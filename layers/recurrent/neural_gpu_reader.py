"""The Neural GPU: one convolutional gated unit over the whole sequence, as often as it has tokens."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, States, Tensor
from kzoo.layers.functional.dense import dense, glorot
from kzoo.layers.functional.scan import scan
from kzoo.layers.recurrent.reader import Reader
from kzoo.registry import alias, register

LIMIT = 0.9  # beyond which an input of a hard function is penalized
GATE, RESET = 0.7, 0.5  # biases at the start


@register("reader")
class NeuralGPUReader(Reader):
    """Reads a sequence with the Neural GPU: a convolutional gated recurrent unit over all tokens at once, with as many
    steps as there are tokens.

    The Neural GPU is of [Kaiser and Sutskever, 2016](https://arxiv.org/abs/1511.08228); this one, with hard functions
    and diagonal gates, of [Freivalds and Liepins, 2017](https://arxiv.org/abs/1702.08727). A token sees its two
    neighbours, and the same weights serve every place and every step, as in a cellular automaton. With s_t[i] the state
    of token i after t steps, N_t[i] = (s_t[i-1], s_t[i], s_t[i+1]), zeros beyond the ends, and * elementwise:

        s_0[i] = clip(W x_i + w)
        g_t[i] = gate(G N_t[i] + a),   r_t[i] = gate(R N_t[i] + b)
        c_t[i] = clip(C (r_t[i-1] * s_t[i-1], r_t[i] * s_t[i], r_t[i+1] * s_t[i+1]) + c)
        s_t+1[i] = g_t[i] * moved(s_t)[i] + (1 - g_t[i]) * c_t[i]

    - clip(z) is z within -1 and 1, and gate(z) is (1 + z) / 2 within 0 and 1: unlike tanh and the sigmoid both reach
      their ends, so that a gate can be quite open.
    - moved(s)[i] are the gates along the diagonal: a third of the units is that of s[i-1], a third that of s[i+1], and
      the others are that of s[i]. What a gate keeps moves to the right or to the left, or stays.
    - `penalty` times max(0, |z| - 0.9), summed over units and averaged over tokens and steps, is an `add_loss`, for z
      in the hard functions: there, beyond 1, they have no gradient.

    Args:
        units: int. Size of a state, 3 to 8,192. Defaults to 96.
        dropout: float. Rate on c while training, the same units at all tokens and steps of a sequence. Defaults to 0.
        penalty: float. Weight of the saturation cost, 0 to 100. Defaults to 0.001.
        noise: float. Standard deviation of normal noise on the states before each step while training, 0 to 10: what
            small errors would change is not relied on then. Defaults to 0.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        sequence: tensor of shape (B, T, E).
        mask: bool tensor of shape (B, T), True at real tokens; every row has at least one. States at pads are zeros.
        training: bool.

    Returns:
        Tensor of shape (B, units): the state of the last token.

    Raises:
        InputError: an argument is out of range.

    Example:

    ```python
    reader = kzoo.layers.NeuralGPUReader(6)
    assert reader(np.ones((2, 5, 3), "float32"), np.ones((2, 5), bool)).shape == (2, 6)
    ```

    Differences: noise is our own. The authors' code draws dropout anew for every token and step, on s_0 too, and
    changes the weight of the saturation cost while it trains.
    """

    def __init__(
        self,
        units: int = 96,
        dropout: float = 0.0,
        penalty: float = 0.001,
        noise: float = 0.0,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.units = checks.integer("units", units, 3, 8192)
        self.dropout = checks.number("dropout", dropout, 0.0, 0.99)
        self.penalty = checks.number("penalty", penalty, 0.0, 100.0)
        self.noise = checks.number("noise", noise, 0.0, 10.0)
        self.seeds = keras.random.SeedGenerator()

    def build(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> None:
        size, units, policy = sequence_shape[-1], self.units, self.dtype_policy
        self.inputs = dense(units, size, glorot(size, units), bias_initializer="zeros", dtype=policy)
        self.inputs.build((None, None, size))
        bound = glorot(3 * units, 3 * units)
        start = keras.initializers.Constant([GATE] * units + [RESET] * units)
        self.gates = dense(2 * units, 3 * units, bound, bias_initializer=start, dtype=policy)
        self.candidate = dense(units, 3 * units, bound, bias_initializer="zeros", dtype=policy)
        for layer in (self.gates, self.candidate):
            layer.build((None, None, 3 * units))
        self.built = True

    def states(self, sequence: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        real = ops.cast(mask, "int32")
        length = ops.sum(real, axis=1)[:, None, None]
        real = ops.cast(real, self.compute_dtype)[..., None]
        penalized = training and self.penalty > 0
        kept = self.kept(sequence) if training and self.dropout else None
        inputs = self.inputs(sequence)

        def step(state: Tensor, row: States) -> tuple[Tensor, States]:
            going = row["turn"] < length
            noisy = state + row["noise"] * real if "noise" in row else state
            found, saturated = self.step(noisy, real, kept)
            costs = {"cost": ops.where(going, self.excess(saturated, real), 0.0)} if penalized else {}
            return ops.where(going, found, state), costs

        rows = {"turn": ops.arange(ops.shape(mask)[1], dtype="int32")}
        if training and self.noise:
            rows["noise"] = self.drawn(inputs)
        last, costs = scan(step, ops.clip(inputs, -1.0, 1.0) * real, rows)
        if penalized:
            number = ops.cast(length, "float32")  # of tokens, and of steps
            cost = (ops.sum(costs["cost"], axis=0) / number + self.excess(inputs, real)) / number
            self.add_loss(self.penalty * ops.mean(cost))
        return last

    def step(self, state: Tensor, real: Tensor, kept: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Returns the next states (B, T, N), and what the hard functions were given, (B, T, 3 N).

        Args:
            state: tensor of shape (B, T, N), zeros at pads.
            real: tensor of shape (B, T, 1), 1 at real tokens and 0 at pads.
            kept: tensor of shape (B, 1, N), the factor of dropout. Defaults to none.
        """
        left, right = neighbours(state)
        of_gates = self.gates(ops.concatenate([left, state, right], axis=-1))
        gate, reset = ops.split(ops.clip(0.5 * of_gates + 0.5, 0.0, 1.0), 2, axis=-1)
        there = reset * state
        before, after = neighbours(there)
        of_candidate = self.candidate(ops.concatenate([before, there, after], axis=-1))
        candidate = ops.clip(of_candidate, -1.0, 1.0)
        if kept is not None:
            candidate = candidate * kept
        third = self.units // 3
        moved = ops.concatenate([left[..., :third], right[..., third : 2 * third], state[..., 2 * third :]], axis=-1)
        found = (gate * moved + (1.0 - gate) * candidate) * real
        return found, ops.concatenate([of_gates, of_candidate], axis=-1)

    def kept(self, sequence: Tensor) -> Tensor:
        """Returns the factor of dropout of every sequence and unit, (B, 1, N)."""
        whole = ops.ones((ops.shape(sequence)[0], 1, self.units), dtype="float32")
        return ops.cast(keras.random.dropout(whole, self.dropout, seed=self.seeds), self.compute_dtype)

    def drawn(self, states: Tensor) -> Tensor:
        """Returns the noise on states (B, T, N) at every step, (T, B, T, N)."""
        shape = (ops.shape(states)[1], *ops.shape(states))
        drawn = keras.random.normal(shape, stddev=self.noise, dtype="float32", seed=self.seeds)
        return ops.cast(drawn, self.compute_dtype)

    def excess(self, inputs: Tensor, real: Tensor) -> Tensor:
        """Returns how far inputs (B, T, ...) are beyond the limit, summed over units and tokens, (B, 1, 1)."""
        beyond = ops.relu(ops.abs(ops.cast(inputs, "float32")) - LIMIT) * ops.cast(real, "float32")
        return ops.sum(beyond, axis=(1, 2), keepdims=True)

    def get_config(self) -> Config:
        own = {"units": self.units, "dropout": self.dropout, "penalty": self.penalty, "noise": self.noise}
        return {**super().get_config(), **own}


def neighbours(states: Tensor) -> tuple[Tensor, Tensor]:
    """Returns of states (B, T, N) those of the token before and of the one after each, zeros beyond the ends."""
    padded = ops.pad(states, [[0, 0], [1, 1], [0, 0]])
    return padded[:, :-2], padded[:, 2:]


alias("reader", "neural_gpu", "NeuralGPUReader")
