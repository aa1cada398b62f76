"""Attention that goes to the next position of a kind, or the one before."""

from typing import Any

from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, Shape, Tensor
from kzoo.layers.attention.gaussian_attention import normalized_positions
from kzoo.layers.attention.moving_attention import MovingAttention
from kzoo.registry import alias, register

PATIENCE = 4.0  # how much likelier than another move it is at first to stay: exp(4) to 1
ALWAYS = 30.0  # the score of a kind that every position is of: sigmoid(-30) is 1e-13


@register("attention")
class SeekAttention(MovingAttention):
    """Location attention that stays, or goes to the nearest position of a kind on either side.

    A mechanism of our own. Which kinds a position is of is computed once from the memory; each step chooses a kind and
    a direction. As in monotonic attention ([Raffel et al., 2017](https://arxiv.org/abs/1704.00784), Eq. 6 to 10) a
    search passes a position that is not of the kind, and its expected end is computed, so that gradients train it. With
    m_j the memory, h the query and a the last weights, and for each of `kinds` kinds k and one that all positions are
    of, which makes a step by one position:

        w_kj    = sigmoid(W_w m_j + b_w)_k                              how much j is of kind k: "mark"
        N_kij   = w_kj prod_{i < l < j} (1 - w_kl) for j > i            where a search to the right from i ends
        P_kij   = w_kj prod_{j < l < i} (1 - w_kl) for j < i            where a search to the left from i ends
        l       = W_l h + b_l                                           "location"
        p       = softmax(W_p l + b_p), of 1 + 2 (kinds + 1) moves      "moves"
        gamma   = 1 + softplus(w_gamma . l + b_gamma)                   "gamma"
        m       = p_stay a + sum_k (p_next,k a N_k + p_before,k a P_k)
        a'_j    = m_j^gamma / sum_i m_i^gamma

    A search that finds nothing ends at the first position, as N_k and P_k have there what is left to 1; so whoever
    looked for one more can tell that there is none, and begin anew. At first a is the first position. Nothing depends
    on the length, nor on how far the nearest position of a kind is. No move leads to the end or to a place counted from
    it, as a jump to the last of a kind would: where training has few positions of a kind, such a jump is as good as a
    search, and is learned. Training begins with moves that mostly stay.

    The states have `weights`, a, and `center`, the mean position of the weights, 0 at the first and 1 at the last.

    Args:
        kinds: int. How many kinds it tells apart, 1 to 32. Defaults to 4.
        units: int. Size of the location features and of the values. Defaults to the query's.
        value_units: int. Size of the hidden layer before the values. Defaults to the memory's.
        dtype: str or DTypePolicy. Kinds, moves and weights are float32 under any.

    Call arguments:
        query: tensor of shape (B, D).
        prepared: dict, from `prepare(memory, memory_mask)` with memory (B, S, D) and mask (B, S).
        states: dict of tensors: weights (B, S), center (B,), time (B,).

    Returns:
        Context (B, D), weights (B, S), states.

    Raises:
        InputError: `kinds` or a size is out of range.

    Example:

    ```python
    cell = kzoo.layers.SeekAttention()
    cell.build((None, 6), (None, None, 6))
    prepared = cell.prepare(np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool))
    context, weights, states = cell(np.ones((2, 6), "float32"), prepared, cell.get_initial_state(prepared))
    assert context.shape == (2, 6) and weights.shape == (2, 5)
    ```
    """

    def __init__(
        self,
        kinds: int = 4,
        units: int | None = None,
        value_units: int | None = None,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(units, value_units, dtype, **kwargs)
        self.kinds = checks.integer("kinds", kinds, 1, 32)

    def build_weights(self, query_shape: Shape, memory_shape: Shape) -> None:
        self.mark = self.linear(self.kinds, memory_shape[-1])
        self.build_moves(query_shape, 1 + 2 * (self.kinds + 1))
        self.moves.bias.assign([PATIENCE, *[0.0] * (2 * self.kinds + 2)])

    def prepare_weights(self, memory: Tensor, memory_mask: Tensor, summary: Tensor) -> Prepared:
        found = normalized_positions(memory_mask)
        marks = ops.transpose(ops.cast(self.mark(memory), "float32"), [0, 2, 1])
        marks = ops.concatenate([marks, ALWAYS * ops.ones_like(marks[:, :1])], axis=1)
        size = ops.shape(memory_mask)[1]
        indices = ops.arange(size, dtype="int32")
        later = (indices[None, :] > indices[:, None])[None, None]  # (1, 1, S, S): whether j > i
        passed = ops.where(later, ops.log_sigmoid(-marks)[:, :, None], 0.0)
        between = ops.where(later, ops.exp(ops.cumsum(passed, axis=3) - passed), 0.0)
        widths = ops.where(memory_mask[:, None], ops.sigmoid(marks), 0.0)[:, :, None]
        first = ops.cast(ops.zeros_like(memory_mask[:, :1], dtype="int32") == indices[None], "float32")
        ways = ops.concatenate([between * widths, ops.swapaxes(between, 2, 3) * widths], axis=1)
        left = ops.relu(1.0 - ops.sum(ways, axis=3, keepdims=True))
        return {"ways": ways + left * first[:, None, None], "first": first, "positions": found["positions"]}

    def reached(self, prepared: Prepared, weights: Tensor) -> Tensor:
        nearest = ops.einsum("bs,bkst->bkt", weights, prepared["ways"])
        return ops.concatenate([weights[:, None], nearest], axis=1)

    def get_config(self) -> Config:
        return {**super().get_config(), "kinds": self.kinds}


alias("attention", "seek", "SeekAttention")
