"""How examples are drawn: the generator of a part of a task's data, and examples that differ."""

import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

import numpy as np

Drawn = TypeVar("Drawn")


def generator(*words: str, version: int, seed: int, length: int | None) -> np.random.Generator:
    """Returns the generator of a part of a task's data: the same for the same words, version, seed and length."""
    return np.random.default_rng([*(zlib.crc32(word.encode()) for word in words), version, seed, length or 0])


def different(drawn: Iterable[Drawn], key: Callable[[Drawn], Hashable]) -> Iterator[Drawn]:
    """Yields what was not yet drawn, by its key; after a hundred repeats in a row any: there are no more."""
    seen: set[Hashable] = set()
    repeats = 0
    for one in drawn:
        own = key(one)
        if own in seen and repeats < 100:
            repeats += 1
            continue
        repeats = 0
        seen.add(own)
        yield one
