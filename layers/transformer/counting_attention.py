"""Attention some heads of which count what matches."""

import math
from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Spec, Tensor
from kzoo.errors import InputError
from kzoo.layers.transformer.multi_head_attention import MultiHeadAttention
from kzoo.registry import alias, register


@register("multi_head")
class CountingAttention(MultiHeadAttention):
    """Multi-head attention whose last heads add up what matches, where the others average it.

    A mechanism of this project. A softmax gives the share of the keys that match, and a difference of one between two
    counts changes the share the less the longer the sequence is. A counting head does not divide. With z the scores, c
    the trained offset of the head and k the sharpness:

        P_ij = sigmoid(k (z_ij + c)),   count_i = sum over unmasked j of P_ij tanh(k v_j),   output_i = tanh(2 count_i)

    Where P and tanh(k v) are near 0, 1 and -1, `count` is near a whole number, and what tells 1 from 0 is the same at
    any length. While training, k is drawn for each sequence, log-uniform between 1 and `sharpness`; otherwise it is
    `sharpness`. Training at k = 1 moves scores and values so far from 0 that beyond it little is left of what does not
    match.

    Weights without a sum of one are those of sigmoid attention
    ([Ramapuram et al., 2024](https://arxiv.org/abs/2409.04431)), which divides by the length instead; for counts by
    attention without normalisation see [Yang and Chiang, 2024](https://arxiv.org/abs/2404.04393).

    Args:
        heads: int. Number of heads N, 2 or more. Defaults to 2.
        counting: int. So many heads, the last, count; 1 to N - 1. Defaults to 1.
        sharpness: float. k, 1 to 1,000. Defaults to 4.
        weighting: name, config or object of the kind "weighting", of the other heads. Defaults to "entmax", which
            gives nothing to keys far below the best.
        head_units, position, bias, query_bias, trainable_scale, initialization, dropout, dtype: as of
            `MultiHeadAttention`.

    Call arguments:
        inputs: tensor of shape (B, T, D); this and the others as of `MultiHeadAttention`.

    Returns:
        The output, of shape (B, T, D), and the weights, float32 of shape (B, N, T, S); those of counting heads, P, do
        not sum to one.

    Raises:
        InputError: an argument is out of range, or a part is unknown.

    Example:

    ```python
    attention = kzoo.layers.CountingAttention(heads=3, head_units=4)
    output, weights = attention(np.ones((2, 5, 6), "float32"), mask=np.ones((2, 5), bool))
    assert output.shape == (2, 5, 6) and weights.shape == (2, 3, 5, 5)
    ```
    """

    def __init__(
        self,
        heads: int = 2,
        counting: int = 1,
        sharpness: float = 4.0,
        weighting: Spec = "entmax",
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(heads=heads, weighting=weighting, dtype=dtype, **kwargs)
        if self.heads < 2:
            raise InputError("counting attention needs 2 heads or more, as one does not count")
        self.counting = checks.integer("counting", counting, 1, self.heads - 1)
        self.sharpness = checks.number("sharpness", sharpness, 1.0, 1000.0)
        if self.sharpness > 1:
            self.seeds = keras.random.SeedGenerator()

    def build(self, inputs_shape: Shape, memory_shape: Shape | None = None, mask_shape: Shape | None = None) -> None:
        # Matches are rare: without this offset all heads would count all keys at first.
        start = keras.initializers.Constant(-2.0)
        self.offset = self.add_weight((self.counting, 1, 1), initializer=start, name="offset")
        super().build(inputs_shape, memory_shape, mask_shape)

    def read(
        self, scores: Tensor, values: Tensor, mask: Tensor, training: bool = False, **own: Tensor
    ) -> tuple[Tensor, Tensor]:
        others = self.heads - self.counting
        context, weights = super().read(scores[:, :others], values[:, :others], mask, training, **own)
        sharpness: Tensor = self.sharpness
        if training and self.sharpness > 1:
            drawn = keras.random.uniform((ops.shape(scores)[0], 1, 1, 1), dtype="float32", seed=self.seeds)
            sharpness = ops.exp(math.log(self.sharpness) * drawn)
        offset = ops.cast(self.offset, "float32")
        matches = ops.sigmoid(sharpness * (scores[:, others:] + offset)) * ops.cast(mask, "float32")
        signs = ops.tanh(sharpness * ops.cast(values[:, others:], "float32"))
        counts = ops.tanh(2.0 * ops.einsum("bnts,bnsh->btnh", matches, signs))
        return ops.concatenate([context, ops.cast(counts, context.dtype)], 2), ops.concatenate([weights, matches], 1)

    def get_config(self) -> Config:
        return {**super().get_config(), "counting": self.counting, "sharpness": self.sharpness}


alias("multi_head", "counting", "CountingAttention")
