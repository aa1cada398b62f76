"""Additive attention."""

from typing import Any

from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, Shape, States, Tensor
from kzoo.layers.attention.score_attention import ScoreAttention
from kzoo.layers.functional.dense import dense
from kzoo.registry import alias, register


@register("attention")
class AdditiveAttention(ScoreAttention):
    """Content attention that scores each pair of query and memory by a small network.

    From [Dubois et al., 2020](https://arxiv.org/abs/1911.03872), Eq. 2-3 (after Bahdanau et al., 2015). With h the
    query, e_s the memory and u the paper's u ("energy"):

        score_s = u . tanh(W_q h + b + W_k e_s)

    Args:
        hidden_units: int. Size of u. Defaults to 32, the authors' value.
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
    cell = kzoo.layers.AdditiveAttention(hidden_units=3)
    cell.build((None, 6), (None, None, 4))
    prepared = cell.prepare(np.ones((2, 5, 4), "float32"), np.ones((2, 5), bool))
    context, weights, states = cell(np.ones((2, 6), "float32"), prepared, cell.get_initial_state(prepared))
    assert weights.shape == (2, 5) and abs(float(weights[0, 0]) - 1 / 5) < 1e-6
    ```

    Differences: the paper's formula sets the two maps side by side inside the tanh, where the softmax cancels the
    query's part and nothing depends on the query; like the authors' code, this adds them. The code's constant after u
    is left out, for the softmax cancels it too.
    """

    def __init__(
        self,
        hidden_units: int = 32,
        units: int | None = None,
        value_units: int | None = None,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(units, value_units, dtype, **kwargs)
        self.hidden_units = checks.integer("hidden_units", hidden_units, 1, 4096)

    def build_weights(self, query_shape: Shape, memory_shape: Shape) -> None:
        self.query = dense(self.hidden_units, query_shape[-1], dtype=self.dtype_policy)
        self.key = dense(self.hidden_units, memory_shape[-1], use_bias=False, dtype=self.dtype_policy)
        self.energy = dense(1, self.hidden_units, use_bias=False, dtype=self.dtype_policy)
        self.query.build((None, query_shape[-1]))
        self.key.build((None, None, memory_shape[-1]))
        self.energy.build((None, None, self.hidden_units))

    def prepare_weights(self, memory: Tensor, memory_mask: Tensor, summary: Tensor) -> Prepared:
        return {"keys": self.key(memory)}

    def score(self, query: Tensor, prepared: Prepared, states: States) -> Tensor:
        hidden = ops.tanh(self.query(query)[:, None, :] + prepared["keys"])
        return ops.cast(self.energy(hidden), "float32")[:, :, 0]

    def get_config(self) -> Config:
        return {**super().get_config(), "hidden_units": self.hidden_units}


alias("attention", "additive", "AdditiveAttention")
