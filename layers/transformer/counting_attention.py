"""Attention some heads of which count what is like the query."""

import math
from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, Shape, Spec, Tensor
from kzoo.errors import InputError
from kzoo.layers.functional.check_mask import mask_for_heads
from kzoo.layers.functional.dense import dense, glorot
from kzoo.layers.functional.log_uniform import log_uniform
from kzoo.layers.functional.normalized import normalized
from kzoo.layers.transformer.cached_attention import CachedAttention
from kzoo.registry import alias, get, register, serialize

SHARP = {"class": "EntmaxWeighting", "config": {"sharpness": 4.0}}
CHOOSING = {"class": "MultiHeadAttention", "config": {"weighting": SHARP}}
GAIN, THRESHOLD = 4.0, 0.8  # where training starts


@register("multi_head")
class CountingAttention(CachedAttention):
    """Attention with heads beside it that add up what is like the query, where the others average.

    A mechanism of our own; counting_attention.md beside this file has what it does. A softmax gives the share of
    the keys that match, which one copy more or less changes the less the longer the sequence is. A counting head does
    not divide: with m = W_m x, s = W_s x, and its trained gain g and threshold c,

        P_ij     = sigmoid(k g (cos(m_i, m_j) - c))           whether j is like i, 0 to 1
        count_i  = sum over unmasked j of P_ij tanh(k s_j)    what is alike, with signs: copies read less copies written
        output_i = attention(x)_i + W_o tanh(2 count_i)

    Where P is near 0 or 1, and tanh near 1 or -1, counts are whole numbers, and what tells one copy from none is the
    same at any length. Two tokens of one kind match from the start, since queries and keys are one map. While
    training, the sharpness k is drawn for each sequence, log-uniform from 1 up: what is told apart at k = 1 leaves
    nothing that could add up at the largest, which is taken otherwise.

    Weights that do not sum to one are those of sigmoid attention
    ([Ramapuram et al., 2024](https://arxiv.org/abs/2409.04431)), one map for queries and keys that of
    [Kitaev et al., 2020](https://arxiv.org/abs/2001.04451), section 2.

    Args:
        heads: int. Number of heads N, 2 or more. Defaults to 2.
        counting: int. So many heads, the last, count; 1 to N - 1. Defaults to 1.
        head_units: int. Size H of a head. Defaults to the size of the states divided by N.
        attention: name, config or object of the kind "multi_head", with the other heads. Defaults to dot products with
            an entmax of the same sharpness, 4, which gives nothing to keys far below the best.
        sharpness: float. The largest k, 1 to 1,000. Defaults to 4.
        dtype: str or DTypePolicy. Counts and weights are float32 under any.

    Call arguments:
        inputs: tensor of shape (B, T, D).
        mask: bool tensor of shape (B, T) or (B, T, T), True at unmasked keys. Defaults to no key masked.
        training: bool.
        delimiter: as of `MultiHeadAttention`; so the next.
        places: tensor.

    Returns:
        The output, of shape (B, T, D), and the weights, float32 of shape (B, N, T, T): those of the counting heads, P,
        do not sum to one.

    Raises:
        InputError: an argument is out of range, the attention is PaTH or a mixer, or D is no multiple of the heads.

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
        head_units: int | None = None,
        attention: Spec = CHOOSING,
        sharpness: float = 4.0,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.heads = checks.integer("heads", heads, 2, 1024)
        self.counting = checks.integer("counting", counting, 1, self.heads - 1)
        self.head_units = None if head_units is None else checks.integer("head_units", head_units, 1, 65_536)
        self.sharpness = checks.number("sharpness", sharpness, 1.0, 1000.0)
        stated = {"heads": self.heads - self.counting, "head_units": self.head_units}
        self.attention: Any = get("multi_head", attention, stated, dtype=self.dtype_policy)
        if not getattr(self.attention, "reads_source", False):  # PaTH and mixers have a pass of their own
            raise InputError(
                f"the other heads are those of a MultiHeadAttention, not of {type(self.attention).__name__}"
            )
        if self.sharpness > 1:
            self.seeds = keras.random.SeedGenerator()

    def build(self, inputs_shape: Shape, mask_shape: Shape | None = None) -> None:
        size = inputs_shape[-1]
        if self.head_units is None and size % self.heads:
            raise InputError(f"states of size {size} cannot be split between {self.heads} heads")
        self.size = self.head_units or size // self.heads
        if self.attention.head_units is None:
            self.attention.head_units = self.size  # all heads are of one size
        self.attention.build(inputs_shape)
        units = self.counting * self.size
        for name, (inputs, outputs) in {"match": (size, units), "sign": (size, units), "total": (units, size)}.items():
            layer = dense(outputs, inputs, glorot(inputs, outputs), use_bias=False, dtype=self.dtype_policy)
            layer.build((None, None, inputs))
            setattr(self, name, layer)
        constant = keras.initializers.Constant
        self.log_gain = self.add_weight((self.counting, 1, 1), initializer=constant(math.log(GAIN)), name="log_gain")
        self.threshold = self.add_weight((self.counting, 1, 1), initializer=constant(THRESHOLD), name="threshold")
        self.built = True

    def call(
        self,
        inputs: Tensor,
        mask: Tensor | None = None,
        training: bool = False,
        delimiter: Tensor | None = None,
        places: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        prepared = self.prepare(inputs, training) | ({} if delimiter is None else {"delimiter": delimiter})
        return self.attend(inputs, prepared, mask, None, training, places)

    def prepare(self, memory: Tensor, training: bool = False) -> Prepared:
        """Returns what `attend` needs of a memory (B, S, D): what the attention prepares, `likes`, of length one, and
        `signs`, each (B, N, S, H).
        """
        own = {"likes": self.direction(memory), "signs": self.split(self.sign(memory))}
        return self.attention.prepare(memory, training) | own

    def attend(
        self,
        inputs: Tensor,
        prepared: Prepared,
        mask: Tensor | None = None,
        query_offset: Tensor | None = None,
        training: bool = False,
        places: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Attends to, and counts, what `prepare` returned; see `MultiHeadAttention.attend`."""
        context, weights = self.attention.attend(inputs, prepared, mask, query_offset, training, places)
        sharpness: Tensor = self.sharpness
        if training and self.sharpness > 1:
            sharpness = log_uniform(ops.shape(inputs)[0], self.sharpness, self.seeds)
        cosines = ops.cast(ops.einsum("bnth,bnsh->bnts", self.direction(inputs), prepared["likes"]), "float32")
        gain, threshold = ops.exp(ops.cast(self.log_gain, "float32")), ops.cast(self.threshold, "float32")
        alike = ops.sigmoid(sharpness * gain * (cosines - threshold)) * ops.cast(mask_for_heads(mask), "float32")
        signs = ops.tanh(sharpness * ops.cast(prepared["signs"], "float32"))
        counts = ops.tanh(2.0 * ops.einsum("bnts,bnsh->btnh", alike, signs))
        counts = ops.reshape(counts, (*ops.shape(counts)[:2], self.counting * self.size))
        return context + self.total(ops.cast(counts, self.compute_dtype)), ops.concatenate([weights, alike], axis=1)

    def direction(self, x: Tensor) -> Tensor:
        """Returns what is compared of states (B, T, D), of length one: (B, N, T, H)."""
        return ops.cast(normalized(ops.cast(self.split(self.match(x)), "float32")), self.compute_dtype)

    def split(self, x: Tensor) -> Tensor:
        """Returns vectors (B, T, N * H) of the counting heads as (B, N, T, H)."""
        return ops.transpose(ops.reshape(x, (*ops.shape(x)[:2], self.counting, self.size)), (0, 2, 1, 3))

    @property
    def bias(self) -> Any:
        """Layer or None. What the attention of the other heads adds to its scores."""
        return self.attention.bias

    def largest_activation(self, length: int) -> int:
        """Returns the numbers of its weights of one sequence of so many tokens with itself."""
        return self.heads * length**2

    def compute_mask(self, *args: Any, **kwargs: Any) -> None:
        return None

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "heads": self.heads,
            "counting": self.counting,
            "head_units": self.head_units,
            "attention": serialize(self.attention),
            "sharpness": self.sharpness,
        }


alias("multi_head", "counting", "CountingAttention")
