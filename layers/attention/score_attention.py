"""Attention by score: what content-based mechanisms share."""

from typing import Any

from keras import ops

from kzoo.layers.attention.attention_cell import AttentionCell, Tensors


class ScoreAttention(AttentionCell):
    """Base of the mechanisms that score every position of the memory and take the softmax of the scores.

    A subclass implements `build_weights`, `prepare_weights` and `score(query, prepared, states)`.
    """

    def score(self, query: Any, prepared: Tensors, states: Tensors) -> Any:
        """Returns the scores, float32 of shape (B, S).

        Args:
            query: tensor of shape (B, D).
            prepared: dict, from `prepare`.
            states: dict with `time` (B,), the number of steps made.
        """
        raise NotImplementedError

    def weigh(self, query: Any, prepared: Tensors, states: Tensors) -> tuple[Any, Tensors]:
        return masked_softmax(self.score(query, prepared, states), prepared["mask"]), states


def masked_softmax(scores: Any, mask: Any) -> Any:
    """Returns the softmax over the real positions, exactly 0 at pads.

    Args:
        scores: float tensor of shape (B, S), finite.
        mask: bool tensor of shape (B, S), True at real positions; every row has at least one.
    """
    return ops.softmax(ops.where(mask, scores, -1e30), axis=-1)
