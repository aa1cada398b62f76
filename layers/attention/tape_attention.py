"""Attention that moves over the source as the head of a machine moves over its tape."""

from typing import Any

from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, Shape, Tensor
from kzoo.layers.attention.gaussian_attention import normalized_positions
from kzoo.layers.attention.moving_attention import MovingAttention
from kzoo.registry import alias, register


@register("attention")
class TapeAttention(MovingAttention):
    """Location attention that stays, steps to either side, or jumps to an end of the memory.

    A mechanism of our own. The moves are those of the Tape-RNN of
    [Deletang et al., 2023](https://arxiv.org/abs/2207.02098), which may also jump to either end; here the tape is the
    memory, and is only read. They act on the last weights as in the Neural Turing Machine
    ([Graves et al., 2014](https://arxiv.org/abs/1410.5401), section 3.3.2, Eq. 8 and 9). With h the query, a the last
    weights, r the reach and n the number of real positions, boundary vectors included:

        l       = W_l h + b_l                                           "location"
        p       = softmax(W_p l + b_p), of 4 r + 3 moves                "moves"
        gamma   = s + softplus(w_gamma . l + b_gamma)                   "gamma"; s is the argument `sharpness`
        m       = sum_{-r <= k <= r} p_k shift_k(a)                     stay, or step by at most r
                  + sum_{0 <= k <= r} p_{first + k} onehot(k)           jump to the first position, or up to r behind it
                  + sum_{0 <= k <= r} p_{last - k} onehot(n - 1 - k)    jump to the last position, or up to r before it
        a'_j    = m_j^gamma / sum_i m_i^gamma

    shift_k moves every weight by k positions, and what would be beyond an end is at that end. At first a is the first
    position. Since moves are relative, and gamma takes back what leaks to other positions, nothing depends on the
    length.

    The states have `weights`, a, and `center`, the mean position of the weights, 0 at the first and 1 at the last.

    Args:
        reach: int. How many positions one step may move, 1 to 16. Defaults to 2.
        sharpness: float. The least gamma, 1 to 10. With 1, as in the paper, training makes gamma only as large as its
            lengths need, and weights of 0.9 after 40 steps are 0.6 after 120; with 2, what leaks is squared at every
            step, but moves are hard to learn from new weights. Defaults to 1.
        units: int. Size of the location features and of the values. Defaults to the query's.
        value_units: int. Size of the hidden layer before the values. Defaults to the memory's.
        dtype: str or DTypePolicy. Moves and weights are float32 under any.

    Call arguments:
        query: tensor of shape (B, D).
        prepared: dict, from `prepare(memory, memory_mask)` with memory (B, S, D) and mask (B, S).
        states: dict of tensors: weights (B, S), center (B,), time (B,).

    Returns:
        Context (B, D), weights (B, S), states.

    Raises:
        InputError: `reach`, `sharpness` or a size is out of range.

    Example:

    ```python
    cell = kzoo.layers.TapeAttention()
    cell.build((None, 6), (None, None, 6))
    prepared = cell.prepare(np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool))
    context, weights, states = cell(np.ones((2, 6), "float32"), prepared, cell.get_initial_state(prepared))
    assert context.shape == (2, 6) and weights.shape == (2, 5)
    ```

    Differences from the papers: the Tape-RNN also writes, steps by one position, jumps by the length of the input, and
    its tape is a circle; the Neural Turing Machine also addresses by content, and its memory is a circle, too.
    """

    def __init__(
        self,
        reach: int = 2,
        sharpness: float = 1.0,
        units: int | None = None,
        value_units: int | None = None,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(units, value_units, dtype, **kwargs)
        self.reach = checks.integer("reach", reach, 1, 16)
        self.sharpness = checks.number("sharpness", sharpness, 1.0, 10.0)

    def build_weights(self, query_shape: Shape, memory_shape: Shape) -> None:
        self.build_moves(query_shape, 4 * self.reach + 3)

    def prepare_weights(self, memory: Tensor, memory_mask: Tensor, summary: Tensor) -> Prepared:
        found = normalized_positions(memory_mask)
        last = ops.cast(found["length"], "int32")[:, None, None] - 1
        indices = ops.arange(ops.shape(memory_mask)[1], dtype="int32")[None, None, :]
        offsets = ops.arange(self.reach + 1, dtype="int32")[None, :, None]
        first_ones = ops.cast(indices == ops.minimum(offsets, last), "float32")
        last_ones = ops.cast(indices == ops.maximum(last - offsets, 0), "float32")
        sides = [
            ops.repeat(first_ones[:, :1], self.reach, axis=1),
            ops.repeat(last_ones[:, :1], self.reach + 1, axis=1),
        ]
        return {
            "first": first_ones[:, 0],
            "ends": ops.concatenate([first_ones, last_ones], axis=1),
            "sides": ops.concatenate(sides, axis=1),  # where each step is that would be beyond an end
            "positions": found["positions"],
        }

    def reached(self, prepared: Prepared, weights: Tensor) -> Tensor:
        return ops.concatenate([self.steps(prepared, weights), prepared["ends"]], axis=1)

    def steps(self, prepared: Prepared, weights: Tensor) -> Tensor:
        """Returns the weights (B, S) moved by -`reach` to `reach` positions, of shape (B, 2 reach + 1, S)."""
        size, reach = ops.shape(weights)[1], self.reach
        wide = ops.pad(weights, [[0, 0], [reach, reach]])
        moved = ops.stack([wide[:, reach - k : reach - k + size] for k in range(-reach, reach + 1)], axis=1)
        moved = ops.where(prepared["mask"][:, None], moved, 0.0)
        beyond = ops.relu(1.0 - ops.sum(moved, axis=2, keepdims=True))
        return moved + beyond * prepared["sides"]

    def get_config(self) -> Config:
        return {**super().get_config(), "reach": self.reach, "sharpness": self.sharpness}


alias("attention", "tape", "TapeAttention")
