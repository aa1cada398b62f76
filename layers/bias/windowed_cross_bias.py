"""A window over a source, counted from its end."""

from typing import Any

from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Tensor
from kzoo.layers.bias.bias_inputs import BiasInputs
from kzoo.layers.bias.masking_bias import MASKED, MaskingBias
from kzoo.registry import alias, register


@register("bias")
class WindowedCrossBias(MaskingBias):
    """Restricts the i-th query to the i-th digit of a source counted from its end, or the i-th pair of digits.

    Windowed attention biasing of [Duan et al., 2023](https://arxiv.org/abs/2310.11984), section A.4, for
    cross-attention: a target is written from its last digit, so the windows lie along the anti-diagonal; of two
    operands whose digits are interleaved the window "spans two positions and steps over two". With e the index of the
    source's end symbol and s the `step`, query i = 0, 1, ... sees the keys

        e - s (i + 1) - before  ..  e - s i - 1 + after

    The paper's w is both `before` and `after`. Once the window has left the source, the query sees everything.

    Without positions a model cannot tell the keys of a window apart, so the window must hold the query's digits alone:
    with `before` and `after` 0 addition without positions is right to 60 digits (`windowed_nope_addition`), with
    `after` 1 it reached 53 % at the trained six.

    Args:
        step: int. Digits a query: 1 for a unary operation, else the number of aligned operands; 1 to 100. Defaults
            to 1.
        before: int. Keys to the left of those digits, 0 to 10,000. Defaults to 1.
        after: int. Keys to their right. Defaults to 1.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        inputs: BiasInputs; it uses the lengths, `query_offset`, `mask`, and of `source_ends` the last, the index of
            the end symbol.

    Returns:
        Tensor of shape (B, 1, T, S), 0 or -1e9.

    Raises:
        InputError: an argument is out of range.

    Example:

    ```python
    bias = kzoo.layers.WindowedCrossBias(step=2, before=0, after=0)
    inputs = kzoo.layers.BiasInputs(query_length=2, key_length=7, source_ends=np.array([[5]]))
    found = np.array(bias(inputs))  # start a b a b end pad
    assert np.argwhere(found[0, 0] == 0).tolist() == [[0, 3], [0, 4], [1, 1], [1, 2]]
    ```

    Differences from the authors' code: it has the left side only, one column to the right of the paper's (here before
    0, after 1), and no interleaved operands.
    """

    needs_source = True

    def __init__(self, step: int = 1, before: int = 1, after: int = 1, dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.step = checks.integer("step", step, 1, 100)
        self.before = checks.integer("before", before, 0, 10_000)
        self.after = checks.integer("after", after, 0, 10_000)

    def values(self, inputs: BiasInputs) -> Tensor:
        end, keys = inputs.last_key(inputs.source_ends), inputs.key_positions()
        right = (end - 1 - self.step * inputs.query_positions())[..., None]  # the last of the query's digits
        left = right - self.step + 1
        near = ops.logical_and(keys >= left - self.before, keys <= right + self.after)
        return ops.where(near, 0.0, MASKED)[:, None]

    def get_config(self) -> Config:
        return {**super().get_config(), "step": self.step, "before": self.before, "after": self.after}


alias("bias", "windowed_cross", "WindowedCrossBias")
alias("bias", "windowed_pairs", "WindowedCrossBias", step=2)
