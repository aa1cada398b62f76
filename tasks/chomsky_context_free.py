"""The deterministic context-free tasks of Deletang et al. (2023)."""

import numpy as np

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Tokens
from kzoo.tasks.bracketed import chain, expression, results, value
from kzoo.tasks.chomsky import BITS, NUMBERS, ChomskyTask, random_tokens, regular_bits
from kzoo.tasks.chomsky_regular import MODULUS, OPERATORS
from kzoo.tasks.classification import ClassificationTask
from kzoo.tasks.strata import Stratum

ACTIONS = ("POP", "PUSH0", "PUSH1")
BOTTOM = "_"
PLUS_X = tuple(f"{number}+x" for number in NUMBERS)
MINUS_X = tuple(f"{number}-x" for number in NUMBERS)


@register("task", "stack_manipulation")
class StackManipulation(ChomskyTask):
    """A stack of bits from bottom to top, then actions on it; the target is the stack from top to bottom, and "_".

    A POP of an empty stack does nothing.

    Example:

    ```python
    task = kzoo.tasks.get("stack_manipulation")
    assert task.solve(("0", "1", "PUSH1", "POP", "POP", "PUSH0")) == ("0", "0", "_")
    ```

    Differences: the paper's targets are filled up with zeros behind the mark "_", and those zeros are trained on too.
    """

    name = "stack_manipulation"
    vocabulary = (*BITS, *ACTIONS, BOTTOM)
    level = "deterministic context-free"
    target_room = 2
    shortest = 2

    @property
    def strata(self) -> dict[str, Stratum]:
        def emptied(rng: np.random.Generator, n: int) -> Tokens:
            bits = random_tokens(rng, BITS, n // 3)
            return (*bits, *["POP"] * (n // 2), *random_tokens(rng, ACTIONS[1:], n - n // 2 - n // 3))

        def pushed(rng: np.random.Generator, n: int) -> Tokens:
            return random_tokens(rng, BITS, n // 2) + random_tokens(rng, ACTIONS[1:], n - n // 2)

        return {
            "emptied": Stratum("more pops than bits in the middle", emptied, shortest=6),
            "pushed": Stratum("pushes only", pushed, shortest=2),
        }

    def draw_source(self, rng: np.random.Generator, length: int) -> Tokens:
        bits = int(rng.integers(1, length))
        return random_tokens(rng, BITS, bits) + random_tokens(rng, ACTIONS, length - bits)

    def solve(self, source: Tokens) -> Tokens:
        self.check(source, (*BITS, *ACTIONS), "bits, then actions POP, PUSH0 and PUSH1")
        count = next((i for i, token in enumerate(source) if token in ACTIONS), len(source))
        if count == 0 or not set(source[count:]) <= set(ACTIONS):
            raise InputError(f"a source of {self.name} is bits, then actions")
        stack = list(source[:count])
        for action in source[count:]:
            if action != "POP":
                stack.append(action[-1])
            elif stack:
                stack.pop()
        return (*reversed(stack), BOTTOM)


@register("task", "reverse_string")
class ReverseString(ChomskyTask):
    """A string of bits from its last to its first. `reverse_copy` has digits.

    Example:

    ```python
    task = kzoo.tasks.get("reverse_string")
    assert task.solve(tuple("01101")) == tuple("10110")
    ```
    """

    name = "reverse_string"
    vocabulary = BITS
    characters = True
    target_steps = (1, 0)
    level = "deterministic context-free"

    @property
    def strata(self) -> dict[str, Stratum]:
        return regular_bits()

    def draw_source(self, rng: np.random.Generator, length: int) -> Tokens:
        return random_tokens(rng, BITS, length)

    def solve(self, source: Tokens) -> Tokens:
        self.check(source, BITS, "one or more bits")
        return tuple(source[::-1])


@register("task", "modular_arithmetic")
class ModularArithmetic(ChomskyTask, ClassificationTask):
    """The value modulo 5 of an expression of exactly so many characters, each operation in brackets.

    Shorter than five characters an expression is d, -d, (d) or (-d); else (A op B), the length of A uniform.

    Example:

    ```python
    task = kzoo.tasks.get("modular_arithmetic")
    assert task.solve(tuple("((1+-2)*(3))")) == ("2",)
    ```
    """

    name = "modular_arithmetic"
    vocabulary = (*NUMBERS, *OPERATORS, "(", ")")
    labels = NUMBERS
    target_steps = (0, 1)
    characters = True
    level = "deterministic context-free"

    @property
    def strata(self) -> dict[str, Stratum]:
        def one_sided(rng: np.random.Generator, n: int, left: bool) -> Tokens:
            return tuple(chain(rng, n, left, OPERATORS[:2])[0])

        return {
            "left": Stratum("brackets on the left only", lambda rng, n: one_sided(rng, n, True), shortest=5),
            "right": Stratum("brackets on the right only", lambda rng, n: one_sided(rng, n, False), shortest=5),
        }

    def draw_source(self, rng: np.random.Generator, length: int) -> Tokens:
        return tuple(expression(rng, length, OPERATORS))

    def solve(self, source: Tokens) -> Tokens:
        return (NUMBERS[value(source, self.name)],)

    def intermediate(self, source: Tokens) -> list[tuple[int, str]]:
        """Returns the value of every number at its digit, and of every bracket at its end."""
        return [(position, NUMBERS[number]) for position, number in results(source, self.name)]

    def causal_results(self, source: Tokens) -> list[tuple[int, str]]:
        """Returns at the last token of each operand the value that the bracket around has so far."""
        return [(position, NUMBERS[number]) for position, number in results(source, self.name, so_far=True)]


@register("task", "solve_equation")
class SolveEquation(ChomskyTask, ClassificationTask):
    """The number x of an equation: an expression with + and -, one digit of it x, and its value modulo 5.

    Which digit x is: the first from a random character on, so that digits behind many brackets are x more often, as in
    the paper's code.

    Example:

    ```python
    task = kzoo.tasks.get("solve_equation")
    assert task.solve(tuple("((1+x)-2)=3")) == ("4",)
    ```
    """

    name = "solve_equation"
    vocabulary = (*NUMBERS, *OPERATORS[:2], "(", ")", "x", "=")
    labels = NUMBERS + PLUS_X + MINUS_X  # those with x are of intermediate results
    target_steps = (0, 1)
    characters = True
    level = "deterministic context-free"
    shortest = 3

    @property
    def strata(self) -> dict[str, Stratum]:
        def innermost(rng: np.random.Generator, n: int, left: bool) -> Tokens:
            return self.equation(*chain(rng, n - 2, left, OPERATORS[:2]))

        return {
            "left": Stratum("brackets on the left only, x in all", lambda rng, n: innermost(rng, n, True), shortest=7),
            "right": Stratum(
                "brackets on the right only, x in all", lambda rng, n: innermost(rng, n, False), shortest=7
            ),
        }

    def equation(self, source: list[str], place: int) -> Tokens:
        """Returns an expression with x at a place, and what it equals."""
        right = NUMBERS[value(tuple(source), self.name)]
        return (*source[:place], "x", *source[place + 1 :], "=", right)

    def draw_source(self, rng: np.random.Generator, length: int) -> Tokens:
        source = expression(rng, length - 2, OPERATORS[:2])
        place = int(rng.integers(len(source)))
        while source[place] not in NUMBERS:
            place = (place + 1) % len(source)
        return self.equation(source, place)

    def solve(self, source: Tokens) -> Tokens:
        if source.count("x") != 1 or source[-2:-1] != ("=",) or source[-1] not in NUMBERS or "*" in source:
            raise InputError(f"a source of {self.name} is an expression with one x, = and a number 0 to 4")
        for number in NUMBERS:
            if value(self.filled(source, number), self.name) == int(source[-1]):
                return (number,)
        raise InputError(f"{''.join(source)!r:.60} has no solution")

    def intermediate(self, source: Tokens) -> list[tuple[int, str]]:
        """Returns the value of every number at its digit, and of every bracket at its end; of what x is in, the value
        as a sum or difference with x, modulo 5.
        """
        return self.with_x(source)

    def causal_results(self, source: Tokens) -> list[tuple[int, str]]:
        """Returns at the last token of each operand the value that the bracket around has so far, with x or without."""
        return self.with_x(source, so_far=True)

    def with_x(self, source: Tokens, so_far: bool = False) -> list[tuple[int, str]]:
        """Returns the `results` of an equation's left side, of what x is in as sums or differences with x."""
        self.check_source(source)
        zero, one = (results(self.filled(source, number), self.name, so_far) for number in BITS)
        values = {0: NUMBERS, 1: PLUS_X, MODULUS - 1: MINUS_X}  # by the coefficient of x
        return [(place, values[(b - a) % MODULUS][a]) for (place, a), (_, b) in zip(zero, one, strict=True)]

    def filled(self, source: Tokens, number: str) -> Tokens:
        """Returns the expression of an equation with a number in the place of x."""
        return tuple(number if token == "x" else token for token in source[:-2])  # noqa: S105
