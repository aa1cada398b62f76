"""Expressions modulo 5 with every operation in brackets: drawn, and evaluated."""

import numpy as np

from kzoo.errors import InputError
from kzoo.tasks.base import Tokens
from kzoo.tasks.chomsky import NUMBERS
from kzoo.tasks.chomsky_regular import MODULUS, OPERATORS


def expression(rng: np.random.Generator, length: int, operators: Tokens) -> list[str]:
    """Draws an expression of exactly so many characters: (A op B), or a number in what is too short for that."""
    if length <= 4:
        number = NUMBERS[rng.integers(MODULUS)]
        return list((number, f"-{number}", f"({number})", f"(-{number})")[length - 1])
    first = int(rng.integers(1, length - 3))
    operator = operators[rng.integers(len(operators))]
    left = expression(rng, first, operators)
    return ["(", *left, operator, *expression(rng, length - 3 - first, operators), ")"]


def chain(rng: np.random.Generator, length: int, left: bool, operators: Tokens) -> tuple[list[str], int]:
    """Draws an expression of at most so many characters with all brackets on one side, and where its innermost number
    is: ((A op B) op C), or (A op (B op C)).
    """
    source = [NUMBERS[rng.integers(MODULUS)]]
    while len(source) + 4 <= length:
        operator, number = operators[rng.integers(len(operators))], NUMBERS[rng.integers(MODULUS)]
        source = ["(", *source, operator, number, ")"] if left else ["(", number, operator, *source, ")"]
    depth = (len(source) - 1) // 4
    return source, depth if left else len(source) - 1 - depth


def value(source: Tokens, what: str) -> int:
    """Returns the value modulo 5 of an expression, every operation of which is in brackets.

    Raises:
        InputError: it is none.
    """
    return results(source, what)[-1][1]


def results(source: Tokens, what: str, so_far: bool = False) -> list[tuple[int, int]]:
    """Returns the value modulo 5 of every number, at its digit, and of every bracket, at its end; or there the value
    that the bracket around has so far.

    Raises:
        InputError: the source is no expression with every operation in brackets.
    """
    values: list[list[object]] = [[]]  # of each open bracket: a value, an operator, a value
    found: list[tuple[int, int]] = []
    negative = False
    number: int | None
    for position, token in enumerate(source):
        open_part, number = values[-1], None
        if token in NUMBERS:
            number = (-int(token) if negative else int(token)) % MODULUS
            negative = False
        elif negative:
            break
        elif token == "(":  # noqa: S105
            values.append([])
        elif token == ")" and len(values) > 1 and len(open_part) in (1, 3):  # noqa: S105
            number = combined(values.pop())
        elif token == "-" and len(open_part) in (0, 2):  # noqa: S105
            negative = True
        elif token in OPERATORS and len(open_part) == 1:
            open_part.append(token)
        else:
            break
        if number is not None:
            values[-1].append(number)
        if [type(part) for part in values[-1]] not in ([], [int], [int, str], [int, str, int]):
            break
        if number is not None:
            found.append((position, combined(values[-1]) if so_far else number))
    else:
        if len(values) == 1 and len(values[0]) == 1 and isinstance(values[0][0], int):
            return found
    raise InputError(f"a source of {what} is an expression with each operation in brackets")


def combined(parts: list[object]) -> int:
    """Returns the value modulo 5 of one number below 5, or of two with an operator between them."""
    first, *rest = parts
    if not isinstance(first, int):
        raise TypeError(parts)
    if not rest:
        return first
    operator, second = rest
    if not isinstance(second, int):
        raise TypeError(parts)
    found = {"+": first + second, "-": first - second, "*": first * second}[str(operator)]
    return found % MODULUS
