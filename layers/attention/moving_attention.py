"""Attention that moves from where it was."""

import keras
from keras import ops

from kzoo.annotations import Prepared, Shape, States, Tensor
from kzoo.errors import lacks
from kzoo.layers.attention.attention_cell import AttentionCell
from kzoo.layers.functional.dense import dense
from kzoo.layers.functional.masked_softmax import masked_softmax

SMALLEST = 1e-9  # added to what a logarithm is taken of


class MovingAttention(AttentionCell):
    """Base of the location attentions whose next weights are a mix of moves from the last ones, then sharpened.

    With h the query, r_k where move k leads to, and s the attribute `sharpness`:

        l       = W_l h + b_l                                           "location"
        p       = softmax(W_p l + b_p)                                  "moves"
        gamma   = s + softplus(w_gamma . l + b_gamma)                   "gamma"
        m       = sum_k p_k r_k
        a'_j    = m_j^gamma / sum_i m_i^gamma

    A mechanism implements `reached`, calls `build_moves`, and prepares `first`, weights (B, S) on the first position,
    and `positions` (B, S), 0 at the first and 1 at the last. The states have `weights`, a, and `center`, the mean
    position of the weights.
    """

    sharpness = 1.0

    def linear(self, size: int, of: int) -> keras.layers.Dense:
        """Returns a linear map with its variables."""
        layer = dense(size, of, dtype=self.dtype_policy)
        layer.build((None, of))
        return layer

    def build_moves(self, query_shape: Shape, moves: int) -> None:
        """Builds what chooses among so many moves."""
        units = self.units or query_shape[-1]
        self.location = self.linear(units, query_shape[-1])
        self.moves = self.linear(moves, units)
        self.gamma = self.linear(1, units)

    def get_initial_state(self, prepared: Prepared) -> States:
        states = super().get_initial_state(prepared)
        return {**states, "weights": prepared["first"], "center": ops.zeros_like(states["time"])}

    def weigh(self, query: Tensor, prepared: Prepared, states: States) -> tuple[Tensor, States]:
        features = self.location(query)
        moves = ops.softmax(ops.cast(self.moves(features), "float32"), axis=1)
        gamma = self.sharpness + ops.softplus(ops.cast(self.gamma(features), "float32"))
        moved = ops.einsum("bm,bms->bs", moves, self.reached(prepared, states["weights"]))
        weights = masked_softmax(gamma * ops.log(moved + SMALLEST), prepared["mask"])
        center = ops.sum(weights * prepared["positions"], axis=1)
        return weights, {**states, "weights": weights, "center": center}

    def reached(self, prepared: Prepared, weights: Tensor) -> Tensor:
        """Returns where each move leads to from weights (B, S), of shape (B, moves, S)."""
        raise lacks(self, "reached")
