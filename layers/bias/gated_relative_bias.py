"""A choice between relative and absolute positions."""

from keras import ops

from kzoo.annotations import Shape, Tensor
from kzoo.errors import InputError
from kzoo.layers.bias.bias_inputs import BiasInputs
from kzoo.layers.bias.relative_bias import RelativeBias
from kzoo.layers.functional.dense import dense
from kzoo.layers.functional.windows import windows
from kzoo.registry import alias, register


@register("bias")
class GatedRelativeBias(RelativeBias):
    """Lets each query choose between the relative and the absolute position of a key.

    From [Csordas et al., 2022](https://arxiv.org/abs/2110.07732), Appendix B, Eq. 16-17. With x_i the state of the
    query, q_i the query and p the sinusoid of a position, counted from 0, or of a signed distance:

        r_i = sigmoid(w . x_i + b)
        bias_ij = scale * (q_i + b_P) . W_P (r_i p_(j-i) + (1 - r_i) p_j)

    w and b are `gate`; the rest is as in `RelativeBias`.

    Args:
        dropout: float. Rate on the projected positions while training. Defaults to 0.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        inputs: BiasInputs; it uses the lengths, `states`, `queries`, `scale` and `query_offset`, with which T
            must be 1.
        training: bool.

    Returns:
        Tensor of shape (B, N, T, S).

    Raises:
        InputError: the size of the states is odd, or the rate is out of range.

    Example:

    ```python
    attention = kzoo.layers.MultiHeadAttention(heads=2, bias="gated_relative")
    output, weights = attention(np.ones((3, 5, 6), "float32"))
    assert weights.shape == (3, 2, 5, 5)
    ```

    Differences from the paper, as in the authors' code: each head has a gate of its own, where the paper has one
    scalar.
    """

    needs = ("states", "queries")

    def build(self, states_shape: Shape, queries_shape: Shape) -> None:
        super().build(states_shape, queries_shape)
        self.gate = dense(self.heads, states_shape[-1], states_shape[-1] ** -0.5, dtype=self.dtype_policy)
        self.gate.build(states_shape)

    def call(self, inputs: BiasInputs, training: bool = False) -> Tensor:
        if inputs.places is not None:
            raise InputError("GatedRelativeBias counts columns: it does not go with an encoding that gives places")
        rows, columns = inputs.query_length, inputs.key_length
        if inputs.query_offset is not None:
            self.check_one(inputs)
        scores = self.position_scores(rows, columns, inputs.queries, training)
        relative = windows(scores, 1, columns) if inputs.query_offset is None else self.one_query(inputs)
        absolute = scores[..., rows - 1 : rows - 1 + columns]  # the distances from 0 on
        gate = ops.transpose(ops.sigmoid(self.gate(inputs.states)), (0, 2, 1))[..., None]
        return (gate * relative + (1.0 - gate) * absolute) * inputs.scale


alias("bias", "gated_relative", "GatedRelativeBias")
