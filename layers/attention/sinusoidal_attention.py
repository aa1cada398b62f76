"""Content attention over absolute sinusoids."""

from keras import ops

from kzoo.annotations import Shape, Tensor
from kzoo.layers.attention.content_attention import ContentAttention
from kzoo.layers.functional.sinusoid import check_even, sinusoid
from kzoo.registry import alias, register


@register("attention")
class SinusoidalAttention(ContentAttention):
    """Content attention with absolute positions: sinusoids are added to the query and to the memory first.

    From [Dubois et al., 2020](https://arxiv.org/abs/1911.03872), Eq. 4, the "Transformer" scorer. With p the
    sinusoids, t the step and s the position, both counted from 0:

        score_s = (W_q (h + p_t)) . (W_k (e_s + p_s)) / sqrt(units)

    Args:
        units: int. Size of queries, keys and the value head. Defaults to the query's.
        value_units: int. Size of the hidden layer before the values. Defaults to the memory's.
        dtype: str or DTypePolicy. Scores are float32 under any.

    Call arguments:
        query: tensor of shape (B, D), D even.
        prepared: dict, from `prepare(memory, memory_mask)` with memory (B, S, D), D even, and mask (B, S).
        states: dict with `time` (B,), from `get_initial_state` or the last call.

    Returns:
        Context (B, D), weights (B, S), states.

    Raises:
        InputError: a size is out of range, or that of the query or the memory is odd.

    Example:

    ```python
    cell = kzoo.layers.SinusoidalAttention()
    cell.build((None, 6), (None, None, 6))
    prepared = cell.prepare(np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool))
    context, weights, states = cell(np.ones((2, 6), "float32"), prepared, cell.get_initial_state(prepared))
    assert weights.shape == (2, 5)
    ```

    Differences from the paper's formula, as in the authors' code: the sums are projected before the dot product; here
    without bias, as in `ContentAttention`, so that the two differ by the sinusoids alone.
    """

    def build_weights(self, query_shape: Shape, memory_shape: Shape) -> None:
        check_even(query_shape[-1], "the size of the query")
        check_even(memory_shape[-1], "the size of the memory")
        super().build_weights(query_shape, memory_shape)

    def project_keys(self, memory: Tensor) -> Tensor:
        positions = ops.arange(ops.shape(memory)[1], dtype="float32")
        return super().project_keys(ops.cast(memory, "float32") + sinusoid(positions, memory.shape[-1]))

    def project_query(self, query: Tensor, time: Tensor) -> Tensor:
        return super().project_query(ops.cast(query, "float32") + sinusoid(time, query.shape[-1]), time)


alias("attention", "transformer", "SinusoidalAttention")
