"""Linear biases for half of the heads, no positions for the others."""

import numpy as np

from kzoo.annotations import Array
from kzoo.layers.bias.alibi_bias import AlibiBias
from kzoo.registry import alias, register


@register("bias")
class NapeBias(AlibiBias):
    """Penalises the distance in the first half of the heads, and leaves the others without positions.

    NAPE of [Vasylenko et al., 2025](https://arxiv.org/abs/2506.16640): bias_ij = -m_h |i - j| with the
    slopes m_h = 1 / h for the heads h = 1 .. N / 2, and 0 for the others.

    Call arguments:
        inputs: BiasInputs; it uses the lengths, `query_offset` and `places`.

    Returns:
        Tensor of shape (1, N, T, S), or with `query_offset` or `places` (B, N, T, S).

    Example:

    ```python
    bias = kzoo.layers.NapeBias()
    assert bias.slopes_of(4).tolist() == [1, 0.5, 0, 0]
    ```
    """

    def slopes_of(self, heads: int) -> Array:
        first = np.arange(1, heads // 2 + 1)
        return np.concatenate([1.0 / first, np.zeros(heads - len(first))])


alias("bias", "nape", "NapeBias")
