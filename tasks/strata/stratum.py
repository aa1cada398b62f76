"""A stratum of a task's inputs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kzoo.errors import InputError

Tokens = tuple[str, ...]
REPEATS = 20  # repeats in a row, for each source found, after which a stratum is taken to have no more


@dataclass(frozen=True)
class Stratum:
    """A kind of input that the test split has rarely or never, and how to draw it.

    Args:
        about: str. What its sources have in common, in a few words.
        draw: callable (rng, length) that returns a source; it may return the same one again.
        pool: callable (length) that returns all sources, where they are a list. One of `draw` and `pool` is given.
        shortest: int. The least length that it has.
        longest: int or None. The largest.
    """

    about: str
    draw: Callable[[np.random.Generator, int], Tokens] | None = None
    pool: Callable[[int | None], Sequence[Tokens]] | None = None
    shortest: int = 1
    longest: int | None = None

    def has(self, length: int | None) -> bool:
        """Returns whether there are sources of a length; None is the test split as it is."""
        if length is None:
            return self.pool is not None
        return self.shortest <= length and (self.longest is None or length <= self.longest)

    def sources(self, rng: np.random.Generator, size: int, length: int | None) -> list[Tokens]:
        """Returns different sources of a length, or all that there are, if they are fewer than `size`.

        Raises:
            InputError: the stratum has no sources of the length.
        """
        if not self.has(length):
            raise InputError(f"there are no inputs of length {length} with {self.about}")
        if self.pool is not None:
            found = list(dict.fromkeys(self.pool(length)))
            chosen = np.sort(rng.choice(len(found), size, replace=False)) if size < len(found) else range(len(found))
            return [found[i] for i in chosen]
        if self.draw is None or length is None:
            raise InputError(f"inputs with {self.about} are drawn for a length")
        drawn: dict[Tokens, None] = {}
        repeats = 0
        while len(drawn) < size and repeats < REPEATS * (len(drawn) + 5):
            source = self.draw(rng, length)
            repeats = repeats + 1 if source in drawn else 0
            drawn[source] = None
        return list(drawn)
