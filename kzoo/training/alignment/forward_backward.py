"""The forward-backward algorithm of the alignment model.

The hidden state is the position j of a walk over the source, 0 before it and j + 1 at position j. Each step does one of
three: it stays, moves to the next waypoint, or stays and looks at another position. The sums over paths are scaled to 1
after each step (Rabiner, 1989), so they underflow at no length, and the logarithms of the scales add up to the
likelihood.
"""

from typing import Any

from keras import ops

from kzoo.annotations import Tensor
from kzoo.layers.functional.scan import scan

Chances = dict[str, Tensor]
TINY = 1e-30


def next_waypoint(marks: Tensor, log_skip: Tensor) -> Tensor:
    """Returns how likely the next waypoint after state i is position j: marks_j prod_(i <= k < j) (1 - marks_k).

    Args:
        marks: (B, S), how likely each position is a waypoint.
        log_skip: (B, S), log(1 - marks).

    Returns:
        (B, S + 1, S).
    """
    size = ops.shape(marks)[1]
    sums = ops.pad(ops.cumsum(log_skip, axis=1), ((0, 0), (1, 0)))
    ahead = ops.arange(size)[None, :] >= ops.arange(size + 1)[:, None]
    # What is behind is left out before the exponential: there it may be infinite, and its gradient not a number.
    logs = ops.where(ahead[None], sums[:, None, :-1] - sums[:, :, None], -1e9)
    return ops.exp(logs) * marks[:, None, :]


def forward(chances: Chances) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the log-likelihood (B,), the states before each step (T, B, S + 1) and the scale of each step (T, B).

    Args:
        chances: dict of `emit` (B, T, S), how likely position j gives the token of step t; `kinds` (B, T, 3), how
            likely the step stays, moves or looks elsewhere; `next` (B, S + 1, S), see `next_waypoint`; `elsewhere`
            (B, S, S), where the walk at i looks then; and `mask` (B, T), 1 at real steps.
    """
    begin = ops.one_hot(ops.zeros_like(chances["mask"][:, 0], dtype="int32"), ops.shape(chances["next"])[1])

    def step(walk: Tensor, inputs: Any) -> tuple[Tensor, Any]:
        emit, kinds, mask = inputs
        stay, move, look = _ways(chances, walk, emit, kinds)
        found = ops.pad(stay + move + look, ((0, 0), (1, 0)))
        scale = ops.maximum(ops.sum(found, axis=1), TINY)
        real = mask[:, None] > 0
        return ops.where(real, found / scale[:, None], walk), (walk, ops.where(mask > 0, scale, 1.0))

    _, (walks, scales) = scan(step, begin, _by_step(chances))
    return ops.sum(ops.log(scales), axis=0), walks, scales


def posterior(chances: Chances) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the log-likelihood (B,), how likely each step looked at each position (B, T, S), and how likely it
    stayed, moved or looked elsewhere (B, T, 3), all given the whole target. Rows of padded steps are 0.

    Args:
        chances: dict, as of `forward`.
    """
    total, walks, scales = forward(chances)
    final = ops.ones_like(walks[0][:, 1:])

    def step(after: Tensor, inputs: Any) -> tuple[Tensor, Any]:
        (emit, kinds, mask), walk, scale = inputs
        stay, move, look = (way * after / scale[:, None] for way in _ways(chances, walk, emit, kinds))
        # Where it looks elsewhere the walk is at i, and what is looked at is j.
        looks = _times(walk[:, 1:] * after, chances["elsewhere"]) * emit * (kinds[:, 2] / scale)[:, None]
        at = emit * after
        there = _times(chances["elsewhere"], emit)
        staying = kinds[:, :1] * at + kinds[:, 2:] * there * after
        moving = kinds[:, 1:2] * _times(chances["next"][:, 1:], at)
        before = ops.where(mask[:, None] > 0, (staying + moving) / scale[:, None], after)
        shares = ops.stack([ops.sum(way, axis=1) for way in (stay, move, look)], axis=1)
        return before, ((stay + move + looks) * mask[:, None], shares * mask[:, None])

    inputs = (_by_step(chances), walks, scales)
    _, (looks, shares) = scan(step, final, _reversed(inputs))
    return total, ops.transpose(ops.flip(looks, 0), (1, 0, 2)), ops.transpose(ops.flip(shares, 0), (1, 0, 2))


def _ways(chances: Chances, walk: Tensor, emit: Tensor, kinds: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns how likely the walk is at each position after a step of each kind: three of (B, S)."""
    stay = walk[:, 1:] * emit * kinds[:, :1]
    move = _times(walk, chances["next"]) * emit * kinds[:, 1:2]
    look = walk[:, 1:] * _times(chances["elsewhere"], emit) * kinds[:, 2:]
    return stay, move, look


def _times(first: Tensor, second: Tensor) -> Tensor:
    """Returns the product of a vector and a matrix, or of a matrix and a vector, of each row."""
    if len(first.shape) == 2:
        return ops.matmul(first[:, None, :], second)[:, 0]
    return ops.matmul(first, second[:, :, None])[:, :, 0]


def _by_step(chances: Chances) -> tuple[Tensor, Tensor, Tensor]:
    return (
        ops.transpose(chances["emit"], (1, 0, 2)),
        ops.transpose(chances["kinds"], (1, 0, 2)),
        ops.transpose(chances["mask"], (1, 0)),
    )


def _reversed(inputs: Any) -> Any:
    if isinstance(inputs, tuple):
        return tuple(_reversed(part) for part in inputs)
    return ops.flip(inputs, 0)
