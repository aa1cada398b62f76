"""Strata of nested expressions: their shape, and which operations they have."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kzoo.tasks.strata.stratum import Stratum, Tokens

Depth = Callable[[Tokens], int]
Node = list[Any]  # an operation: its two arguments, each a node or None for a digit


def digit(rng: np.random.Generator) -> str:
    """Draws a digit."""
    return str(rng.integers(10))


def joined(rng: np.random.Generator, left: str, right: str, operations: str = "+*") -> str:
    """Returns a random operation on two expressions."""
    return f"({left}{operations[int(rng.integers(len(operations)))]}{right})"


def spine(rng: np.random.Generator, depth: int, side: str, operations: str = "+*") -> str:
    """Draws an expression in which every operation has a digit and, on one side or on either, the next operation."""
    found = joined(rng, digit(rng), digit(rng), operations)
    for _ in range(depth - 1):
        left = side == "left" or (side == "either" and rng.random() < 0.5)
        found = joined(rng, *((found, digit(rng)) if left else (digit(rng), found)), operations)
    return found


def longest(rng: np.random.Generator, depth: int, limit: int) -> str:
    """Draws an expression of a depth, of as many operations as fit into a number of tokens."""
    most = min((limit - 1) // 4, 2**depth - 1)
    # Heights of free arguments: 1 where one operation fits, and so on. The spine first, then operations anywhere.
    tree: Node = [None, None]
    place, free = tree, []
    for height in range(depth - 1, 0, -1):
        side = int(rng.integers(2))
        free.append((place, 1 - side, height))
        place[side] = [None, None]
        place = place[side]
    for _ in range(most - depth):
        around, side, height = free.pop(int(rng.integers(len(free))))
        around[side] = [None, None]
        if height > 1:
            free += [(around[side], k, height - 1) for k in (0, 1)]

    def write(node: Node | None) -> str:
        return digit(rng) if node is None else joined(rng, write(node[0]), write(node[1]))

    return write(tree)


def arithmetic_strata(limit: Callable[[int], int]) -> dict[str, Stratum]:
    """Returns the strata of simple arithmetic.

    Args:
        limit: callable (depth) that returns the most tokens of an expression.
    """

    def stratum(about: str, draw: Callable[[np.random.Generator, int], str], shortest: int = 1) -> Stratum:
        return Stratum(about, lambda rng, n: tuple(draw(rng, n)), shortest=shortest)

    return {
        "left_spine": stratum("every operation in the left argument", lambda rng, n: spine(rng, n, "left"), 2),
        "right_spine": stratum("every operation in the right argument", lambda rng, n: spine(rng, n, "right"), 2),
        "longest": stratum("as many operations as fit", lambda rng, n: longest(rng, n, limit(n)), 3),
        "plus_only": stratum("sums only", lambda rng, n: spine(rng, n, "either", "+")),
        "times_only": stratum("products only", lambda rng, n: spine(rng, n, "either", "*")),
        "odd_products": stratum(
            "products of 1, 3, 7 and 9, so that no digit may be lost",
            lambda rng, n: "".join(c if c in "(*)" else "1379"[int(c) % 4] for c in spine(rng, n, "either", "*")),
        ),
    }


def token_strata(draw: Callable[[np.random.Generator, int], Tokens], few: int, many: int) -> dict[str, Stratum]:
    """Returns the sources of the test split that are short for their depth, and those that are long.

    Args:
        draw: callable (rng, depth) that returns a source of the test split.
        few: int. The most tokens of a short one; of depth 5 to 8.
        many: int. The fewest of a long one; of depth 6 on.
    """

    def among(low: int, high: int) -> Callable[[np.random.Generator, int], Tokens]:
        def drawn(rng: np.random.Generator, depth: int) -> Tokens:
            source = draw(rng, depth)
            while not low <= len(source) <= high:
                source = draw(rng, depth)
            return source

        return drawn

    return {
        "few_tokens": Stratum(f"at most {few} tokens", among(0, few), shortest=5, longest=8),
        "many_tokens": Stratum(f"{many} tokens and more", among(many, 1_000_000), shortest=6),
    }


def listops_strata(operations: Sequence[str], depth: Depth) -> dict[str, Stratum]:
    """Returns the strata of ListOps; the depth counts the operations that the result depends on.

    Args:
        operations: sequence of str. The tokens of the operations: maximum, median, minimum and sum.
        depth: callable that returns the dependency depth of a source.
    """

    def grown(
        rng: np.random.Generator, length: int, kinds: Sequence[str], place: Callable[[int], int], sizes: Sequence[int]
    ) -> Tokens:
        """Wraps an operation in others, each drawn until the result depends on the one within."""
        found: Tokens = ()
        for now in range(1, length + 1):
            while True:
                size = sizes[int(rng.integers(len(sizes)))]
                arguments: list[Tokens] = [(digit(rng),) for _ in range(size)]
                if found:
                    arguments[place(size)] = found
                operation = kinds[int(rng.integers(len(kinds)))]
                wrapped = (operation, *(token for part in arguments for token in part), "]")
                if depth(wrapped) == now:
                    break
            found = wrapped
        return found

    def stratum(about: str, kinds: Sequence[str], side: str = "either", sizes: Sequence[int] = (2, 3)) -> Stratum:
        def draw(rng: np.random.Generator, length: int) -> Tokens:
            places = {"left": lambda _: 0, "right": lambda n: n - 1, "either": lambda n: int(rng.integers(n))}
            return grown(rng, length, kinds, places[side], sizes)

        return Stratum(about, draw, shortest=1 if side == "either" else 2)

    names = ("maximum", "median", "minimum", "sum")
    return {
        "left_spine": stratum("every operation in the first argument", operations, "left"),
        "right_spine": stratum("every operation in the last argument", operations, "right"),
        "four_arguments": stratum("four arguments each", operations, "either", (4,)),
    } | {
        f"{name}_only": stratum(f"the {name} only", (operation,))
        for name, operation in zip(names, operations, strict=True)
    }
