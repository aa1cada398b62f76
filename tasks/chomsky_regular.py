"""The regular tasks of Deletang et al. (2023)."""

import numpy as np

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Tokens
from kzoo.tasks.chomsky import BITS, NUMBERS, ChomskyTask, random_tokens
from kzoo.tasks.classification import ClassificationTask
from kzoo.tasks.strata import Stratum

MODULUS = 5
OPERATORS = ("+", "-", "*")
MOVES = ("-", "0", "+")


class BitLabelTask(ChomskyTask, ClassificationTask):
    """Base of the tasks with one answer to a string of bits."""

    vocabulary: Tokens = BITS
    labels = BITS
    target_steps = (0, 1)
    characters = True
    level = "regular"

    @property
    def strata(self) -> dict[str, Stratum]:
        return {
            "ones": Stratum("ones only", lambda rng, n: ("1",) * n),
            "single_one": Stratum("a single one", lambda rng, n: one_at(int(rng.integers(n)), n)),
            "sparse": Stratum(
                "a one in twenty tokens", lambda rng, n: tuple(BITS[int(x < 0.05)] for x in rng.random(n))
            ),
        }

    def draw_source(self, rng: np.random.Generator, length: int) -> Tokens:
        return random_tokens(rng, BITS, length)


def one_at(place: int, length: int) -> Tokens:
    """Returns zeros with a single one."""
    return tuple(BITS[int(i == place)] for i in range(length))


@register("task", "even_pairs")
class EvenPairs(BitLabelTask):
    """Whether the pairs 01 and 10 in a string are together odd in number: 1, else 0.

    It is so exactly where the first bit is not the last.

    Example:

    ```python
    task = kzoo.tasks.get("even_pairs")
    assert task.solve(tuple("0110")) == ("0",) and task.solve(tuple("0111")) == ("1",)
    ```
    """

    name = "even_pairs"

    def solve(self, source: Tokens) -> Tokens:
        self.check(source, BITS, "one or more bits")
        changes = sum(a != b for a, b in zip(source, source[1:], strict=False))
        return (BITS[changes % 2],)


@register("task", "parity_check")
class ParityCheck(BitLabelTask):
    """Whether the ones of a string are odd in number: 1, else 0. `parity_class` has numbers written in binary.

    Example:

    ```python
    task = kzoo.tasks.get("parity_check")
    assert task.solve(tuple("1011")) == ("1",)
    ```
    """

    name = "parity_check"

    def solve(self, source: Tokens) -> Tokens:
        self.check(source, BITS, "one or more bits")
        return (BITS[source.count("1") % 2],)


@register("task", "cycle_navigation")
class CycleNavigation(ChomskyTask, ClassificationTask):
    """Where one stands on a circle of five places, after moves by -1, 0 and +1, from place 0 on.

    Example:

    ```python
    task = kzoo.tasks.get("cycle_navigation")
    assert task.solve(tuple("+0--")) == ("4",)
    ```

    Differences: the paper says 0, 1, 2 for stay, forward, back, and its code for back, stay, forward; here they have
    signs.
    """

    name = "cycle_navigation"
    vocabulary = (*MOVES, *NUMBERS[1:])
    labels = NUMBERS
    target_steps = (0, 1)
    characters = True
    level = "regular"

    @property
    def strata(self) -> dict[str, Stratum]:
        return {
            "one_way": Stratum("moves one way only", lambda rng, n: (MOVES[2 * rng.integers(2)],) * n),
            "to_and_fro": Stratum(
                "forward and back in turn", lambda rng, n: tuple(MOVES[::-2][i % 2] for i in range(n))
            ),
            "sparse": Stratum(
                "a move in twenty tokens",
                lambda rng, n: tuple(MOVES[2 * rng.integers(2)] if x < 0.05 else MOVES[1] for x in rng.random(n)),
            ),
        }

    def draw_source(self, rng: np.random.Generator, length: int) -> Tokens:
        return random_tokens(rng, MOVES, length)

    def solve(self, source: Tokens) -> Tokens:
        self.check(source, MOVES, "one or more of the moves -, 0 and +")
        return (NUMBERS[(source.count("+") - source.count("-")) % MODULUS],)


@register("task", "modular_arithmetic_simple")
class ModularArithmeticSimple(ChomskyTask, ClassificationTask):
    """The value modulo 5 of numbers with +, - and * between them, * first, without brackets.

    A source has an odd number of tokens: an even length is one less, as in the paper's code; the paper's text has one
    more. So validation sources of length 8 have 7 tokens, and may be those of training.

    Example:

    ```python
    task = kzoo.tasks.get("modular_arithmetic_simple")
    assert task.solve(tuple("1+2*3-4")) == ("3",)
    ```
    """

    name = "modular_arithmetic_simple"
    vocabulary = (*NUMBERS, *OPERATORS)
    labels = NUMBERS
    target_steps = (0, 1)
    characters = True
    level = "regular"

    @property
    def strata(self) -> dict[str, Stratum]:
        return {
            "products": Stratum("* only", lambda rng, n: self.write(rng, n, ("*",), NUMBERS[1:]), shortest=3),
            "sums": Stratum("+ only", lambda rng, n: self.write(rng, n, ("+",), NUMBERS), shortest=3),
        }

    def draw_source(self, rng: np.random.Generator, length: int) -> Tokens:
        return self.write(rng, length, OPERATORS, NUMBERS)

    def write(self, rng: np.random.Generator, length: int, operators: Tokens, numbers: Tokens) -> Tokens:
        """Draws numbers with operators between them."""
        count = (length + 1) // 2
        source = [""] * (2 * count - 1)
        source[::2], source[1::2] = random_tokens(rng, numbers, count), random_tokens(rng, operators, count - 1)
        return tuple(source)

    def solve(self, source: Tokens) -> Tokens:
        if not source or len(source) % 2 == 0 or not set(source[::2]) <= set(NUMBERS):
            raise InputError(f"a source of {self.name} is numbers 0 to 4 with an operator between each two")
        if not set(source[1::2]) <= set(OPERATORS):
            raise InputError(f"an operator of {self.name} is +, - or *")
        total, product = 0, int(source[0])
        for operator, number in zip(source[1::2], source[2::2], strict=True):
            if operator == "*":
                product = product * int(number) % MODULUS
            else:
                total, product = total + product, int(number) if operator == "+" else -int(number)
        return (NUMBERS[(total + product) % MODULUS],)
