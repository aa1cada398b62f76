"""Attention by place: a Gaussian over the positions of the memory."""

from typing import Any

from keras import ops

from kzoo.layers.attention.attention_cell import AttentionCell, Tensors
from kzoo.layers.recurrent.dense import dense

SMALLEST_SPREAD = 0.27  # in positions; the Gaussian then holds 0.998 of its mass on an integer centre


class GaussianAttention(AttentionCell):
    """Base of the location-based mechanisms: where to look is computed, not looked up.

    With S real positions, boundary vectors included, position i stands at n_i = i / (S - 1). A mechanism proposes a
    centre mu from the query and from the last position pa; the weights are a Gaussian around it
    ([Dubois et al., 2020](https://arxiv.org/abs/1911.03872), Eq. 5-6;
    [Ray Chowdhury and Caragea, 2023](https://arxiv.org/abs/2305.20019), Eq. 17-18):

        l      = W_l h + b_l                              "location"
        sigma  = (ReLU(w_sigma . l) + 0.27) / S           "spread"
        a_i    = softmax_i(-(n_i - mu)^2 / (2 sigma^2))
        pa'    = sum_i a_i n_i                            "position"

    A subclass implements `center(features, prepared, states)` and declares `center_units`.

    Differences from the papers' code: it normalises in linear space, where the whole Gaussian underflows once mu is
    four positions beyond an end (attention all zero, the pointer back at the start, gradients NaN). The log space used
    here agrees wherever that one is defined and keeps looking at the nearest position beyond it, with finite gradients.
    """

    def build_weights(self, query_shape: Any, memory_shape: Any) -> None:
        size = query_shape[-1]
        units = self.units or size
        self.location = dense(units, size, dtype=self.dtype_policy)
        self.spread = dense(1, units, use_bias=False, dtype=self.dtype_policy)
        self.location.build((None, size))
        self.spread.build((None, units))
        self.build_center(units)

    def build_center(self, units: int) -> None:
        """Builds what `center` needs over location features of size `units`."""
        raise NotImplementedError

    def center(self, features: Any, prepared: Tensors, states: Tensors) -> Any:
        """Returns the centre mu of shape (B,), 0 at the first position and 1 at the last.

        Args:
            features: tensor of shape (B, units), the location features l.
            prepared: dict with `length` (B,), the number of real positions S, and `step` (B,), 1 / (S - 1).
            states: dict with `position` (B,), pa of the last step, and `time` (), the number of steps made.
        """
        raise NotImplementedError

    def prepare_weights(self, memory: Any, memory_mask: Any, summary: Any) -> Tensors:
        length = ops.sum(ops.cast(memory_mask, "float32"), axis=1)
        step = 1.0 / ops.maximum(length - 1.0, 1.0)
        places = ops.arange(ops.shape(memory_mask)[1], dtype="float32")[None, :] * step[:, None]
        return {"length": length, "step": step, "places": places}

    def get_initial_state(self, prepared: Tensors) -> Tensors:
        zero = ops.zeros_like(prepared["length"])
        return {"position": zero, "center": zero, "spread": zero, "time": zero}

    def weigh(self, query: Any, prepared: Tensors, states: Tensors) -> tuple[Any, Tensors]:
        features = self.location(query)
        raw = ops.cast(self.spread(features), "float32")[:, 0]
        spread = (ops.relu(raw) + SMALLEST_SPREAD) / prepared["length"]
        center = self.center(features, prepared, states)
        weights = gaussian(prepared["places"], center, spread, prepared["mask"])
        return weights, {**states, "center": center, "spread": spread, "time": states["time"] + 1.0}

    def advance(self, weights: Any, prepared: Tensors, states: Tensors) -> Tensors:
        return {**states, "position": ops.sum(weights * prepared["places"], axis=1)}


def gaussian(places: Any, center: Any, spread: Any, mask: Any) -> Any:
    """Returns a Gaussian over places, normalised over the real ones.

    Args:
        places: float tensor of shape (B, S).
        center: tensor of shape (B,).
        spread: tensor of shape (B,), positive: the standard deviation.
        mask: bool tensor of shape (B, S).

    Returns:
        Tensor of shape (B, S), exactly 0 at pads, sums to 1. Finite, with finite gradients, for any centre.
    """
    distance = (places - center[:, None]) / spread[:, None]
    scores = ops.where(mask, -0.5 * ops.square(distance), -1e30)
    return ops.softmax(scores, axis=-1)
