"""A window of each row that moves from row to row, without indices."""

from keras import ops

from kzoo.annotations import Tensor


def windows(x: Tensor, step: int, length: int) -> Tensor:
    """Returns `length` neighbouring columns of each row: row i from column `step * (T - 1 - i)` on.

    A window that moves left by `step` a row is, in memory, a table of shorter rows: one reshape and two slices. A
    gather by index would give the same, with a slow scatter of single numbers for a gradient.

    Args:
        x: tensor of shape (..., T, C), C at least `step * (T - 1) + length` and at least `step + length`.
        step: int, at least 1.
        length: int.

    Returns:
        Tensor of shape (..., T, length).

    Example:

    ```python
    from kzoo.layers.functional.windows import windows

    table = np.array([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]])
    assert np.array(windows(table, 1, 2)).tolist() == [[2, 3], [5, 6], [8, 9]]
    ```
    """
    *batch, rows, columns = ops.shape(x)
    flat = ops.reshape(x, (*batch, rows * columns))
    first, width = step * (rows - 1), columns - step
    return ops.reshape(flat[..., first : first + rows * width], (*batch, rows, width))[..., :length]
