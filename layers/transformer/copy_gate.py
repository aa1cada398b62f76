"""The copy gate."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Spec, Tensor, Trace
from kzoo.errors import InputError
from kzoo.layers.functional.stretched_sigmoid import stretched_sigmoid
from kzoo.layers.transformer.feed_forward import FeedForward
from kzoo.layers.transformer.transformer_block import TransformerBlock
from kzoo.registry import alias, get, register, serialize


@register("block")
class CopyGate(keras.layers.Layer):
    """Wraps a block so that each position can skip it and keep its state unchanged.

    From [Csordas et al., 2022](https://arxiv.org/abs/2110.07732), Eq. 3-4. With h the states, and a and u the outputs
    of the block's attention and feed-forward sublayers:

        g  = sigmoid(FFN_gate(a))
        h' = g * u + (1 - g) * h

    Since g depends on a, whether a position is updated depends on what it attends to. The last bias of FFN_gate
    starts at -3: at first almost everything is copied. The names "ndr" (the paper's Neural Data Router), "rel_gate" and
    "abs_rel_gate" are the paper's models with gate.

    With `stretch` the sigmoid reaches 0 and 1, and a position that waits is copied exactly, however long it waits:

        g  = min(max((1 + 2 stretch) sigmoid(FFN_gate(a)) - stretch, 0), 1)

    with the gradient of what is not cut: the hard concrete distribution of
    [Louizos et al., 2018](https://arxiv.org/abs/1712.01312) without its noise. "stretched_ndr" is "ndr" with a stretch
    of 0.05 here and in its `GeometricWeighting`; that is of kzoo, and copy_gate.md tells what it does.

    Args:
        block: name, config or object: a `TransformerBlock`, whose update is "norm" or "tanh".
        gate_drop: float. Share of the positions that are copied as a whole at a step while training. Defaults to 0.
        stretch: float, 0 to 1. How far the sigmoid is stretched beyond 0 and 1, to be cut there. Defaults to 0.
        heads: int. Of the block, as the next two. Defaults to what that states.
        hidden_units: int. Defaults to what the block states.
        dropout: float. Rate within FFN_gate while training, and in the block unless that states its own. Defaults to 0.
        attention_dropout: float. Of the block. Defaults to what that states.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        states: tensor of shape (B, T, D).
        mask: bool tensor of shape (B, T) or (B, T, T), True at unmasked keys.
        training: bool.
        places: int tensor of shape (B, T), see `MultiHeadAttention`.

    Returns:
        The new states, of shape (B, T, D), and the trace: `weights` (B, N, T, T) and `gates` (B, T, D).

    Raises:
        InputError: an argument is out of range or does not apply, or the block is unknown or has another update.

    Example:

    ```python
    gate = kzoo.layers.CopyGate({"class": "TransformerBlock", "config": {"update": "norm"}}, hidden_units=8)
    states, trace = gate(np.ones((3, 5, 6), "float32"), np.ones((3, 5), bool))
    assert trace["gates"].shape == (3, 5, 6) and float(trace["gates"][0, 0, 0]) < 0.5
    ```

    Differences from the paper, as in the authors' code: `gate_drop`, part of every published result with a gate (0.1;
    0.05 on ListOps; 0 with "rel_gate"). With "abs_rel_gate" their feed-forward network is four times the states wide on
    every task, where the paper's tables have less; both are a `hidden_units`.
    """

    passes_on = {name: ("block", "block", name) for name in ("heads", "hidden_units", "attention_dropout")}

    def __init__(
        self,
        block: Spec,
        gate_drop: float = 0.0,
        stretch: float = 0.0,
        heads: int | None = None,
        hidden_units: int | None = None,
        dropout: float = 0.0,
        attention_dropout: float | None = None,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        stated = {"heads": heads, "hidden_units": hidden_units, "attention_dropout": attention_dropout}
        self.block: TransformerBlock = get("block", block, stated, dropout=dropout, dtype=self.dtype_policy)
        if not isinstance(self.block, TransformerBlock):
            raise InputError(f"the block of a CopyGate is a TransformerBlock, not a {type(self.block).__name__}")
        if self.block.update == "residual":
            raise InputError('the update of a block in a CopyGate is "norm" or "tanh", not "residual"')
        self.gate_drop, self.dropout = checks.number("gate_drop", gate_drop, 0.0, 0.99), dropout
        self.stretch = checks.number("stretch", stretch, 0.0, 1.0)
        self.seeds = keras.random.SeedGenerator()

    def build(self, states_shape: Shape, mask_shape: Shape | None = None) -> None:
        self.block.build(states_shape)
        self.gate = FeedForward(states_shape[-1], 1.0, -3.0, self.dropout, dtype=self.dtype_policy)
        self.gate.build(states_shape)
        self.built = True

    def call(
        self, states: Tensor, mask: Tensor | None = None, training: bool = False, places: Tensor | None = None
    ) -> tuple[Tensor, Trace]:
        attended, weights = self.block.attention_sublayer(states, mask, training, places=places)
        gates = stretched_sigmoid(self.gate(attended, training=training), self.stretch)
        if training and self.gate_drop:
            gates = gates * ops.cast(self.kept((*ops.shape(states)[:2], 1)), gates.dtype)
        update = self.block.feed_forward_sublayer(attended, training)
        trace = {"gates": gates} if weights is None else {"weights": weights, "gates": gates}
        return gates * update + (1.0 - gates) * states, trace

    @property
    def heads(self) -> int:
        """int. Heads of the block's attention."""
        return self.block.heads

    @property
    def hidden_units(self) -> int | None:
        """int or None. Size of the block's feed-forward network between its maps, as given."""
        return self.block.hidden_units

    @property
    def attention_dropout(self) -> float:
        """float. Rate on the keys of the block's attention."""
        return self.block.attention_dropout

    def kept(self, shape: Shape) -> Tensor:
        """Draws which gates are not dropped, as a bool tensor."""
        if keras.config.backend() == "torch":  # to draw from a seed is a round trip to the host there
            return keras.random.dropout(ops.ones(shape), self.gate_drop, seed=self.seeds) > 0
        return keras.random.uniform(shape, dtype="float32", seed=self.seeds) >= self.gate_drop

    def compute_mask(self, *args: Any, **kwargs: Any) -> None:
        return None

    def get_config(self) -> Config:
        own = {"block": serialize(self.block), "gate_drop": self.gate_drop, "stretch": self.stretch}
        own["dropout"] = self.dropout
        return {**super().get_config(), **own}


def _gated(name: str, attention: str, update: str, gate_drop: float, **config: float) -> None:
    block = {"class": "TransformerBlock", "config": {"attention": attention, "update": update}}
    alias("block", name, "CopyGate", block=block, gate_drop=gate_drop, **config)


_gated("ndr", "geometric", "norm", 0.1)
_gated("stretched_ndr", "stretched_geometric", "norm", 0.1, stretch=0.05)
_gated("abs_rel_gate", "gated_relative", "tanh", 0.1)
_gated("rel_gate", "relative", "tanh", 0.0)
