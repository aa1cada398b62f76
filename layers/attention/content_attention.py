"""Scaled dot-product attention."""

from keras import ops

from kzoo.annotations import Prepared, Shape, States, Tensor
from kzoo.layers.attention.score_attention import ScoreAttention
from kzoo.layers.functional.dense import dense
from kzoo.registry import alias, register


@register("attention")
class ContentAttention(ScoreAttention):
    """Content attention that scores by the scaled dot product of query and key.

    From [Ray Chowdhury and Caragea, 2023](https://arxiv.org/abs/2305.20019), section 4.1, Eq. 1-2; in
    [Dubois et al., 2020](https://arxiv.org/abs/1911.03872), Eq. 3. With h the query and e_i the memory:

        c_i = (W_q h) . (W_k e_i) / sqrt(units),   a = softmax(c)

    Args:
        units: int. Size of queries, keys and the value head. Defaults to the query's.
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
    cell = kzoo.layers.ContentAttention()
    cell.build((None, 6), (None, None, 6))
    prepared = cell.prepare(np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool))
    context, weights, states = cell(np.ones((2, 6), "float32"), prepared, cell.get_initial_state(prepared))
    assert weights.shape == (2, 5) and abs(float(weights[0, 0]) - 1 / 5) < 1e-6
    ```

    Differences: Dubois' dot product takes query and memory as they are; here, as in Ray Chowdhury and Caragea, both
    are projected, without bias.
    """

    def build_weights(self, query_shape: Shape, memory_shape: Shape) -> None:
        self.key_units = self.units or query_shape[-1]
        self.query = dense(self.key_units, query_shape[-1], use_bias=False, dtype=self.dtype_policy)
        self.key = dense(self.key_units, memory_shape[-1], use_bias=False, dtype=self.dtype_policy)
        self.query.build((None, query_shape[-1]))
        self.key.build((None, None, memory_shape[-1]))

    def prepare_weights(self, memory: Tensor, memory_mask: Tensor, summary: Tensor) -> Prepared:
        return {"keys": self.project_keys(memory)}

    def project_keys(self, memory: Tensor) -> Tensor:
        """Returns the keys, float32 of shape (B, S, units)."""
        return ops.cast(self.key(memory), "float32")

    def project_query(self, query: Tensor, time: Tensor) -> Tensor:
        """Returns the query, float32 of shape (B, units), at the step `time` (B,)."""
        return ops.cast(self.query(query), "float32")

    def score(self, query: Tensor, prepared: Prepared, states: States) -> Tensor:
        projected = self.project_query(query, states["time"])
        return ops.einsum("bd,bsd->bs", projected, prepared["keys"]) / self.key_units**0.5


alias("attention", "content", "ContentAttention")
