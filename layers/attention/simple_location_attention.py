"""Simplified location attention."""

from keras import ops

from kzoo.annotations import Prepared, States, Tensor
from kzoo.layers.attention.gaussian_attention import GaussianAttention, column, scalar
from kzoo.layers.attention.leaky_clamp import leaky_clamp
from kzoo.layers.attention.softstair import softstair
from kzoo.registry import alias, register


@register("attention")
class SimpleLocationAttention(GaussianAttention):
    """Location attention that chooses a position at the first step only, and then moves from its last position.

    From [Ray Chowdhury and Caragea, 2023](https://arxiv.org/abs/2305.20019), Appendix B.1 (their LocAttn S). With l
    the location features and pa the last position:

        b   = sigmoid(w_b . l) at the first step, else 0        "anchor"
        mu  = clamp(pa + b + softstair(w_step . l) / (S - 1))   w_step is "pace"

    In the paper's letters: h_{t-1} is `query`, pa_{t-1} `states["position"]`, the clamped mu_t `states["center"]`,
    sigma_t `states["spread"]`, lambda' the weights.

    Args:
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
        InputError: a size is out of range.

    Example:

    ```python
    cell = kzoo.layers.SimpleLocationAttention()
    cell.build((None, 6), (None, None, 6))
    prepared = cell.prepare(np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool))
    context, weights, states = cell(np.ones((2, 6), "float32"), prepared, cell.get_initial_state(prepared))
    assert weights.shape == (2, 5)
    ```
    """

    def build_center(self, units: int) -> None:
        self.pace = column(units, of=2, dtype=self.dtype_policy)
        self.anchor = column(units, of=2, dtype=self.dtype_policy)

    def center(self, features: Tensor, prepared: Prepared, states: States) -> Tensor:
        first = ops.cast(states["time"] == 0.0, "float32")
        anchor = first * ops.sigmoid(scalar(self.anchor, features))
        steps = softstair(scalar(self.pace, features))
        return leaky_clamp(states["position"] + anchor + steps * prepared["step"])


alias("attention", "location_s", "SimpleLocationAttention")
