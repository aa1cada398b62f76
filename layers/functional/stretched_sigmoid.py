"""A sigmoid that reaches 0 and 1."""

from keras import ops

from kzoo.annotations import Tensor


def stretched_sigmoid(x: Tensor, stretch: float) -> Tensor:
    """Returns the sigmoid of `x`, stretched to the range from -stretch to 1 + stretch and cut to that from 0 to 1.

    This is the hard concrete distribution of [Louizos et al., 2018](https://arxiv.org/abs/1712.01312) without its
    noise. The gradient is that of the stretched sigmoid, as if nothing were cut, so that what is at 0 can leave it.

    Args:
        x: float tensor.
        stretch: float. 0 is the sigmoid itself.
    """
    if not stretch:
        return ops.sigmoid(x)
    wide = (1.0 + 2.0 * stretch) * ops.sigmoid(x) - stretch
    return wide + ops.stop_gradient(ops.clip(wide, 0.0, 1.0) - wide)
