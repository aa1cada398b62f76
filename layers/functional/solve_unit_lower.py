"""Triangular systems by products of blocks."""

from keras import ops

from kzoo.annotations import Tensor
from kzoo.layers.functional.scan import scan
from kzoo.layers.functional.traced import is_symbolic

SMALLEST = 16  # rows of a second block


def solve_unit_lower(lower: Tensor, right: Tensor) -> Tensor:
    """Returns the X of (I + L) X = R.

    With a known T the inverse is put together from those of diagonal blocks, which double in size; the whole is one
    power of two or two, as 64 and 16. That takes a product of matrices for each size, where substitution has T steps,
    and adds up what is rounded.

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
    blocks = blocks_of(size)
    padding = [0, sum(blocks) - size]
    lower = ops.pad(lower, [[0, 0], [0, 0], padding, padding])
    first = blocks[0]
    inverse = inverse_unit_lower(lower[:, :, :first, :first])
    if len(blocks) == 2:
        last = inverse_unit_lower(lower[:, :, first:, first:])
        inverse = joined(inverse, lower[:, :, first:, :first], last)
    return ops.matmul(inverse[:, :, :size, :size], right)


def blocks_of(size: int) -> list[int]:
    """Returns one power of two or two, the larger first, whose sum is no less than a size."""
    first = 1 << (size.bit_length() - 1)
    if first == size:
        return [size]
    second = max(SMALLEST, 1 << (size - first - 1).bit_length())
    return [first, second] if second < first else [2 * first]


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
