"""A window around each position of a decoder."""

from typing import Any

from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Tensor
from kzoo.layers.bias.bias_inputs import BiasInputs
from kzoo.layers.bias.masking_bias import MASKED, MaskingBias
from kzoo.registry import alias, register


@register("bias")
class WindowedBias(MaskingBias):
    """Restricts each query to itself and the keys next to it, and to those one stride back.

    Windowed attention biasing of [Duan et al., 2023](https://arxiv.org/abs/2310.11984), section A.4: the bias B_w of
    self-attention is 0 for 0 <= i - j <= w and masks the rest. The paper's w is `before`; `after` is for encoders.

    The `stride` is ours, after the strides of [Child et al., 2019](https://arxiv.org/abs/1904.10509), section 4.3, of
    which it has one: where a sequence is numbers of one width, the window stands a second time at the same place of the
    number before. Nothing between the two says which place that is, so that a rule learned at some places holds at all:
    see `windowed_rope_sum_operands`, and layers/bias/windowed_bias.md.

    Args:
        before: int. Keys to the left of the query, 0 to 10,000. Defaults to 1.
        after: int. Keys to its right. Defaults to 0.
        stride: int or None. The window stands so many keys to the left, too, 1 to 10,000. Defaults to None: it does
            not.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        inputs: BiasInputs; it uses the lengths, `query_offset` and `mask`.

    Returns:
        Tensor of shape (1, 1, T, S) or (B, 1, T, S), 0 or -1e9.

    Raises:
        InputError: an extent or the stride is out of range.

    Example:

    ```python
    inputs = kzoo.layers.BiasInputs(query_length=3, key_length=3)
    bias = np.array(kzoo.layers.WindowedBias(before=1)(inputs))
    assert (bias[0, 0] == 0).tolist() == [[True, False, False], [True, True, False], [False, True, True]]
    ```

    Differences from the authors' code: a masked key has a finite bias, and a query whose keys are all masked sees
    every key that the attention's mask leaves it.
    """

    def __init__(
        self, before: int = 1, after: int = 0, stride: int | None = None, dtype: DType = None, **kwargs: Any
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.before = checks.integer("before", before, 0, 10_000)
        self.after = checks.integer("after", after, 0, 10_000)
        self.stride = None if stride is None else checks.integer("stride", stride, 1, 10_000)

    def values(self, inputs: BiasInputs) -> Tensor:
        distance = inputs.key_positions() - inputs.query_positions()[..., None]
        near = self._near(distance)
        if self.stride is not None:
            near = ops.logical_or(near, self._near(distance + self.stride))
        return ops.where(near, 0.0, MASKED)[:, None]

    def _near(self, distance: Tensor) -> Tensor:
        """Whether keys at such distances from the middle of a window are in it."""
        return ops.logical_and(distance >= -self.before, distance <= self.after)

    def get_config(self) -> Config:
        return {**super().get_config(), "before": self.before, "after": self.after, "stride": self.stride}


alias("bias", "windowed", "WindowedBias")
