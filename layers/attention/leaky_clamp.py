"""The clamp of location attention."""

from keras import ops

from kzoo.annotations import Tensor


def leaky_clamp(x: Tensor, slope: float = 0.01) -> Tensor:
    """Returns max(slope x, min(x, 1 + slope x)): x between 0 and 1, and nearly the bound, with a gradient, outside.

    [Ray Chowdhury and Caragea, 2023](https://arxiv.org/abs/2305.20019), Eq. 8. The upper bound takes hold at
    1 / (1 - slope), a little above 1.

    Args:
        x: float tensor.
        slope: float. The paper's m.

    Example:

    ```python
    assert abs(float(kzoo.layers.leaky_clamp(np.array(3.0, "float32"))) - 1.03) < 1e-6
    ```
    """
    return ops.maximum(slope * x, ops.minimum(x, 1.0 + slope * x))
