"""Attention to a source from either end."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, Shape, Spec, States, Tensor
from kzoo.errors import InputError
from kzoo.layers.attention.attention_cell import AttentionCell
from kzoo.layers.functional.check_mask import check_mask
from kzoo.layers.functional.dense import uniform
from kzoo.layers.functional.reverse import reverse
from kzoo.registry import get, register, serialize


@register("attention")
class DirectionMix(AttentionCell):
    """Gives another attention the source forward, backward, or interpolated, by a gate on the source's summary.

    From [Ray Chowdhury and Caragea, 2023](https://arxiv.org/abs/2305.20019), section 5.2 (the "Bi-" models), Eq. 17-18.
    With e the memory and e_cls its summary:

        alpha = sigmoid(5 (w . e_cls + b))
        e_dir = alpha e + (1 - alpha) reverse(e)

    The reverse keeps real positions at the left. Keys and values are both made of e_dir.

    In the paper's letters: w and b are f_dir ("direction"), 5 is its beta. It soon saturates at 0 or 1, the same for
    all sources. `bounded`, which is our own, keeps it between 0.0001 and 0.9999, where it has a gradient, and sources
    of one task can be read from different ends:

        alpha = sigmoid(9 softsign(w . e_cls + b)),   softsign(x) = x / (1 + |x|)

    Args:
        attention: name, config or object: the `AttentionCell` that reads e_dir.
        units: int. Size of the inner attention's queries, keys and value head. Defaults to what that states, or the
            query's size.
        value_units: int. Size of its hidden layer before the values. Defaults to what that states, or the memory's.
        bounded: bool. Defaults to False.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        query: tensor of shape (B, D).
        prepared: dict, from `prepare(memory, memory_mask, summary)`, whose summary (B, D) is needed.
        states: dict, of the inner attention, and `direction` (B,), alpha.

    Returns:
        Context (B, D), weights (B, S) over the positions of e_dir, states.

    Raises:
        InputError: an unknown attention, a size out of range or other than the attention's, or no summary.

    Example:

    ```python
    cell = kzoo.layers.DirectionMix("MonotonicAttention")
    cell.build((None, 6), (None, None, 6))
    memory, mask, summary = np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool), np.ones((2, 6), "float32")
    prepared = cell.prepare(memory, mask, summary)
    context, weights, states = cell(summary, prepared, cell.get_initial_state(prepared))
    assert weights.shape == (2, 5)
    ```
    """

    def __init__(
        self,
        attention: Spec,
        units: int | None = None,
        value_units: int | None = None,
        bounded: bool = False,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(units, value_units, dtype, **kwargs)
        self.bounded = checks.boolean("bounded", bounded)
        sizes = {"units": units, "value_units": value_units}
        self.attention: AttentionCell = get("attention", attention, sizes, dtype=self.dtype_policy)

    def build(self, query_shape: Shape, memory_shape: Shape) -> None:
        size = memory_shape[-1]
        initial = uniform(size**-0.5)
        self.direction = keras.layers.Dense(
            1, kernel_initializer=initial, bias_initializer=initial, dtype=self.dtype_policy
        )
        self.direction.build((None, size))
        self.attention.build(query_shape, memory_shape)
        self.built = True

    def prepare(self, memory: Tensor, memory_mask: Tensor, summary: Tensor | None = None) -> Prepared:
        if summary is None:
            raise InputError("DirectionMix needs the summary of the memory")
        memory, memory_mask = ops.convert_to_tensor(memory), ops.convert_to_tensor(memory_mask)
        check_mask(memory_mask, "memory_mask")
        direction = self.direction(summary)
        alpha = ops.sigmoid(9.0 * ops.softsign(direction) if self.bounded else 5.0 * direction)
        forward = alpha[:, :, None]
        mixed = forward * memory + (1.0 - forward) * reverse(memory, memory_mask)
        prepared = self.attention.prepare(mixed, memory_mask, summary)
        return {**prepared, "direction": ops.cast(alpha[:, 0], "float32")}

    def get_initial_state(self, prepared: Prepared) -> States:
        return {**self.attention.get_initial_state(prepared), "direction": prepared["direction"]}

    def call(self, query: Tensor, prepared: Prepared, states: States) -> tuple[Tensor, Tensor, States]:
        context, weights, new = self.attention.call(query, prepared, states)
        return context, weights, {**new, "direction": states["direction"]}

    def get_config(self) -> Config:
        return {**super().get_config(), "attention": serialize(self.attention), "bounded": self.bounded}
