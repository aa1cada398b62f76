"""Attention that reads each token together with the few before it."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, Shape, Spec, Tensor
from kzoo.layers.functional.causal import causal_filter, vectors_before
from kzoo.registry import alias, get, register, serialize


@register("multi_head")
class CanonAttention(keras.layers.Layer):
    """Attention, or a mixer, behind a Canon layer: a short causal convolution of each channel.

    Canon-A of [Allen-Zhu, 2025](https://arxiv.org/abs/2512.17351), section 4:

        x'_t   = x_t + sum over r < width of w_r * x_(t-r)        x is 0 before the first token
        output = attention(x')

    Heads then look for a token and those before it at once, as for a key by the token it stands behind, which takes
    two layers of attention otherwise. Step by step the last `width` - 1 inputs are kept.

    Args:
        attention: name, config or object of the kind "multi_head". Defaults to "dot_product".
        width: int. Tokens that are read together, 1 to 64. Defaults to 4.
        heads: int. Heads of the attention. Defaults to what that states.
        dropout: float. Of the attention. Defaults to what that states.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        inputs: tensor of shape (B, T, D).
        mask: bool tensor of shape (B, T) or (B, T, T), True at unmasked keys. Defaults to no key masked.
        training: bool.
        delimiter: as of `MultiHeadAttention`; so the next.
        places: tensor.

    Returns:
        The output, of shape (B, T, D), and the weights of the attention, float32 of shape (B, N, T, T); None of a
        mixer.

    Raises:
        InputError: an argument is out of range or does not apply, or the attention is unknown.

    Example:

    ```python
    attention = kzoo.layers.CanonAttention({"class": "MultiHeadAttention", "config": {"heads": 2}})
    output, weights = attention(np.ones((3, 5, 6), "float32"), mask=np.ones((3, 5), bool))
    assert output.shape == (3, 5, 6) and weights.shape == (3, 2, 5, 5)
    ```

    Differences: the layers B, C and D of the paper, behind the projections and in the feed-forward network, are not
    here. The paper does not say how w starts; here it is uniform in +-1/sqrt(width), as a convolution in the authors'
    framework.
    """

    passes_on = {name: ("multi_head", "attention", name) for name in ("heads", "dropout")}
    reads_source = False

    def __init__(
        self,
        attention: Spec = "dot_product",
        width: int = 4,
        heads: int | None = None,
        dropout: float | None = None,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        stated = {"heads": heads, "dropout": dropout}
        self.attention: Any = get("multi_head", attention, stated, dtype=self.dtype_policy)
        self.width = checks.integer("width", width, 1, 64)

    def build(self, inputs_shape: Shape, mask_shape: Shape | None = None) -> None:
        bound = self.width**-0.5
        start = keras.initializers.RandomUniform(-bound, bound)
        self.filter = self.add_weight((self.width, inputs_shape[-1]), initializer=start, name="filter")
        self.attention.build(inputs_shape)
        self.built = True

    def call(
        self,
        inputs: Tensor,
        mask: Tensor | None = None,
        training: bool = False,
        delimiter: Tensor | None = None,
        places: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        found: tuple[Tensor, Tensor | None] = self.attention(
            self.filtered(inputs), mask=mask, training=training, delimiter=delimiter, places=places
        )
        return found

    def filtered(self, inputs: Tensor) -> Tensor:
        """Returns x' of inputs (B, T, D)."""
        return inputs + causal_filter(inputs, ops.cast(self.filter, inputs.dtype))

    def start(
        self,
        inputs: Tensor,
        mask: Tensor,
        real: Tensor | None = None,
        delimiter: Tensor | None = None,
        places: Tensor | None = None,
    ) -> tuple[Tensor, Prepared]:
        """Returns the output for the first positions, and what `step` reads of them; see `CachedAttention.start`.

        That is what the attention prepared, and `recent` (B, width - 1, D), the last inputs, 0 before the first.
        """
        about = {"real": real, "delimiter": delimiter, "places": places}
        output, prepared = self.attention.start(self.filtered(inputs), mask, **about)
        real = ops.ones(ops.shape(inputs)[:2], dtype="bool") if real is None else real
        recent = vectors_before(inputs, ops.sum(ops.cast(real, "int32"), axis=1), self.width - 1)
        return output, {"attention": prepared, "recent": recent}

    def with_room(self, prepared: Prepared, length: int) -> Prepared:
        """Returns what `start` prepared, with room for so many positions more."""
        return prepared | {"attention": self.attention.with_room(prepared["attention"], length)}

    def step(
        self,
        inputs: Tensor,
        prepared: Prepared,
        mask: Tensor | None = None,
        index: Tensor | None = None,
        places: Tensor | None = None,
    ) -> tuple[Tensor, Prepared]:
        """Returns the output (B, 1, D) for one more position, and `prepared` with it."""
        recent = ops.concatenate([prepared["recent"], ops.cast(inputs, prepared["recent"].dtype)], axis=1)
        here = self.filtered(recent)[:, -1:]
        output, kept = self.attention.step(here, prepared["attention"], mask, index, places)
        return output, {"attention": kept, "recent": recent[:, 1:]}

    @property
    def heads(self) -> int:
        """int. Heads of the attention."""
        return int(self.attention.heads)

    @property
    def dropout(self) -> Any:
        """Layer or None. That of the attention on the keys."""
        return getattr(self.attention, "dropout", None)

    @property
    def bias(self) -> Any:
        """Layer or None. What the attention adds to its scores."""
        return getattr(self.attention, "bias", None)

    def compute_mask(self, *args: Any, **kwargs: Any) -> None:
        return None

    def get_config(self) -> Config:
        return {**super().get_config(), "attention": serialize(self.attention), "width": self.width}


alias("multi_head", "canon", "CanonAttention")
alias("block", "canon", "TransformerBlock", attention="canon", norm="before", activation="gelu")
