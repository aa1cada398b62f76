"""Attention by location: a Gaussian over the positions of the memory."""

from typing import Any

import keras
from keras import ops

from kzoo.annotations import Prepared, Shape, States, Tensor
from kzoo.errors import lacks
from kzoo.layers.attention.attention_cell import AttentionCell
from kzoo.layers.functional.dense import dense, uniform
from kzoo.layers.functional.masked_softmax import masked_softmax

SMALLEST_SPREAD = 0.27  # in positions; the Gaussian then holds 0.998 of its mass on an integer centre


class GaussianAttention(AttentionCell):
    """Base of the location-based mechanisms: the position to attend to is computed from the query and the last one.

    With S real positions, boundary vectors included, position i is normalised to n_i = i / (S - 1). A mechanism
    computes a centre mu from the query and from the last position pa; the weights are a Gaussian around it
    ([Ray Chowdhury and Caragea, 2023](https://arxiv.org/abs/2305.20019), section 4.3, Eq. 6-7 and 9-10, after
    [Dubois et al., 2020](https://arxiv.org/abs/1911.03872), section 5.1). With h the query:

        l      = W_l h + b_l                              "location"
        sigma  = (ReLU(w_sigma . l) + 0.27) / S           "spread"
        a_i    = softmax_i(-(n_i - mu)^2 / (2 sigma^2))
        pa'    = sum_i a_i n_i                            "position"

    A subclass implements `build_center(units)` and `center(features, prepared, states)`.

    Differences from the papers' code: it normalises in linear space, where the whole Gaussian underflows once mu is
    four positions beyond an end (attention all zero, the pointer back at the start, gradients NaN). The log space used
    here agrees wherever that one is defined, and beyond attends to the nearest position, with finite gradients.
    """

    def build_weights(self, query_shape: Shape, memory_shape: Shape) -> None:
        units = self.build_features(query_shape[-1])
        self.spread = dense(1, units, use_bias=False, dtype=self.dtype_policy)
        self.spread.build((None, units))
        self.build_center(units)

    def build_features(self, size: int) -> int:
        """Builds what makes location features of a query of size `size`; returns their size."""
        units = self.units or size
        self.location = dense(units, size, dtype=self.dtype_policy)
        self.location.build((None, size))
        return units

    def features(self, query: Tensor, states: States) -> tuple[Tensor, States]:
        """Returns the location features l of shape (B, units), and the states."""
        return self.location(query), states

    def build_center(self, units: int) -> None:
        """Builds what `center` needs over location features of size `units`."""
        raise lacks(self, "build_center")

    def center(self, features: Tensor, prepared: Prepared, states: States) -> Tensor:
        """Returns the centre mu of shape (B,), 0 at the first position and 1 at the last.

        Args:
            features: tensor of shape (B, units), the location features l.
            prepared: dict with `length` (B,), the number of real positions S, and `step` (B,), 1 / (S - 1).
            states: dict with `position` (B,), pa of the last step, and `time` (B,), the number of steps made.
        """
        raise lacks(self, "center")

    def prepare_weights(self, memory: Tensor, memory_mask: Tensor, summary: Tensor) -> Prepared:
        return normalized_positions(memory_mask)

    def get_initial_state(self, prepared: Prepared) -> States:
        zero = ops.zeros_like(prepared["length"])
        return {**super().get_initial_state(prepared), "position": zero, "center": zero, "spread": zero}

    def spread_of(self, features: Tensor, prepared: Prepared) -> Tensor:
        """Returns sigma of shape (B,)."""
        return (ops.relu(scalar(self.spread, features)) + SMALLEST_SPREAD) / prepared["length"]

    def weigh(self, query: Tensor, prepared: Prepared, states: States) -> tuple[Tensor, States]:
        features, states = self.features(query, states)
        spread = self.spread_of(features, prepared)
        center = self.center(features, prepared, states)
        weights = gaussian(prepared["positions"], center, spread, prepared["mask"])
        return weights, {**states, "center": center, "spread": spread}

    def advance(self, weights: Tensor, prepared: Prepared, states: States) -> States:
        return {**states, "position": ops.sum(weights * prepared["positions"], axis=1)}


def normalized_positions(memory_mask: Tensor) -> Prepared:
    """Returns the number of real positions `length` S and the `step` 1 / (S - 1), each (B,), and the `positions` (B, S)
    from 0 at the first to 1 at the last real one.
    """
    length = ops.sum(ops.cast(memory_mask, "float32"), axis=1)
    step = 1.0 / ops.maximum(length - 1.0, 1.0)
    positions = ops.arange(ops.shape(memory_mask)[1], dtype="float32")[None, :] * step[:, None]
    return {"length": length, "step": step, "positions": positions}


def column(units: int, of: int, **kwargs: Any) -> keras.layers.Dense:
    """Returns a built map of `units` features to one number, with the initial values of a column among `of`."""
    bound = (6.0 / (of * (units + 1))) ** 0.5
    layer = keras.layers.Dense(1, use_bias=False, kernel_initializer=uniform(bound), **kwargs)
    layer.build((None, units))
    return layer


def scalar(layer: keras.layers.Layer, features: Tensor) -> Tensor:
    """Returns the one output of a layer for each row, float32 of shape (B,)."""
    return ops.cast(layer(features), "float32")[:, 0]


def gaussian(positions: Tensor, center: Tensor, spread: Tensor, mask: Tensor, log_shares: Tensor = 0.0) -> Tensor:
    """Returns a Gaussian over positions, normalised over the real ones.

    Args:
        positions: float tensor of shape (B, S), from 0 at the first to 1 at the last real position.
        center: tensor of shape (B,).
        spread: tensor of shape (B,), positive: the standard deviation.
        mask: bool tensor of shape (B, S).
        log_shares: tensor of shape (B, S), the logarithm of a factor for each position. Defaults to none.

    Returns:
        Tensor of shape (B, S), exactly 0 at pads, sums to 1. Finite, with finite gradients, for any centre.
    """
    # (n - mu)^2 without a term that all positions share: far outside it would cost the differences their precision.
    inside = ops.clip(center, 0.0, 1.0)[:, None]
    beyond = center[:, None] - inside
    spread = spread[:, None]
    distance = (positions - inside) / spread
    return masked_softmax(distance * (beyond / spread) - 0.5 * ops.square(distance) + log_shares, mask)
