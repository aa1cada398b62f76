"""Strata of the lookup tables: what the value does on its way, and which tables come."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from kzoo.tasks.strata.stratum import Stratum, Tokens

Write = Callable[[Tokens, np.random.Generator], Tokens]


def lookup_strata(
    tables: Mapping[str, Sequence[int]], composed: Sequence[str], codes: Tokens, write: Write, more: int = 0
) -> dict[str, Stratum]:
    """Returns the strata of a lookup task.

    Args:
        tables: mapping. Where each table takes the codes, as numbers.
        composed: sequence of str. The tables that are composed.
        codes: tuple of str.
        write: callable (program, rng) that returns the source of a program: a code and the tables to apply.
        more: int. How much larger a length is than the number of tables.
    """
    steps = {
        (start, end): [name for name in composed if tables[name][start] == end]
        for start in range(len(codes))
        for end in range(len(codes))
    }
    fixed = [start for start in range(len(codes)) if steps[start, start]]
    cycles = [(a, b) for a, b in steps if a != b and steps[a, b] and steps[b, a]]

    def pick(rng: np.random.Generator, names: Sequence[str]) -> str:
        return names[int(rng.integers(len(names)))]

    def fixed_points(rng: np.random.Generator, n: int) -> Tokens:
        start = fixed[int(rng.integers(len(fixed)))]
        return (codes[start], *(pick(rng, steps[start, start]) for _ in range(n)))

    def two_cycles(rng: np.random.Generator, n: int) -> Tokens:
        pair = cycles[int(rng.integers(len(cycles)))]
        return (codes[pair[0]], *(pick(rng, steps[pair[i % 2], pair[1 - i % 2]]) for i in range(n)))

    def in_turn(different: int) -> Callable[[np.random.Generator, int], Tokens]:
        def program(rng: np.random.Generator, n: int) -> Tokens:
            names = [composed[i] for i in rng.permutation(len(composed))[:different]]
            return (pick(rng, codes), *(names[i % different] for i in range(n)))

        return program

    def stratum(about: str, program: Callable[[np.random.Generator, int], Tokens], least: int = 1) -> Stratum:
        return Stratum(about, lambda rng, length: write(program(rng, length - more), rng), shortest=least + more)

    return {
        "fixed_points": stratum("no table changes the value", fixed_points),
        "two_cycles": stratum("the value goes to and fro between two codes", two_cycles, 2),
        "one_table": stratum("one table again and again", in_turn(1)),
        "two_tables": stratum("two tables in turn", in_turn(2), 2),
    }
