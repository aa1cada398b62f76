"""Triangular systems by products of blocks."""

from keras import ops

from kzoo.annotations import Tensor
from kzoo.layers.functional.scan import scan
from kzoo.layers.functional.traced import is_symbolic

SMALLEST = 16  # rows of a block


def solve_unit_lower(lower: Tensor, right: Tensor) -> Tensor:
    """Returns the X of (I + L) X = R.

    With a known T the inverse is put together from those of diagonal blocks, which double in size; blocks of powers of
    two, the largest first, as 64 and 16 of 80, are joined to the whole. That takes a product of matrices for each size,
    where substitution has T steps, and adds up what is rounded.

        [A 0]^-1   [    A^-1       0  ]
        [C D]    = [-D^-1 C A^-1  D^-1]

    Of many small systems `ops.solve_triangular` is ten times slower on JAX's CPU, and with two cores it may never
    return. It takes the place where T is not known, and in exports from JAX and PyTorch substitution does, since what
    runs them has no such operator.

    Args:
        lower: float tensor L of shape (B, N, T, T), 0 on and above the diagonal.
        right: float tensor R of shape (B, N, T, H).
    """
    size = ops.shape(lower)[-1]
    if is_symbolic(size):
        return substituted(lower, right)
    if not isinstance(size, int):
        return ops.solve_triangular(lower + ops.eye(ops.shape(lower)[-1], dtype=lower.dtype), right, lower=True)
    whole = -(-size // SMALLEST) * SMALLEST if size > SMALLEST else 1 << (size - 1).bit_length()
    lower = ops.pad(lower, [[0, 0], [0, 0], [0, whole - size], [0, whole - size]])
    inverse: Tensor = None
    start = 0
    for block in (1 << i for i in reversed(range(whole.bit_length())) if whole >> i & 1):
        own = slice(start, start + block)
        last = inverse_unit_lower(lower[:, :, own, own])
        inverse = last if inverse is None else joined(inverse, lower[:, :, own, :start], last)
        start += block
    return ops.matmul(inverse[:, :, :size, :size], right)


def inverse_unit_lower(lower: Tensor) -> Tensor:
    """Returns the inverse of I + L (B, N, S, S), where S is a power of two."""
    batch, heads, size, _ = ops.shape(lower)
    inverse = ops.ones((batch, heads, size, 1, 1), dtype=lower.dtype)
    half = 1
    while half < size:
        parts = size // (2 * half)
        blocks = ops.reshape(lower, (batch, heads, parts, 2 * half, parts, 2 * half))[:, :, :, half:, :, :half]
        below = ops.transpose(ops.diagonal(blocks, axis1=2, axis2=4), (0, 1, 4, 2, 3))  # C of each two blocks
        inverse = joined(inverse[:, :, ::2], below, inverse[:, :, 1::2])
        half *= 2
    return inverse[:, :, 0]


def joined(upper: Tensor, below: Tensor, last: Tensor) -> Tensor:
    """Returns the inverse of [A 0; C D] from A^-1, C and D^-1, in the last two axes."""
    corner = -ops.matmul(ops.matmul(last, below), upper)
    top = ops.concatenate([upper, ops.zeros_like(ops.swapaxes(below, -1, -2))], axis=-1)
    return ops.concatenate([top, ops.concatenate([corner, last], axis=-1)], axis=-2)


def substituted(lower: Tensor, right: Tensor) -> Tensor:
    """Returns the same, row by row."""
    place = ops.arange(ops.shape(lower)[-1], dtype="int32")
    rows = {"of": ops.moveaxis(lower, 2, 0), "row": ops.moveaxis(right, 2, 0), "own": place[:, None] == place}

    def step(known: Tensor, at: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        found = at["row"] - ops.einsum("bnt,bnth->bnh", at["of"], known)
        return ops.where(at["own"][:, None], found[:, :, None], known), {}

    return scan(step, ops.zeros_like(right), rows)[0]
