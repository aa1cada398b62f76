"""Strata of the chains of assignments: the order of their clauses, and their signs."""

from collections.abc import Callable

import numpy as np

from kzoo.tasks.strata.stratum import Stratum, Tokens

Chain = Callable[[np.random.Generator, np.ndarray, np.ndarray], Tokens]


def chain_strata(write: Chain, size: int, asked: bool = True) -> dict[str, Stratum]:
    """Returns the strata of a task over chains.

    Args:
        write: callable (rng, signs, order) that returns the source: signs[i] is 1 where variable i equals the one
            before it, 0 where it is its negative; order lists the clauses as they are written.
        size: int. How many variables a chain has.
        asked: bool. Whether a length, up to `size`, counts the variables that are asked.
    """

    def stratum(
        about: str,
        order: Callable[[np.random.Generator], np.ndarray] = lambda rng: rng.permutation(size),
        signs: Callable[[np.random.Generator], np.ndarray] = lambda rng: rng.integers(0, 2, size),
    ) -> Stratum:
        return Stratum(about, lambda rng, _: write(rng, signs(rng), order(rng)), longest=size if asked else None)

    forward = np.arange(size)
    return {
        "in_order": stratum("clauses from the first variable to the last", lambda _: forward),
        "backward": stratum("clauses from the last variable to the first", lambda _: forward[::-1]),
        "far_apart": stratum(
            "no clause beside the one that it needs",
            lambda rng: np.concatenate([forward[k::2] for k in rng.permutation(2)]),
        ),
        "plus_only": stratum("all variables equal", signs=lambda _: np.ones(size, int)),
        "minus_only": stratum("every variable the negative of the one before", signs=lambda _: np.zeros(size, int)),
        "one_minus": stratum(
            "one variable the negative of the one before",
            signs=lambda rng: (forward != rng.integers(size)).astype(int),
        ),
    }
