"""A Transformer block with cross-attention."""

from typing import Any

import keras

from kzoo.annotations import Config, DType, Prepared, Shape, Spec, Tensor, Trace
from kzoo.errors import InputError
from kzoo.layers.transformer.multi_head_attention import MultiHeadAttention
from kzoo.layers.transformer.transformer_block import EPSILON, TransformerBlock
from kzoo.registry import get, register, serialize


@register("layer")
class DecoderBlock(keras.layers.Layer):
    """Self-attention, attention to a source, then a feed-forward network, each with a layer norm.

    The decoder layer of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762), section 3.1. With h the states and m
    the source's, and the sublayers of `TransformerBlock`:

        a = attention_sublayer(h),   c = LayerNorm(a + cross(a, m)),   u = feed_forward_sublayer(c)

    Where the block's norms stand before its sublayers, so does that of the cross-attention.

    Args:
        block: name, config or object of the kind "block": a `TransformerBlock`. Defaults to "transformer".
        cross: name, config or object of the kind "multi_head". Defaults to "dot_product".
        heads: int. Heads of both attentions. Defaults to what they state; so the next three.
        hidden_units: int. Size of the feed-forward network between its maps.
        dropout: float. Rate while training.
        attention_dropout: float. Rate on the keys while training.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        states: tensor of shape (B, T, D).
        memory: dict, from `prepare`.
        mask: bool tensor of shape (B, T) or (B, T, T), True at unmasked keys.
        memory_mask: bool tensor of shape (B, S).
        training: bool.

    Returns:
        The new states, of shape (B, T, D), and the trace: `self` (B, N, T, T) and `cross` (B, N, T, S), the weights.

    Raises:
        InputError: an argument is out of range or does not apply, or a part is unknown.

    Example:

    ```python
    block = kzoo.layers.DecoderBlock(heads=2, hidden_units=8)
    block.build((None, None, 6))
    memory = block.prepare(np.ones((3, 7, 6), "float32"))
    states, trace = block(np.ones((3, 5, 6), "float32"), memory, np.ones((3, 5), bool), np.ones((3, 7), bool))
    assert states.shape == (3, 5, 6) and trace["cross"].shape == (3, 2, 5, 7)
    ```
    """

    def __init__(
        self,
        block: Spec = "transformer",
        cross: Spec = "dot_product",
        heads: int | None = None,
        hidden_units: int | None = None,
        dropout: float | None = None,
        attention_dropout: float | None = None,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        policy = {"dtype": self.dtype_policy}
        rates = {"attention_dropout": attention_dropout, "dropout": dropout}
        self.block = get("block", block, {"heads": heads, "hidden_units": hidden_units, **rates}, **policy)
        if not isinstance(self.block, TransformerBlock):
            raise InputError(f"the block of a DecoderBlock is a TransformerBlock, not a {type(self.block).__name__}")
        self.cross: MultiHeadAttention = get(
            "multi_head", cross, {"heads": heads, "dropout": attention_dropout}, **policy
        )
        if not self.cross.reads_source:
            name = type(self.cross).__name__
            raise InputError(f"what reads a source is attention, not a {name}, which reads its own sequence only")
        self.dropout = keras.layers.Dropout(self.block.dropout.rate, **policy)
        if self.block.norm != "none":
            self.cross_norm = keras.layers.LayerNormalization(epsilon=EPSILON, **policy)

    def build(self, states_shape: Shape, *others: Shape) -> None:
        self.block.build(states_shape)
        self.cross.build(states_shape, states_shape)
        if hasattr(self, "cross_norm"):
            self.cross_norm.build(states_shape)
        self.built = True

    def prepare(self, memory: Tensor, source_ends: Tensor | None = None, training: bool = False) -> Prepared:
        """Returns the keys and values of a source, and where its parts end.

        Args:
            memory: tensor of shape (B, S, D).
            source_ends: int tensor of shape (B, K), the index that ends each part of the source. Defaults to one part.
            training: bool.
        """
        return self.cross.prepare(memory, training) | ({} if source_ends is None else {"source_ends": source_ends})

    def call(
        self,
        states: Tensor,
        memory: Prepared,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        training: bool = False,
    ) -> tuple[Tensor, Trace]:
        attended, own = self.block.attention_sublayer(states, mask, training)
        attended, cross = self.cross_attention_sublayer(attended, memory, memory_mask, None, training)
        return self.block.feed_forward_sublayer(attended, training), {"self": own, "cross": cross}

    def cross_attention_sublayer(
        self,
        attended: Tensor,
        memory: Prepared,
        mask: Tensor,
        query_offset: Tensor | None = None,
        training: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Returns c of a, and the weights; `query_offset` as of `MultiHeadAttention.attend`."""
        inputs = self.cross_norm(attended) if self.block.norm == "before" else attended
        context, weights = self.cross.attend(inputs, memory, mask, query_offset, training)
        output = attended + self.dropout(context, training=training)
        return (self.cross_norm(output) if self.block.norm == "after" else output), weights

    def step(
        self, state: Tensor, prepared: Prepared, memory: Prepared, mask: Tensor, memory_mask: Tensor, index: Tensor
    ) -> tuple[Tensor, Trace]:
        """Returns the new state (B, 1, D) of one more position, and `prepared` with it; see `TransformerBlock.step`."""
        attended, prepared = self.block.attention_sublayer_step(state, prepared, mask, index)
        attended, _ = self.cross_attention_sublayer(attended, memory, memory_mask, index)
        return self.block.feed_forward_sublayer(attended), prepared

    def compute_mask(self, *args: Any, **kwargs: Any) -> None:
        return None

    def get_config(self) -> Config:
        return {**super().get_config(), "block": serialize(self.block), "cross": serialize(self.cross)}
