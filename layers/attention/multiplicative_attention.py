"""Multiplicative attention."""

from keras import ops

from kzoo.annotations import Prepared, Shape, States, Tensor
from kzoo.layers.attention.score_attention import ScoreAttention
from kzoo.layers.functional.dense import dense
from kzoo.registry import alias, register


@register("attention")
class MultiplicativeAttention(ScoreAttention):
    """Content attention that scores by the dot product of the memory with a linear map of the query.

    From [Dubois et al., 2020](https://arxiv.org/abs/1911.03872), Eq. 2-3 (after Luong et al., 2015). With h the
    query and e_s the memory, which is the key as it is:

        score_s = e_s . (W h + b)

    Args:
        units: int. Size of the value head. Defaults to the query's.
        value_units: int. Size of the hidden layer before the values. Defaults to the memory's.
        dtype: str or DTypePolicy. Scores are float32 under any.

    Call arguments:
        query: tensor of shape (B, D).
        prepared: dict, from `prepare(memory, memory_mask)` with memory (B, S, D) and mask (B, S).
        states: dict with `time` (B,), from `get_initial_state` or the last call.

    Returns:
        Context (B, D), weights (B, S), states.

    Raises:
        InputError: a size is out of range.

    Example:

    ```python
    cell = kzoo.layers.MultiplicativeAttention()
    cell.build((None, 6), (None, None, 4))
    prepared = cell.prepare(np.ones((2, 5, 4), "float32"), np.ones((2, 5), bool))
    context, weights, states = cell(np.ones((2, 6), "float32"), prepared, cell.get_initial_state(prepared))
    assert weights.shape == (2, 5) and abs(float(weights[0, 0]) - 1 / 5) < 1e-6
    ```

    Differences: the paper's formula has no b, its code has.
    """

    def build_weights(self, query_shape: Shape, memory_shape: Shape) -> None:
        self.query = dense(memory_shape[-1], query_shape[-1], dtype=self.dtype_policy)
        self.query.build((None, query_shape[-1]))

    def prepare_weights(self, memory: Tensor, memory_mask: Tensor, summary: Tensor) -> Prepared:
        return {"keys": ops.cast(memory, "float32")}

    def score(self, query: Tensor, prepared: Prepared, states: States) -> Tensor:
        return ops.einsum("bd,bsd->bs", ops.cast(self.query(query), "float32"), prepared["keys"])


alias("attention", "multiplicative", "MultiplicativeAttention")
