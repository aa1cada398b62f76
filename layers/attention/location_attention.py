"""Location attention."""

from typing import Any

from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, States, Tensor
from kzoo.layers.attention.gaussian_attention import GaussianAttention, column, scalar
from kzoo.layers.attention.leaky_clamp import leaky_clamp
from kzoo.layers.attention.steps import STEPS
from kzoo.registry import alias, register


@register("attention")
class LocationAttention(GaussianAttention):
    """Location attention in full: it moves from its last position, from a position of its choice, or from their sum.

    From [Ray Chowdhury and Caragea, 2023](https://arxiv.org/abs/2305.20019), section 4.3, Eq. 6-14 (their LocAttn).
    With l the location features and pa the last position:

        g   = sigmoid(w_g . l)                                  "gate"
        b   = sigmoid(w_b . l)                                  "anchor"
        mu  = clamp(g pa + b + softstair(w_step . l) / (S - 1))       w_step is "pace"

    In the paper's letters: h_{t-1} is `query`, pa_{t-1} `states["position"]`, the clamped mu_t `states["center"]`,
    sigma_t `states["spread"]`, lambda' the weights. With `step="sigmoid"` inside `DirectionMix` it is the ablation
    of OneStep that keeps gate and anchor: the name "onestep_minus_step2".

    Args:
        step: str. How w_step . l becomes steps: softstair (the paper's), sigmoid, relu or linear, as in
            `MonotonicAttention`.
        units: int. Size of the location features and of the values. Defaults to the query's.
        value_units: int. Size of the hidden layer before the values. Defaults to the memory's.
        dtype: str or DTypePolicy. Positions and weights are float32 under any.

    Call arguments:
        query: tensor of shape (B, D).
        prepared: dict, from `prepare(memory, memory_mask)` with memory (B, S, D) and mask (B, S).
        states: dict of tensors of shape (B,): position, center, spread, time.

    Returns:
        Context (B, D), weights (B, S), states.

    Raises:
        InputError: `step` is unknown, or a size is out of range.

    Example:

    ```python
    cell = kzoo.layers.LocationAttention()
    cell.build((None, 6), (None, None, 6))
    prepared = cell.prepare(np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool))
    context, weights, states = cell(np.ones((2, 6), "float32"), prepared, cell.get_initial_state(prepared))
    assert -0.1 < float(states["center"][0]) < 1.1
    ```
    """

    def __init__(
        self,
        step: str = "softstair",
        units: int | None = None,
        value_units: int | None = None,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(units, value_units, dtype, **kwargs)
        self.step = checks.choice("step", step, STEPS)

    def build_center(self, units: int) -> None:
        self.pace = column(units, of=3, dtype=self.dtype_policy)
        self.gate = column(units, of=3, dtype=self.dtype_policy)
        self.anchor = column(units, of=3, dtype=self.dtype_policy)

    def center(self, features: Tensor, prepared: Prepared, states: States) -> Tensor:
        gate = ops.sigmoid(scalar(self.gate, features))
        anchor = ops.sigmoid(scalar(self.anchor, features))
        steps = STEPS[self.step](scalar(self.pace, features))
        return self.clamp(gate * states["position"] + anchor + steps * prepared["step"])

    def clamp(self, center: Tensor) -> Tensor:
        """Returns the centre, kept near [0, 1]."""
        return leaky_clamp(center)

    def get_config(self) -> Config:
        return {**super().get_config(), "step": self.step}


alias("attention", "location", "LocationAttention")
alias(
    "attention",
    "onestep_minus_step2",
    "DirectionMix",
    attention={"class": "LocationAttention", "config": {"step": "sigmoid"}},
)
