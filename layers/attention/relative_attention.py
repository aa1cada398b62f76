"""Relative attention."""

from keras import ops

from kzoo.annotations import Prepared, Shape, States, Tensor
from kzoo.layers.attention.content_attention import ContentAttention
from kzoo.layers.functional.dense import dense
from kzoo.layers.functional.sinusoid import angles, check_even, rotate, sinusoid
from kzoo.registry import alias, register


@register("attention")
class RelativeAttention(ContentAttention):
    """Content attention that also scores how far a position is from the current step.

    From [Ray Chowdhury and Caragea, 2023](https://arxiv.org/abs/2305.20019), section 4.2, Eq. 3-4 (the terms of
    [Transformer-XL](https://arxiv.org/abs/1901.02860)). With q the projected query, k_i the keys, t the step and
    r_d the sinusoid of the distance d, steps and positions counted from 0:

        c_i = ((q + b_1) . k_i + (q + b_2) . W_r r_{i-t}) / sqrt(units)

    b_1 is `content_bias`, b_2 `distance_bias`, W_r `distance`. The paper's Bi-Relative is the name "bi_relative".

    A sinusoid of a sum of angles is a rotation, so (q + b_2) . W_r r_{i-t} is the dot product of r_i with
    W_r^T (q + b_2) rotated back by t. The r_i are computed once a sequence; there is no table and no longest distance.

    Args:
        units: int. Size of queries, keys and the value head. Defaults to the query's.
        value_units: int. Size of the hidden layer before the values. Defaults to the memory's.
        dtype: str or DTypePolicy. Scores are float32 under any.

    Call arguments:
        query: tensor of shape (B, D).
        prepared: dict, from `prepare(memory, memory_mask)` with memory (B, S, D), D even, and mask (B, S).
        states: dict with `time` (B,), from `get_initial_state` or the last call.

    Returns:
        Context (B, D), weights (B, S), states.

    Raises:
        InputError: a size is out of range, or that of the memory is odd.

    Example:

    ```python
    cell = kzoo.layers.RelativeAttention()
    cell.build((None, 6), (None, None, 6))
    prepared = cell.prepare(np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool))
    context, weights, states = cell(np.ones((2, 6), "float32"), prepared, cell.get_initial_state(prepared))
    assert weights.shape == (2, 5)
    ```

    Differences from the paper, as in the authors' code: W_r, which the paper's formula leaves out. Their code stores
    the sinusoids of distances from -5,000 to 5,000 and fails beyond.
    """

    def build_weights(self, query_shape: Shape, memory_shape: Shape) -> None:
        check_even(memory_shape[-1], "the size of the memory")
        super().build_weights(query_shape, memory_shape)
        self.distance_size = memory_shape[-1]
        self.distance = dense(self.key_units, self.distance_size, use_bias=False, dtype=self.dtype_policy)
        self.distance.build((None, self.distance_size))
        for name in ("content_bias", "distance_bias"):
            setattr(self, name, self.add_weight((self.key_units,), initializer="zeros", autocast=False, name=name))

    def prepare_weights(self, memory: Tensor, memory_mask: Tensor, summary: Tensor) -> Prepared:
        positions = ops.arange(ops.shape(memory)[1], dtype="float32")
        return {"keys": self.project_keys(memory), "sinusoids": sinusoid(positions, self.distance_size)}

    def score(self, query: Tensor, prepared: Prepared, states: States) -> Tensor:
        projected = self.project_query(query, states["time"])
        content = ops.einsum("bd,bsd->bs", projected + self.content_bias, prepared["keys"])
        kernel = ops.cast(self.distance.kernel, "float32")
        wanted = ops.matmul(projected + self.distance_bias, ops.transpose(kernel))
        wanted = rotate(wanted, -angles(states["time"], self.distance_size))
        return (content + ops.matmul(wanted, ops.transpose(prepared["sinusoids"]))) / self.key_units**0.5


alias("attention", "relative", "RelativeAttention")
alias("attention", "bi_relative", "DirectionMix", attention="RelativeAttention")
