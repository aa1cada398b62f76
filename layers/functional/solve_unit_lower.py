"""Triangular systems by products of blocks."""

from keras import ops

from kzoo.annotations import Tensor
from kzoo.layers.functional.scan import scan
from kzoo.layers.functional.traced import is_symbolic


def solve_unit_lower(lower: Tensor, right: Tensor) -> Tensor:
    """Returns the X of (I + L) X = R.

    With a known T the inverse is put together from those of the diagonal blocks, which double in size: a product of
    matrices for each size, where substitution has T steps. Of many small systems `ops.solve_triangular` is ten times
    slower on JAX's CPU, and with two cores it may never return. It takes the place where T is not known, and in exports
    from JAX and PyTorch substitution does, since what runs them has no such operator.

        [A 0]^-1   [    A^-1       0  ]
        [C D]    = [-D^-1 C A^-1  D^-1]

    Args:
        lower: float tensor L of shape (B, N, T, T), 0 on and above the diagonal.
        right: float tensor R of shape (B, N, T, H).
    """
    size = ops.shape(lower)[-1]
    if is_symbolic(size):
        return substituted(lower, right)
    if not isinstance(size, int):
        return ops.solve_triangular(lower + ops.eye(ops.shape(lower)[-1], dtype=lower.dtype), right, lower=True)
    batch, heads = ops.shape(lower)[:2]
    whole = 1 << (size - 1).bit_length()
    padding = [[0, 0], [0, 0], [0, whole - size], [0, whole - size]]
    lower = ops.pad(lower, padding)
    inverse = ops.ones((batch, heads, whole, 1, 1), dtype=lower.dtype)
    half = 1
    while half < whole:
        parts = whole // (2 * half)
        blocks = ops.reshape(lower, (batch, heads, parts, 2 * half, parts, 2 * half))[:, :, :, half:, :, :half]
        below = ops.transpose(ops.diagonal(blocks, axis1=2, axis2=4), (0, 1, 4, 2, 3))  # C of each two blocks
        upper, last = inverse[:, :, ::2], inverse[:, :, 1::2]
        corner = -ops.matmul(ops.matmul(last, below), upper)
        top = ops.concatenate([upper, ops.zeros_like(upper)], axis=-1)
        inverse = ops.concatenate([top, ops.concatenate([corner, last], axis=-1)], axis=-2)
        half *= 2
    return ops.matmul(inverse[:, :, 0, :size, :size], right)


def substituted(lower: Tensor, right: Tensor) -> Tensor:
    """Returns the same, row by row."""
    place = ops.arange(ops.shape(lower)[-1], dtype="int32")
    rows = {"of": ops.moveaxis(lower, 2, 0), "row": ops.moveaxis(right, 2, 0), "own": place[:, None] == place}

    def step(known: Tensor, at: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        found = at["row"] - ops.einsum("bnt,bnth->bnh", at["of"], known)
        return ops.where(at["own"][:, None], found[:, :, None], known), {}

    return scan(step, ops.zeros_like(right), rows)[0]
