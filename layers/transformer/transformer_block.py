"""The Transformer block."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, Shape, Spec, Tensor, Trace
from kzoo.errors import InputError
from kzoo.layers.transformer.feed_forward import FeedForward
from kzoo.registry import alias, get, register, serialize

# The gain of the second map of the feed-forward network, by what follows it.
GAINS = {"residual": 1.0, "norm": 5 / 3, "tanh": None}
EPSILON = 1e-5


@register("block")
class TransformerBlock(keras.layers.Layer):
    """Attention, then a feed-forward network on each position, each with a layer norm.

    From [Csordas et al., 2022](https://arxiv.org/abs/2110.07732), Eq. 1-2. With h the states:

        a = LayerNorm(h + attention(h))
        u = LayerNorm(a + FFN(a))            update "residual": the block on its own
        u = LayerNorm(FFN(a))                update "norm": within a copy gate
        u = tanh(FFN(a))                     update "tanh": within a copy gate, not with geometric attention (C.3)

    `attention_sublayer` returns a, and `feed_forward_sublayer` u of a: a gate stands between them. The names
    "transformer", "rel" and "geometric" are the paper's models without gate.

    With norm "before" ([Xiong et al., 2020](https://arxiv.org/abs/2002.04745)) a norm stands before each sublayer, and
    the residual sum is not normalised: a = h + attention(LayerNorm(h)), u = a + FFN(LayerNorm(a)). The names "pre_norm"
    and "tempered" are such blocks with GELU, the second with `TemperedWeighting`. Norm "none" leaves both norms out.

    `start` and `step` are for a decoder that caches its keys and values.

    Args:
        attention: name, config or object of the kind "multi_head": attention, or a mixer. Defaults to "dot_product".
        update: str. "residual", "norm" or "tanh". Defaults to "residual".
        heads: int. Heads of the attention. Defaults to what that states, or 1.
        hidden_units: int. Size of the feed-forward network between its maps. Defaults to four times the states'.
        dropout: float. Rate while training: on the output of the attention, and within the network. Defaults to 0.
        attention_dropout: float. Rate on the keys, of attention. Defaults to what that states, or 0.
        norm: str. Where the norms stand: "after", "before" or "none". Defaults to "after".
        activation: str. Of the network: "relu" or "gelu". Defaults to "relu".
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        states: tensor of shape (B, T, D).
        mask: bool tensor of shape (B, T) or (B, T, T), True at unmasked keys.
        training: bool.
        delimiter: int tensor of shape (B, 1), see `MultiHeadAttention`; so the next.
        places: int tensor of shape (B, T).

    Returns:
        The new states, of shape (B, T, D), and the trace: `weights` (B, N, T, T), of attention.

    Raises:
        InputError: an argument is out of range or does not apply, or the attention is unknown.

    Example:

    ```python
    block = kzoo.layers.TransformerBlock(heads=2, hidden_units=8)
    states, trace = block(np.ones((3, 5, 6), "float32"), np.ones((3, 5), bool))
    assert states.shape == (3, 5, 6) and trace["weights"].shape == (3, 2, 5, 5)
    ```

    The epsilon of the norms is 1e-5, and biases start uniform in +-1/sqrt(inputs), as in the authors' framework.
    """

    passes_on = {
        "heads": ("multi_head", "attention", "heads"),
        "attention_dropout": ("multi_head", "attention", "dropout"),
    }

    def __init__(
        self,
        attention: Spec = "dot_product",
        update: str = "residual",
        heads: int | None = None,
        hidden_units: int | None = None,
        dropout: float = 0.0,
        attention_dropout: float | None = None,
        norm: str = "after",
        activation: str = "relu",
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        policy = {"dtype": self.dtype_policy}
        stated = {"heads": heads, "dropout": attention_dropout}
        self.attention: Any = get("multi_head", attention, stated, **policy)
        self.update = checks.choice("update", update, GAINS)
        self.dropout = keras.layers.Dropout(checks.number("dropout", dropout, 0.0, 0.99), **policy)
        self.norm = checks.choice("norm", norm, ["after", "before", "none"])
        if norm != "after" and update != "residual":
            raise InputError(f'the update "{update}" needs the norm "after"')
        self.feed_forward = FeedForward(hidden_units, GAINS[update], dropout=dropout, activation=activation, **policy)
        if norm != "none":
            self.attention_norm = keras.layers.LayerNormalization(epsilon=EPSILON, **policy)
        if norm != "none" and update != "tanh":
            self.update_norm = keras.layers.LayerNormalization(epsilon=EPSILON, **policy)

    def build(self, states_shape: Shape, mask_shape: Shape | None = None) -> None:
        self.attention.build(states_shape)
        self.feed_forward.build(states_shape)
        for name in ("attention_norm", "update_norm"):
            if hasattr(self, name):
                getattr(self, name).build(states_shape)
        self.built = True

    def call(
        self,
        states: Tensor,
        mask: Tensor | None = None,
        training: bool = False,
        delimiter: Tensor | None = None,
        places: Tensor | None = None,
    ) -> tuple[Tensor, Trace]:
        attended, weights = self.attention_sublayer(states, mask, training, delimiter, places)
        return self.feed_forward_sublayer(attended, training), {} if weights is None else {"weights": weights}

    def attention_sublayer(
        self,
        states: Tensor,
        mask: Tensor,
        training: bool = False,
        delimiter: Tensor | None = None,
        places: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Returns a, of shape (B, T, D), and the weights (B, N, T, T); None of a mixer, which has none."""
        inputs = self._before(states, "attention_norm")
        about = {"mask": mask, "training": training, "delimiter": delimiter, "places": places}
        context, weights = self.attention(inputs, **about)
        return self._after(states + self.dropout(context, training=training), "attention_norm"), weights

    def feed_forward_sublayer(self, attended: Tensor, training: bool = False) -> Tensor:
        """Returns u of a."""
        update = self.feed_forward(self._before(attended, "update_norm"), training=training)
        if self.update == "tanh":
            return ops.tanh(update)
        if self.update == "residual":
            update = attended + self.dropout(update, training=training)
        return self._after(update, "update_norm")

    def start(self, states: Tensor, mask: Tensor, **about: Tensor) -> tuple[Tensor, Prepared]:
        """Returns what `call` does for the first positions, and what `step` reads of them.

        Args:
            states: tensor of shape (B, T, D).
            mask: bool tensor of shape (B, T, T).
            **about: `real`, `delimiter` and `places`, see `CachedAttention.start`.
        """
        context, prepared = self.attention.start(self._before(states, "attention_norm"), mask, **about)
        return self.feed_forward_sublayer(self._after(states + context, "attention_norm")), prepared

    def step(
        self, state: Tensor, prepared: Prepared, mask: Tensor, index: Tensor, places: Tensor | None = None
    ) -> tuple[Tensor, Prepared]:
        """Returns the new state of one more position, and `prepared` with it.

        Args:
            state: tensor of shape (B, 1, D).
            prepared: dict, from `start` or `step`, with room for it: see `CachedAttention.with_room`.
            mask: bool tensor of shape (B, 1, S), True at unmasked keys, its own included.
            index: int tensor of shape (B,), the position in each row.
            places: int tensor of shape (B, S).
        """
        attended, prepared = self.attention_sublayer_step(state, prepared, mask, index, places)
        return self.feed_forward_sublayer(attended), prepared

    def attention_sublayer_step(
        self, state: Tensor, prepared: Prepared, mask: Tensor, index: Tensor, places: Tensor | None = None
    ) -> tuple[Tensor, Prepared]:
        """Returns a of one more position, and `prepared` with it; see `step`."""
        inputs = self._before(state, "attention_norm")
        context, prepared = self.attention.step(inputs, prepared, mask, index, places)
        return self._after(state + context, "attention_norm"), prepared

    @property
    def heads(self) -> int:
        """int. Heads of the attention."""
        return int(self.attention.heads)

    @property
    def hidden_units(self) -> int | None:
        """int or None. Size of the feed-forward network between its maps, as given."""
        return self.feed_forward.units

    @property
    def attention_dropout(self) -> float:
        """float. Rate on the keys."""
        dropout = getattr(self.attention, "dropout", None)
        return 0.0 if dropout is None else float(dropout.rate)

    def _before(self, states: Tensor, norm: str) -> Tensor:
        return getattr(self, norm)(states) if self.norm == "before" else states

    def _after(self, states: Tensor, norm: str) -> Tensor:
        return getattr(self, norm)(states) if self.norm == "after" else states

    def compute_mask(self, *args: Any, **kwargs: Any) -> None:
        return None

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "attention": serialize(self.attention),
            "update": self.update,
            "hidden_units": self.feed_forward.units,
            "dropout": self.dropout.rate,
            "norm": self.norm,
            "activation": self.feed_forward.activation,
        }


alias("block", "transformer", "TransformerBlock")
alias("block", "rel", "TransformerBlock", attention="relative")
alias("block", "geometric", "TransformerBlock", attention="geometric_normalized")
alias("block", "pre_norm", "TransformerBlock", norm="before", activation="gelu")
alias("block", "tempered", "TransformerBlock", attention="tempered", norm="before", activation="gelu")
