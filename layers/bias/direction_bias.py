"""Direction encoding: left or right."""

from keras import ops

from kzoo.annotations import Shape, Tensor
from kzoo.layers.bias.attention_bias import AttentionBias
from kzoo.layers.bias.bias_inputs import BiasInputs
from kzoo.layers.functional.dense import dense
from kzoo.registry import alias, register


@register("bias")
class DirectionBias(AttentionBias):
    """Gives the keys on either side of a query a bias of their own, whatever their distance.

    From [Csordas et al., 2022](https://arxiv.org/abs/2110.07732), Eq. 9-10. With x_i the state of the query:

        D_ij = w_right . x_i + b_right for j > i,   w_left . x_i + b_left for j < i,   0 for j = i
        bias_ij = beta D_ij + gamma

    beta is `scale`, gamma `offset`; w and b are `direction`, a pair (left, right) a head. The offset moves all scores
    of a geometric attention, and changes nothing under a softmax.

    Call arguments:
        inputs: BiasInputs; it uses the lengths, `states` and `query_offset`.

    Returns:
        Tensor of shape (B, N, T, S).

    Example:

    ```python
    attention = kzoo.layers.MultiHeadAttention(heads=2, bias="direction", weighting="geometric")
    output, weights = attention(np.ones((3, 5, 6), "float32"))
    assert weights.shape == (3, 2, 5, 5)
    ```

    Differences from the paper, as in the authors' code: w and b are a head's own, beta and gamma are shared by all
    heads; the diagonal, which geometric attention leaves out, has no direction.
    """

    needs = ("states",)

    def build(self, states_shape: Shape, queries_shape: Shape) -> None:
        self.heads = queries_shape[1]
        self.direction = dense(2 * self.heads, states_shape[-1], states_shape[-1] ** -0.5, dtype=self.dtype_policy)
        self.direction.build(states_shape)
        self.scale = self.add_weight((1,), initializer="ones", name="scale")
        self.offset = self.add_weight((1,), initializer="zeros", name="offset")
        self.built = True

    def call(self, inputs: BiasInputs, training: bool = False) -> Tensor:
        batch = ops.shape(inputs.states)[0]
        pairs = self.scale * self.direction(inputs.states) + self.offset
        pairs = ops.transpose(ops.reshape(pairs, (batch, inputs.query_length, self.heads, 2)), (0, 2, 1, 3))
        queries, keys = inputs.query_positions()[:, None, :, None], inputs.key_positions()
        left, right, here = (ops.cast(x, pairs.dtype) for x in (keys < queries, keys > queries, keys == queries))
        return pairs[..., :1] * left + pairs[..., 1:] * right + self.offset * here


alias("bias", "direction", "DirectionBias")
