"""The soft staircase of location attention."""

from keras import ops

from kzoo.annotations import Tensor


def softstair(x: Tensor, temperature: float = 20.0) -> Tensor:
    """Returns floor(x) + sigmoid(temperature * (x - floor(x) - 0.5)): nearly a whole number, with a gradient.

    [Dubois et al., 2020](https://arxiv.org/abs/1911.03872), section 5.1;
    [Ray Chowdhury and Caragea, 2023](https://arxiv.org/abs/2305.20019), Eq. 14. No gradient flows through the floor.

    Args:
        x: float tensor.
        temperature: float. The paper's tau.

    Example:

    ```python
    assert abs(float(kzoo.layers.softstair(np.array(1.6, "float32"))) - 1.8808) < 1e-4
    ```
    """
    x = ops.convert_to_tensor(x)
    floor = ops.stop_gradient(ops.floor(x))
    return floor + ops.sigmoid(temperature * (x - floor - 0.5))
