"""The location attender of Dubois et al."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, States, Tensor
from kzoo.layers.attention.location_attention import LocationAttention
from kzoo.layers.functional.dense import dense, recurrent_initializers
from kzoo.registry import alias, register


@register("attention")
class DuboisLocationAttention(LocationAttention):
    """The location attender as first proposed: a GRU of its own computes the position to attend to.

    From [Dubois et al., 2020](https://arxiv.org/abs/1911.03872), section 5.1. With q the query:

        omega_t = GRU(ReLU(W q_t + b), omega_{t-1})             "resize", "weighter"
        sigma_t = (ReLU(w_sigma . omega_t) + 0.27) / S          "spread"
        rho_t   = sigmoid, softstair, sigmoid of w . omega_t    "gate", "pace", "anchor"
        mu_t    = clamp(rho_t . [alpha_{t-1}; 1 / (S - 1); 1])

    where the paper's n_s is S and its mean of the last attention `states["position"]`. The clamp is two leaky ReLUs:
    unlike `leaky_clamp` it meets the bounds 0 and 1. omega_0 is learned ("start").

    Args:
        weighter_units: int. Size of omega. Defaults to half the query's, as the authors have it.
        units: int. Size of the value head. Defaults to the query's.
        value_units: int. Size of the hidden layer before the values. Defaults to the memory's.
        dtype: str or DTypePolicy. Positions, states and weights are float32 under any.

    Call arguments:
        query: tensor of shape (B, D).
        prepared: dict, from `prepare(memory, memory_mask)` with memory (B, S, D) and mask (B, S).
        states: dict of tensors of shape (B,): position, center, spread, time; and `weighter` (B, weighter_units).

    Returns:
        Context (B, D), weights (B, S), states.

    Raises:
        InputError: a size is out of range.

    Example:

    ```python
    cell = kzoo.layers.DuboisLocationAttention(weighter_units=3)
    cell.build((None, 6), (None, None, 6))
    prepared = cell.prepare(np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool))
    context, weights, states = cell(np.ones((2, 6), "float32"), prepared, cell.get_initial_state(prepared))
    assert states["weighter"].shape == (2, 3)
    ```

    Differences: the paper's lambda are values of a density and need not sum to 1; here they are normalised, as in
    Ray Chowdhury and Caragea, 2023 (Eq. 9). The paper's code starts the GRU orthogonal; here it starts as every GRU
    of these models.
    """

    def __init__(
        self,
        weighter_units: int | None = None,
        units: int | None = None,
        value_units: int | None = None,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__("softstair", units, value_units, dtype, **kwargs)
        self.weighter_units = (
            None if weighter_units is None else checks.integer("weighter_units", weighter_units, 1, 4096)
        )

    def build_features(self, size: int) -> int:
        units = self.weighter_units or max(1, size // 2)
        self.resize = dense(units, size, dtype=self.dtype_policy)
        self.resize.build((None, size))
        self.weighter = keras.layers.GRUCell(units, **recurrent_initializers(units), dtype=self.dtype_policy)
        self.weighter.build((None, units))
        self.start = self.add_weight((units,), initializer="zeros", autocast=False, name="start")
        return units

    def get_initial_state(self, prepared: Prepared) -> States:
        states = super().get_initial_state(prepared)
        return {**states, "weighter": states["time"][:, None] + self.start}

    def features(self, query: Tensor, states: States) -> tuple[Tensor, States]:
        _, [omega] = self.weighter(ops.relu(self.resize(query)), [states["weighter"]])
        return omega, {**states, "weighter": ops.cast(omega, "float32")}

    def clamp(self, center: Tensor) -> Tensor:
        low = ops.leaky_relu(center, negative_slope=0.01)
        return 1.0 - ops.leaky_relu(1.0 - low, negative_slope=0.01)

    def get_config(self) -> Config:
        config = {**super().get_config(), "weighter_units": self.weighter_units}
        config.pop("step")
        return config


alias("attention", "dubois_location", "DuboisLocationAttention")
