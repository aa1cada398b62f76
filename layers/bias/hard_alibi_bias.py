"""Windows of growing size, one a head."""

from typing import Any

import numpy as np
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Tensor
from kzoo.errors import InputError
from kzoo.layers.bias.bias_inputs import BiasInputs
from kzoo.layers.bias.masking_bias import MASKED, MaskingBias
from kzoo.registry import alias, register


@register("bias")
class HardAlibiBias(MaskingBias):
    """Lets the first heads see the last few keys, each some more than the one before, and the others all.

    Hard-ALiBi of [Jelassi et al., 2024](https://arxiv.org/abs/2402.01032): of m windowed heads the h-th
    sees the query and the h - 1 keys before it; the other heads have no positions at all. The windowed ones tell
    n-grams apart, and another head finds where such a one stood before.

    Args:
        windows: int. m, 1 to 1,024, less than the heads or all. Defaults to half of the heads, as in the paper's 8 of
            16.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        inputs: BiasInputs; it uses the lengths, `query_offset` and `mask`.

    Returns:
        Tensor of shape (1, N, T, S) or (B, N, T, S), 0 or -1e9.

    Raises:
        InputError: an argument is out of range, or there are fewer heads than windows.

    Example:

    ```python
    bias = kzoo.layers.HardAlibiBias(windows=2)
    bias.build((1, 3, 8), (1, 3, 3, 4))
    seen = np.array(bias(kzoo.layers.BiasInputs(query_length=3, key_length=3)))[0, :, 2] == 0
    assert seen.tolist() == [[False, False, True], [False, True, True], [True, True, True]]
    ```

    Differences from the authors' code: a masked key has a finite bias, and a query whose keys are all masked sees every
    key that the attention's mask leaves it.
    """

    def __init__(self, windows: int | None = None, dtype: DType = None, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.windows = None if windows is None else checks.integer("windows", windows, 1, 1024)

    def build(self, states_shape: Shape, queries_shape: Shape) -> None:
        if queries_shape is None:
            raise InputError("HardAlibiBias must be built, or called with queries, to know the number of heads")
        heads = queries_shape[1]
        number = max(1, heads // 2) if self.windows is None else self.windows
        if number > heads:
            raise InputError(f"there are {heads} heads, but {number} windows")
        self.reach = np.where(np.arange(heads) < number, np.arange(heads), 2**30).astype("int32")
        self.built = True

    def values(self, inputs: BiasInputs) -> Tensor:
        distance = (inputs.query_positions()[..., None] - inputs.key_positions())[:, None]
        near = ops.logical_and(distance >= 0, distance <= ops.convert_to_tensor(self.reach)[:, None, None])
        free = ops.convert_to_tensor(self.reach >= 2**30)[:, None, None]
        return ops.where(ops.logical_or(near, free), 0.0, MASKED)

    def get_config(self) -> Config:
        return {**super().get_config(), "windows": self.windows}


alias("bias", "hard_alibi", "HardAlibiBias")
