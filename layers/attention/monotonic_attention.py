"""OneStep, Monotonic and Relaxed Monotonic attention, and the ablations: one cell, five step functions."""

from typing import Any

from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, States, Tensor
from kzoo.layers.attention.gaussian_attention import GaussianAttention, column, scalar
from kzoo.layers.attention.steps import STEPS
from kzoo.registry import alias, register


@register("attention")
class MonotonicAttention(GaussianAttention):
    """Location attention that only moves: each step adds a number of positions to the last one.

    From [Ray Chowdhury and Caragea, 2023](https://arxiv.org/abs/2305.20019), sections 5.3 and 5.4. With l the
    location features and pa the last position, which is the reference of Eq. 11:

        mu = pa + steps(w_step . l) / (S - 1)               w_step is "pace"

    | step      | steps(x)                              | the paper's name                        |
    |-----------|---------------------------------------|-----------------------------------------|
    | sigmoid   | sigmoid(5 x)                          | OneStep (section 5.3)                   |
    | gated     | g ReLU(x) + (1 - g) sigmoid(5 x)      | Monotonic (Eq. 19)                      |
    | relu      | ReLU(x)                               | Relaxed Monotonic (Appendix B.1)        |
    | softstair | floor(x) + sigmoid(20 ({x} - 0.5))    | OneStep without Step 3 (section 7.1)    |
    | linear    | x                                     | OneStep without sigmoid (section 7.1)   |

    In the paper's letters: h_{t-1} is `query`, pa_{t-1} `states["position"]`, mu_t `states["center"]`, sigma_t
    `states["spread"]`, lambda' the weights. The paper's models interpolate the memory with its reverse first: wrap the
    cell in `DirectionMix`, or take the names "onestep", "monotonic", "relaxed_monotonic", "onestep_minus_step3" and
    "onestep_minus_sigmoid", which do.

    Args:
        step: str. One of the table's.
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
        InputError: `step` is not in the table, or a size is out of range.

    Example:

    ```python
    cell = kzoo.layers.MonotonicAttention(step="sigmoid")
    cell.build((None, 6), (None, None, 6))
    prepared = cell.prepare(np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool))
    context, weights, states = cell(np.ones((2, 6), "float32"), prepared, cell.get_initial_state(prepared))
    assert context.shape == (2, 6) and weights.shape == (2, 5)
    ```

    Differences from the paper, all as in the authors' code, which reaches its numbers: the 5 inside the sigmoid is
    missing in the paper's formulas; mu is not clamped (Eq. 6 and 8 suggest it); in `gated`, g = sigmoid(`gate`) weights
    the ReLU, not the sigmoid. Difference from their code: its gate starts at 20, where its gradient is exactly zero and
    Monotonic equals Relaxed Monotonic; here it starts at 0 and learns, which is what the published table shows.
    """

    def __init__(
        self,
        step: str = "sigmoid",
        units: int | None = None,
        value_units: int | None = None,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(units, value_units, dtype, **kwargs)
        self.step = checks.choice("step", step, [*STEPS, "gated"])

    def build_center(self, units: int) -> None:
        self.pace = column(units, of=1, dtype=self.dtype_policy)
        if self.step == "gated":
            self.gate = self.add_weight((1,), initializer="zeros", autocast=False, name="gate")

    def center(self, features: Tensor, prepared: Prepared, states: States) -> Tensor:
        raw = scalar(self.pace, features)
        if self.step == "gated":
            gate = ops.sigmoid(self.gate)
            steps = gate * STEPS["relu"](raw) + (1.0 - gate) * STEPS["sigmoid"](raw)
        else:
            steps = STEPS[self.step](raw)
        return states["position"] + steps * prepared["step"]

    def get_config(self) -> Config:
        return {**super().get_config(), "step": self.step}


for _name, _step in {
    "onestep": "sigmoid",
    "monotonic": "gated",
    "relaxed_monotonic": "relu",
    "onestep_minus_step3": "softstair",
    "onestep_minus_sigmoid": "linear",
}.items():
    alias("attention", _name, "DirectionMix", attention={"class": "MonotonicAttention", "config": {"step": _step}})
