"""Pairs of source and target as arrays."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kzoo.errors import InputError
from kzoo.tasks.base import LARGEST, Example

LONGEST = 500  # tokens of a source or target: the model has a chance for every two positions
LARGEST_VOCABULARY = 200  # tokens: the emission table has a chance for every three


def read_pairs(pairs: Iterable[Any], longest: tuple[int, int] = (LARGEST, LARGEST)) -> list[Example]:
    """Returns pairs of texts, or of sequences of tokens, as tokens.

    Args:
        pairs: iterable of (source, target).
        longest: (int, int). The most tokens of a source and of a target.

    Raises:
        InputError: there are none; or a pair is empty, too long or no pair, which is told by its index.
    """
    if isinstance(pairs, (str, bytes)) or not isinstance(pairs, Iterable) or getattr(pairs, "shape", None) == ():
        raise InputError(f"pairs must be a list of (source, target), not {type(pairs).__name__} {pairs!r:.60}")
    found = [_read(index, pair, longest) for index, pair in enumerate(pairs)]
    if not found:
        raise InputError("there are no pairs")
    return found


def read_pairs_to_align(pairs: Iterable[Any], longest: tuple[int, int] = (LONGEST, LONGEST)) -> list[Example]:
    """Returns pairs as `read_pairs` does, for an alignment.

    Raises:
        InputError: as of `read_pairs`, or there are too many different tokens.
    """
    found = read_pairs(pairs, longest)
    size = len(vocabulary_of(found))
    if size > LARGEST_VOCABULARY:
        raise InputError(f"pairs may have {LARGEST_VOCABULARY} different tokens to be aligned, not {size}")
    return found


def _read(index: int, pair: Any, longest: tuple[int, int]) -> Example:
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise InputError(f"pair {index} must be (source, target), not {pair!r:.60}")
    if isinstance(pair[0], str) != isinstance(pair[1], str):
        raise InputError(f"pair {index}: source and target must both be texts or both be lists of tokens")
    sides = []
    for name, side, most in zip(("source", "target"), pair, longest, strict=True):
        tokens = side.split() if isinstance(side, str) else side
        if not isinstance(tokens, (list, tuple)) or not all(isinstance(t, str) and t.split() == [t] for t in tokens):
            raise InputError(f"pair {index}: the {name} must be a text or a list of tokens, not {side!r:.60}")
        if not 1 <= len(tokens) <= most:
            raise InputError(f"pair {index}: the {name} must have 1 to {most} tokens, not {len(tokens)}")
        sides.append(tuple(tokens))
    return Example(*sides)


def can_be_aligned(pairs: Sequence[Example]) -> bool:
    """Whether pairs are short enough, with few enough different tokens, for `kzoo.align`."""
    short = all(1 <= len(side) <= LONGEST for pair in pairs for side in pair)
    return short and len(vocabulary_of(pairs)) <= LARGEST_VOCABULARY


def vocabulary_of(pairs: Iterable[Example]) -> list[str]:
    """Returns every token of pairs, sorted."""
    return sorted({token for pair in pairs for side in pair for token in side})


def encode(pairs: Sequence[Example], vocabulary: Sequence[str], backward: bool = False) -> dict[str, np.ndarray]:
    """Returns pairs as ids, padded. The end of a source has the id after the vocabulary, what is before it the next.

    Args:
        pairs: sequence of Example.
        vocabulary: sequence of str.
        backward: bool. Whether sources are read from their end; the end symbol stays last. Defaults to False.

    Returns:
        dict of `source` and `previous` int32 (B, S), where position j holds a token and the one read before it;
        `source_mask` float32 (B, S); `target` and `last` int32 (B, T), a token and the one written before it; and
        `target_mask` float32 (B, T).
    """
    ids = {token: i for i, token in enumerate(vocabulary)}
    end, start = len(ids), len(ids) + 1
    width, height = max(len(x) for x, _ in pairs) + 1, max(len(y) for _, y in pairs)
    source = np.full((len(pairs), width), end, "int32")
    target = np.zeros((len(pairs), height), "int32")
    source_mask, target_mask = np.zeros(source.shape, "float32"), np.zeros(target.shape, "float32")
    for row, (x, y) in enumerate(pairs):
        source[row, : len(x)] = [ids[token] for token in (x[::-1] if backward else x)]
        source_mask[row, : len(x) + 1] = 1.0
        target[row, : len(y)] = [ids[token] for token in y]
        target_mask[row, : len(y)] = 1.0
    first = np.full((len(pairs), 1), start, "int32")
    previous = np.concatenate([first, source[:, :-1]], axis=1)
    last = np.concatenate([first, target[:, :-1]], axis=1)
    arrays = {"source": source, "previous": previous, "source_mask": source_mask}
    return {**arrays, "target": target, "last": last, "target_mask": target_mask}
