"""Attention by score: what content-based mechanisms share."""

from kzoo.annotations import Prepared, States, Tensor
from kzoo.errors import lacks
from kzoo.layers.attention.attention_cell import AttentionCell
from kzoo.layers.functional.masked_softmax import masked_softmax


class ScoreAttention(AttentionCell):
    """Base of the mechanisms that score every position of the memory and take the softmax of the scores.

    A subclass implements `build_weights`, `prepare_weights` and `score(query, prepared, states)`.
    """

    def score(self, query: Tensor, prepared: Prepared, states: States) -> Tensor:
        """Returns the scores, float32 of shape (B, S).

        Args:
            query: tensor of shape (B, D).
            prepared: dict, from `prepare`.
            states: dict with `time` (B,), the number of steps made.
        """
        raise lacks(self, "score")

    def weigh(self, query: Tensor, prepared: Prepared, states: States) -> tuple[Tensor, States]:
        return masked_softmax(self.score(query, prepared, states), prepared["mask"]), states
