"""Attention that moves from waypoint to waypoint, and may jump to any of them."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, Shape, States, Tensor
from kzoo.layers.attention.gaussian_attention import GaussianAttention, column, gaussian, scalar
from kzoo.layers.attention.steps import STEPS
from kzoo.layers.functional.dense import uniform
from kzoo.registry import alias, register

OPENNESS = 0.4  # sigmoid(5 * 0.4) = 0.88: at first nearly every position is a waypoint
# The gate of a visit is between sigmoid(-8) = 0.0003, where it still has a gradient, and sigmoid(4) = 0.98; it starts
# at about sigmoid(-2) = 0.12, so that moving is learned before the visits.
BOUND, RESERVE = 6.0, 2.0


@register("attention")
class WaypointAttention(GaussianAttention):
    """Location attention over coordinates computed from the memory: a step leads to the next waypoint.

    A mechanism of our own. OneStep (`MonotonicAttention`) stays or moves by one position, which is enough to copy but
    not to skip. Here a weight for each position, computed once from its encoding, decides how much of a waypoint it is,
    and distances are measured in waypoints. With m_j the memory, j counted from 0, l the location features and pa the
    last coordinate:

        w_j     = sigmoid(5 (v . m_j + c))                     how much of a waypoint j is: "mark"
        n_j     = (w_1 + ... + w_j) / (S - 1)                  the coordinates: n_0 is 0
        mu      = pa + sigmoid(5 w_step . l) / (S - 1)         stay, or go to the next waypoint: "pace"
        a_j     = softmax_j(log w_j - (n_j - mu)^2 / (2 sigma^2))

    With `visits` it may also attend to a waypoint counted from the first one, without moving:

        g       = sigmoid(6 softsign(w_visit . l) - 2)         "visit"; softsign(x) = x / (1 + |x|)
        nu      = (w_place . l) / (S - 1)                      "place"
        a'_j    = softmax_j(log w_j - (n_j - nu)^2 / (2 sigma^2))
        weights = (1 - g) a + g a'
        pa'     = (1 - g) sum_j a_j n_j + g pa

    Where all w_j are 1 and g is 0 this is OneStep. Since pa is computed from the coordinates after each step, errors do
    not add up, and the w_j need not be quite 0 or 1. The Gaussian and its spread sigma are those of
    [Ray Chowdhury and Caragea, 2023](https://arxiv.org/abs/2305.20019), section 4.3; see `GaussianAttention`. The name
    "waypoint" is the cell inside `DirectionMix`, which lets it start at either end.

    The states have `center`, the mean position of the weights, for plots; `position`, pa; and `visit`, g.

    Args:
        visits: bool. Whether it may attend to a waypoint without moving. Defaults to True.
        units: int. Size of the location features and of the values. Defaults to the query's.
        value_units: int. Size of the hidden layer before the values. Defaults to the memory's.
        dtype: str or DTypePolicy. Positions and weights are float32 under any.

    Call arguments:
        query: tensor of shape (B, D).
        prepared: dict, from `prepare(memory, memory_mask)` with memory (B, S, D) and mask (B, S).
        states: dict of tensors of shape (B,): position, center, spread, visit, time.

    Returns:
        Context (B, D), weights (B, S), states.

    Raises:
        InputError: a size is out of range.

    Example:

    ```python
    cell = kzoo.layers.WaypointAttention()
    cell.build((None, 6), (None, None, 6))
    prepared = cell.prepare(np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool))
    context, weights, states = cell(np.ones((2, 6), "float32"), prepared, cell.get_initial_state(prepared))
    assert context.shape == (2, 6) and weights.shape == (2, 5)
    ```
    """

    def __init__(
        self,
        visits: bool = True,
        units: int | None = None,
        value_units: int | None = None,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(units, value_units, dtype, **kwargs)
        self.visits = checks.boolean("visits", visits)

    def build_weights(self, query_shape: Shape, memory_shape: Shape) -> None:
        super().build_weights(query_shape, memory_shape)
        initial = uniform(0.2 * memory_shape[-1] ** -0.5)
        self.mark = keras.layers.Dense(
            1,
            kernel_initializer=initial,
            bias_initializer=keras.initializers.Constant(OPENNESS),
            dtype=self.dtype_policy,
        )
        self.mark.build(memory_shape)

    def build_center(self, units: int) -> None:
        for name in ("pace", "visit", "place") if self.visits else ("pace",):
            setattr(self, name, column(units, of=1, dtype=self.dtype_policy))

    def prepare_weights(self, memory: Tensor, memory_mask: Tensor, summary: Tensor) -> Prepared:
        found = super().prepare_weights(memory, memory_mask, summary)
        marks = 5.0 * ops.cast(self.mark(memory), "float32")[:, :, 0]
        widths = ops.where(memory_mask, ops.sigmoid(marks), 0.0)
        coordinates = (ops.cumsum(widths, axis=1) - widths[:, :1]) * found["step"][:, None]
        return {**found, "indices": found["positions"], "positions": coordinates, "log_widths": ops.log_sigmoid(marks)}

    def get_initial_state(self, prepared: Prepared) -> States:
        states = super().get_initial_state(prepared)
        return {**states, "visit": ops.zeros_like(states["position"])}

    def weigh(self, query: Tensor, prepared: Prepared, states: States) -> tuple[Tensor, States]:
        features, states = self.features(query, states)
        spread = self.spread_of(features, prepared)

        def around(center: Tensor) -> Tensor:
            return gaussian(prepared["positions"], center, spread, prepared["mask"], prepared["log_widths"])

        steps = STEPS["sigmoid"](scalar(self.pace, features))
        weights = around(states["position"] + steps * prepared["step"])
        position, visit = ops.sum(weights * prepared["positions"], axis=1), ops.zeros_like(spread)
        if self.visits:
            visit = ops.sigmoid(BOUND * ops.softsign(scalar(self.visit, features)) - RESERVE)
            position = (1.0 - visit) * position + visit * states["position"]
            visited = around(scalar(self.place, features) * prepared["step"])
            weights = (1.0 - visit)[:, None] * weights + visit[:, None] * visited
        center = ops.sum(weights * prepared["indices"], axis=1)
        return weights, {**states, "position": position, "center": center, "spread": spread, "visit": visit}

    def advance(self, weights: Tensor, prepared: Prepared, states: States) -> States:
        return states

    def get_config(self) -> Config:
        return {**super().get_config(), "visits": self.visits}


alias("attention", "waypoint", "DirectionMix", attention="WaypointAttention", bounded=True)
