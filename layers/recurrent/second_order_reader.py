"""A second-order recurrent network, whose state is drawn to one of finitely many, as a reader of whole sequences."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, Shape, Tensor
from kzoo.errors import InputError
from kzoo.layers.functional.dense import dense, glorot, uniform
from kzoo.layers.functional.normalized import rms_norm
from kzoo.layers.functional.reverse import reverse
from kzoo.layers.functional.scan import Step, scan
from kzoo.layers.recurrent.reader import Reader
from kzoo.registry import alias, register

SHARPNESS = 2.0  # of a new softmax over the centroids


@register("reader")
class SecondOrderReader(Reader):
    """Reads a sequence with a recurrent network in which every token has a matrix of its own, and gives its last state.

    A second-order network, as [Giles et al., 1992](https://doi.org/10.1162/neco.1992.4.3.393) learned finite automata
    with: z_t is bilinear in the last state and the token. Its tensor of three axes is factored as in the multiplicative
    RNN of Sutskever, Martens and Hinton, 2011 ("Generating text with recurrent neural networks"):

        z_t = U ((A h_(t-1)) * (B x_t)) + V x_t + b,   u_t = RMSNorm(z_t)

    so that what a token does to all states is learned at once, where an LSTM learns it state by state. The state is
    drawn to centroids c_1 .. c_K, as in the state-regularized RNN of
    [Wang and Niepert, 2019](https://arxiv.org/abs/1901.08817), so that errors do not add up over a long sequence:

        a_t = softmax(s / sqrt(N) (c_1 . u_t, .., c_K . u_t)),   h_t = keep u_t + (1 - keep) sum of a_ti c_i

    The centroids have an RMS of 1, s is learned and starts at 2, and h_0 is a learned vector after its RMSNorm. V and b
    start at zero, so that at first a token does nothing but multiply.

    Args:
        units: int. Size N of the state, 1 to 8,192. Defaults to 128.
        factors: int. Size of the product, the rank of the tensor, 1 to 8,192. Defaults to `units`.
        centroids: int. Number K, 0 to 65,536; with 0 the state is u_t. Defaults to `units`.
        keep: float. How much of the state stays as it is, 0 to 1. Defaults to 0.5, or 1 without centroids.
        go_backwards: bool. Whether it reads from the last token to the first; states are in the order of reading.
            Defaults to False.
        noise: float. Standard deviation of noise on the state before each step while training, 0 to 10, as of
            `LSTMReader`. Defaults to 0.
        dtype: str or DTypePolicy. As of every Keras layer; it is float32 under any.

    Call arguments:
        sequence: tensor of shape (B, T, E).
        mask: bool tensor of shape (B, T), True at real tokens; every row has at least one. At pads the state stays.
        training: bool. Whether there is noise.

    Returns:
        Tensor of shape (B, units).

    Raises:
        InputError: an argument is out of range or does not apply.

    Example:

    ```python
    reader = kzoo.layers.SecondOrderReader(6, centroids=5)
    assert reader(np.ones((2, 5, 3), "float32"), np.ones((2, 5), bool)).shape == (2, 6)
    ```

    Differences: Giles et al. have a sigmoid, no factors and no maps but the bilinear one; Sutskever et al. a tanh where
    there is a norm here. Wang and Niepert draw the state of an LSTM or GRU, all of it, which is `keep` 0.
    """

    def __init__(
        self,
        units: int = 128,
        factors: int | None = None,
        centroids: int | None = None,
        keep: float | None = None,
        go_backwards: bool = False,
        noise: float = 0.0,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(autocast=False, dtype=dtype, **kwargs)
        self.units = checks.integer("units", units, 1, 8192)
        self.factors = checks.integer("factors", self.units if factors is None else factors, 1, 8192)
        self.centroids = checks.integer("centroids", self.units if centroids is None else centroids, 0, 65_536)
        default = 0.5 if self.centroids else 1.0
        self.keep = checks.number("keep", default if keep is None else keep, 0.0, 1.0)
        if not self.centroids and self.keep < 1:
            raise InputError(f"keep={keep} does not apply: there are no centroids to draw the state to")
        self.go_backwards = checks.boolean("go_backwards", go_backwards)
        self.noise = checks.number("noise", noise, 0.0, 10.0)
        self.seeds = keras.random.SeedGenerator() if noise else None

    def build(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> None:
        units, factors, size = self.units, self.factors, sequence_shape[-1]
        maps = {"before": (units, factors), "token": (size, factors)}
        maps |= {"product": (factors, units), "alone": (size, units)}
        for name, (inputs, outputs) in maps.items():
            alone = name == "alone"
            bound = 0.0 if alone else glorot(inputs, outputs)
            layer = dense(outputs, inputs, bound, use_bias=alone, bias_initializer="zeros", dtype="float32")
            layer.build((None, inputs))
            setattr(self, name, layer)
        whole = {"dtype": "float32", "autocast": False}
        self.initial = self.add_weight((units,), initializer=uniform(1.0), name="initial", **whole)
        if self.centroids:
            shape, constant = (self.centroids, units), keras.initializers.Constant(SHARPNESS)
            self.table = self.add_weight(shape, initializer=uniform(1.0), name="table", **whole)
            self.sharpness = self.add_weight((), initializer=constant, name="sharpness", **whole)
        self.built = True

    def states(self, sequence: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        sequence = reverse(sequence, mask) if self.go_backwards else sequence
        rows = self.rows(ops.swapaxes(ops.cast(sequence, "float32"), 0, 1), training)
        rows["real"] = ops.swapaxes(ops.cast(mask, "bool"), 0, 1)[..., None]
        step, initial = self.recurrence(rows)
        _, states = scan(step, initial, rows)
        return ops.cast(ops.swapaxes(states, 0, 1), self.compute_dtype)

    def rows(self, sequence: Tensor, training: bool) -> Prepared:
        """Returns what tokens (T, B, E), in the order of reading, give: `scale` (T, B, F), `alone` and, where there is
        any, `noise`, both (T, B, N).
        """
        found = {"scale": self.token(sequence), "alone": self.alone(sequence)}
        if self.noise and training:
            options = {"stddev": self.noise, "dtype": "float32", "seed": self.seeds}
            found["noise"] = keras.random.normal(ops.shape(found["alone"]), **options)
        return found

    def recurrence(self, rows: Prepared) -> tuple[Step, Any]:
        """Returns the step from state to state, as `scan` takes it, and the first state."""
        drawn = self.drawing()

        def step(state: Tensor, row: Prepared) -> tuple[Tensor, Tensor]:
            found = self.moved(drawn, state, row["scale"], row, state)
            return found, found

        return step, self.first(rows)

    def moved(
        self, drawn: Callable[[Tensor], Tensor], start: Tensor, scale: Tensor, row: Prepared, state: Tensor
    ) -> Tensor:
        """Returns h_t of what a step starts from and of its factors, with the noise of its row; at pads the state."""
        start = start + row["noise"] if "noise" in row else start
        found = drawn(self.product(self.before(start) * scale) + row["alone"])
        # Training asks nothing at pads: run on there, what differs between backends may grow without bound.
        return ops.where(row["real"], found, state)

    def first(self, rows: Prepared) -> Tensor:
        """Returns h_0 for every row, (B, N)."""
        return ops.zeros_like(rows["alone"][0]) + rms_norm(self.initial)

    def drawing(self) -> Callable[[Tensor], Tensor]:
        """Returns the function from z_t to h_t; what is the same at every step is computed here."""
        if not self.centroids:
            return rms_norm
        centroids, sharpness = rms_norm(self.table), self.sharpness * self.units**-0.5

        def drawn(state: Tensor) -> Tensor:
            found = rms_norm(state)
            # Transposed here, as an exported loop takes no two tensors that share memory.
            shares = ops.softmax(sharpness * ops.matmul(found, ops.transpose(centroids)), axis=-1)
            return self.keep * found + (1.0 - self.keep) * ops.matmul(shares, centroids)

        return drawn

    def get_config(self) -> Config:
        own = {"units": self.units, "factors": self.factors, "centroids": self.centroids, "keep": self.keep}
        return {**super().get_config(), **own, "go_backwards": self.go_backwards, "noise": self.noise}


alias("reader", "second_order", "SecondOrderReader")
