"""Rotary attention."""

from typing import Any

from keras import ops

from kzoo.annotations import DType, Shape, Tensor
from kzoo.layers.attention.content_attention import ContentAttention
from kzoo.layers.functional.sinusoid import angles, check_even, rotate
from kzoo.registry import alias, register


@register("attention")
class RotaryAttention(ContentAttention):
    """Content attention whose queries and keys are rotated by their positions, so that scores depend on distance.

    From [Ray Chowdhury and Caragea, 2023](https://arxiv.org/abs/2305.20019), Appendix B.1 (Bi-ROPE), after
    [Su et al., 2021](https://arxiv.org/abs/2104.09864), Eq. 14-16. With R_p the rotation of each pair (2j, 2j + 1) by
    p 10000^(-2j / units), t the step and i the position, both counted from 0:

        c_i = (R_t W_q h) . (R_i W_k e_i) / sqrt(units)

    The paper's Bi-ROPE is the name "bi_rope"; "rope" reads the memory in its own direction only.

    Args:
        units: int, even. Size of queries, keys and the value head. Defaults to the query's.
        value_units: int. Size of the hidden layer before the values. Defaults to the memory's.
        dtype: str or DTypePolicy. Scores are float32 under any.

    Call arguments:
        query: tensor of shape (B, D).
        prepared: dict, from `prepare(memory, memory_mask)` with memory (B, S, D) and mask (B, S).
        states: dict with `time` (B,), from `get_initial_state` or the last call.

    Returns:
        Context (B, D), weights (B, S), states.

    Raises:
        InputError: a size is out of range, or `units` is odd.

    Example:

    ```python
    cell = kzoo.layers.RotaryAttention()
    cell.build((None, 6), (None, None, 6))
    prepared = cell.prepare(np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool))
    context, weights, states = cell(np.ones((2, 6), "float32"), prepared, cell.get_initial_state(prepared))
    assert weights.shape == (2, 5)
    ```
    """

    def __init__(
        self, units: int | None = None, value_units: int | None = None, dtype: DType = None, **kwargs: Any
    ) -> None:
        super().__init__(units, value_units, dtype, **kwargs)
        check_even(self.units or 0, "units")

    def build_weights(self, query_shape: Shape, memory_shape: Shape) -> None:
        check_even(self.units or query_shape[-1], "the size of the query, which is that of the keys,")
        super().build_weights(query_shape, memory_shape)

    def project_keys(self, memory: Tensor) -> Tensor:
        positions = ops.arange(ops.shape(memory)[1], dtype="float32")
        return rotate(super().project_keys(memory), angles(positions, self.key_units))

    def project_query(self, query: Tensor, time: Tensor) -> Tensor:
        return rotate(super().project_query(query, time), angles(time, self.key_units))


alias("attention", "rope", "RotaryAttention")
alias("attention", "bi_rope", "DirectionMix", attention="RotaryAttention")
