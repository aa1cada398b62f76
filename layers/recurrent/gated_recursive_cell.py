"""A cell that makes one vector of two."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, Shape, Tensor
from kzoo.layers.functional.dense import dense
from kzoo.layers.transformer.transformer_block import EPSILON
from kzoo.registry import register


@register("layer")
class GatedRecursiveCell(keras.layers.Layer):
    """Composes a left and a right child into their parent, with a gate for each.

    The cell of [Shen et al., 2019](https://arxiv.org/abs/1910.13466), as
    [Ray Chowdhury and Caragea, 2023](https://arxiv.org/abs/2305.19999) have it:

        [f_l; f_r; i; u] = W_2 gelu(W_1 [l; r] + b_1) + b_2
        parent = LayerNorm(sigmoid(f_l) l + sigmoid(f_r) r + sigmoid(i) u)

    The size of a child is that of the parent.

    Args:
        hidden_units: int. Size of the inner layer, 1 to 65,536. Defaults to 4 times the size of a child.

    Call arguments:
        left: tensor of shape (..., D).
        right: tensor of shape (..., D).
        kept: tensor that broadcasts to (..., hidden_units), what the inner layer is multiplied by: a mask of dropout.
            Defaults to None.

    Returns:
        Tensor of shape (..., D).

    Raises:
        InputError: an argument is out of range.

    Example:

    ```python
    cell = kzoo.layers.GatedRecursiveCell()
    assert cell(np.ones((2, 3), "float32"), np.ones((2, 3), "float32")).shape == (2, 3)
    ```

    Differences: dropout is a mask that the caller draws, so that a tree can have one at all of its nodes.
    """

    def __init__(self, hidden_units: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.hidden_units = None if hidden_units is None else checks.integer("hidden_units", hidden_units, 1, 65_536)

    def build(self, left_shape: Shape, right_shape: Shape | None = None) -> None:
        size = left_shape[-1]
        hidden = self.hidden_units or 4 * size
        self.inner = dense(hidden, 2 * size, (2 * size) ** -0.5, activation="gelu", dtype=self.dtype_policy)
        self.inner.build((None, 2 * size))
        self.outer = dense(4 * size, hidden, hidden**-0.5, dtype=self.dtype_policy)
        self.outer.build((None, hidden))
        self.norm = keras.layers.LayerNormalization(epsilon=EPSILON, dtype=self.dtype_policy)
        self.norm.build((None, size))
        self.built = True

    def call(self, left: Tensor, right: Tensor, kept: Tensor | None = None) -> Tensor:
        inner = self.inner(ops.concatenate([left, right], axis=-1))
        inner = inner if kept is None else inner * kept
        for_left, for_right, for_new, new = ops.split(self.outer(inner), 4, axis=-1)
        gated = ops.sigmoid(for_left) * left + ops.sigmoid(for_right) * right + ops.sigmoid(for_new) * new
        return self.norm(gated)

    def kept(self, rows: int | Tensor, rate: float, seed: keras.random.SeedGenerator) -> Tensor:
        """Returns a mask of dropout, (B, 1, hidden_units), one for all nodes of a row: 0, or 1 / (1 - rate)."""
        return keras.random.dropout(ops.ones((rows, 1, self.inner.units), dtype="float32"), rate, seed=seed)

    def compute_output_shape(self, left_shape: Shape, right_shape: Shape | None = None) -> Shape:
        return left_shape

    def get_config(self) -> Config:
        return {**super().get_config(), "hidden_units": self.hidden_units}
