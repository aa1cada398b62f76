"""Relative positions in the scores."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Tensor
from kzoo.errors import InputError
from kzoo.layers.bias.attention_bias import AttentionBias
from kzoo.layers.bias.bias_inputs import BiasInputs
from kzoo.layers.functional.dense import dense, glorot
from kzoo.layers.functional.sinusoid import angles, check_even, interleave, sinusoid
from kzoo.layers.functional.windows import windows
from kzoo.registry import alias, register


@register("bias")
class RelativeBias(AttentionBias):
    """Scores how far a key is from the query, as Transformer-XL does.

    From [Dai et al., 2019](https://arxiv.org/abs/1901.02860), section 3.3, as
    [Csordas et al., 2022](https://arxiv.org/abs/2110.07732), Eq. 17 (b, d), has it. With q_i the query and p_d the
    sinusoid of the signed distance d:

        bias_ij = scale * (q_i + b_P) . W_P p_(j-i)

    W_P is `distance`, b_P `distance_bias`, and scale that of the attention. The global content bias, term (c), is the
    attention's `query_bias`. The sinusoids are computed: there is no longest distance.

    Args:
        dropout: float. Rate on the projected positions while training. Defaults to 0.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        inputs: BiasInputs; it uses the lengths, `queries`, `scale`, `places`, and `query_offset`, with which T must be
            1.
        training: bool.

    Returns:
        Tensor of shape (B, N, T, S).

    Raises:
        InputError: the size of the states is odd, or the rate is out of range.

    Example:

    ```python
    attention = kzoo.layers.MultiHeadAttention(heads=2, bias="relative")
    output, weights = attention(np.ones((3, 5, 6), "float32"))
    assert weights.shape == (3, 2, 5, 5)
    ```

    Differences from the paper: the distance is key minus query, as in the authors' code (the sign is a convention);
    dropout falls on the projected positions, as in their code, where the paper has the query. With `places` there is no
    dropout.
    """

    needs: tuple[str, ...] = ("queries",)

    def __init__(self, dropout: float = 0.0, dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.dropout = keras.layers.Dropout(checks.number("dropout", dropout, 0.0, 0.99), dtype=self.dtype_policy)

    def build(self, states_shape: Shape, queries_shape: Shape) -> None:
        self.size, (_, self.heads, _, self.head_units) = states_shape[-1], queries_shape
        check_even(self.size, "the size of the states")
        units, bound = self.heads * self.head_units, glorot(self.size, self.heads * self.head_units)
        self.distance = dense(units, self.size, bound, use_bias=False, dtype=self.dtype_policy)
        self.distance.build((None, self.size))
        shape = (self.heads, 1, self.head_units)
        self.distance_bias = self.add_weight(shape, initializer="zeros", name="distance_bias")
        self.built = True

    def call(self, inputs: BiasInputs, training: bool = False) -> Tensor:
        if inputs.places is not None:
            return self.at_places(inputs) * inputs.scale
        if inputs.query_offset is not None:
            self.check_one(inputs)
            return self.one_query(inputs) * inputs.scale
        scores = self.position_scores(inputs.query_length, inputs.key_length, inputs.queries, training)
        return windows(scores, 1, inputs.key_length) * inputs.scale

    def largest_activation(self, length: int) -> int:
        """Returns the numbers of the scores of each query with each distance, of so many queries and keys."""
        return int(self.heads) * 2 * length**2

    def check_one(self, inputs: BiasInputs) -> None:
        """Raises `InputError` if there are several queries a row."""
        if isinstance(inputs.query_length, int) and inputs.query_length != 1:
            raise InputError(
                f"{type(self).__name__} takes one query at a time with an offset, not {inputs.query_length}"
            )

    def one_query(self, inputs: BiasInputs) -> Tensor:
        """Returns the scores (B, N, 1, S) of one query a row, at its offset, with the cached keys of a decoder."""
        distances = inputs.key_positions() - inputs.query_positions()
        keys = sinusoid(ops.cast(distances, "float32"), self.size)
        return ops.einsum("bntd,bsd->bnts", self.of_sinusoids(inputs.queries), keys)

    def at_places(self, inputs: BiasInputs) -> Tensor:
        """Returns the scores (B, N, T, S) of queries and keys at places of their own.

        The sinusoid of a difference is that of the key, turned by the query's place: nothing is computed for each pair.
        """
        scores = self.of_sinusoids(inputs.queries)
        sines, cosines = scores[..., 0::2], scores[..., 1::2]
        own = angles(ops.cast(inputs.query_places(), "float32"), self.size)[:, None]
        turned = interleave(
            sines * ops.cos(own) + cosines * ops.sin(own), cosines * ops.cos(own) - sines * ops.sin(own)
        )
        keys = sinusoid(ops.cast(inputs.key_places(), "float32"), self.size)
        return ops.einsum("bntd,bsd->bnts", turned, keys)

    def of_sinusoids(self, queries: Tensor) -> Tensor:
        """Returns what each query multiplies a distance's sinusoid by, float32 (B, N, T, D)."""
        kernel = ops.reshape(ops.cast(self.distance.kernel, "float32"), (self.size, self.heads, self.head_units))
        biased = ops.cast(queries + ops.cast(self.distance_bias, queries.dtype), "float32")
        return ops.einsum("bnth,dnh->bntd", biased, kernel)

    def position_scores(self, query_length: int, key_length: int, queries: Tensor, training: bool) -> Tensor:
        """Returns the score of each query with each distance from -(T - 1) to S, of shape (B, N, T, T + S)."""
        distances = ops.cast(ops.arange(1 - query_length, key_length + 1, dtype="int32"), "float32")
        projected = self.distance(ops.cast(sinusoid(distances, self.size), self.compute_dtype))
        keys = ops.reshape(self.dropout(projected, training=training), (-1, self.heads, self.head_units))
        return ops.einsum("bnth,rnh->bntr", queries + self.distance_bias, keys)

    def get_config(self) -> Config:
        return {**super().get_config(), "dropout": self.dropout.rate}


alias("bias", "relative", "RelativeBias")
