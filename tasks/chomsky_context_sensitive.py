"""The context-sensitive tasks of Deletang et al. (2023)."""

import numpy as np

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Tokens
from kzoo.tasks.chomsky import BITS, NUMBERS, ChomskyTask, random_tokens, regular_bits
from kzoo.tasks.classification import ClassificationTask
from kzoo.tasks.strata import Stratum

HIDDEN, ODD = "?", "."


class BitsTask(ChomskyTask):
    """Base of the tasks that write a string of bits anew."""

    vocabulary: Tokens = BITS
    characters = True
    level = "context-sensitive"

    @property
    def strata(self) -> dict[str, Stratum]:
        return regular_bits()

    def draw_source(self, rng: np.random.Generator, length: int) -> Tokens:
        return random_tokens(rng, BITS, length)


@register("task", "duplicate_string")
class DuplicateString(BitsTask):
    """A string of bits, twice.

    Example:

    ```python
    task = kzoo.tasks.get("duplicate_string")
    assert task.solve(tuple("0110")) == tuple("01100110")
    ```
    """

    name = "duplicate_string"
    target_steps = (2, 0)

    def solve(self, source: Tokens) -> Tokens:
        self.check(source, BITS, "one or more bits")
        return tuple(source) * 2


@register("task", "missing_duplicate")
class MissingDuplicate(ChomskyTask, ClassificationTask):
    """The bit that is hidden in a string that stands there twice. A source of odd length ends with ".".

    A string that stands there twice has an even number of ones, so the hidden bit is the parity of those that are seen:
    a network that keeps a parity is right without remembering the string.

    Example:

    ```python
    task = kzoo.tasks.get("missing_duplicate")
    assert task.solve(tuple("01100?10")) == ("1",)
    ```
    """

    name = "missing_duplicate"
    vocabulary = (*BITS, HIDDEN, ODD)
    labels = BITS
    target_steps = (0, 1)
    characters = True
    level = "context-sensitive"
    shortest = 2

    @property
    def strata(self) -> dict[str, Stratum]:
        def hidden(rng: np.random.Generator, n: int, half: int) -> Tokens:
            bits = random_tokens(rng, BITS, n // 2)
            return self.hide(bits, half * len(bits) + int(rng.integers(len(bits))), n)

        return {
            "first_half": Stratum("hidden in the first half", lambda rng, n: hidden(rng, n, 0), shortest=2),
            "second_half": Stratum("hidden in the second half", lambda rng, n: hidden(rng, n, 1), shortest=2),
        }

    def draw_source(self, rng: np.random.Generator, length: int) -> Tokens:
        bits = random_tokens(rng, BITS, length // 2)
        return self.hide(bits, int(rng.integers(2 * len(bits))), length)

    def hide(self, bits: Tokens, place: int, length: int) -> Tokens:
        """Returns bits, twice, one of them hidden."""
        source = [*bits, *bits, *[ODD] * (length % 2)]
        source[place] = HIDDEN
        return tuple(source)

    def solve(self, source: Tokens) -> Tokens:
        whole = source[:-1] if source[-1:] == (ODD,) else source
        half = len(whole) // 2
        if source.count(HIDDEN) != 1 or len(whole) % 2 or not set(whole) <= {*BITS, HIDDEN}:
            raise InputError(f"a source of {self.name} is bits that stand there twice, one of them hidden by ?")
        first, second = whole[:half], whole[half:]
        place = whole.index(HIDDEN)
        answer = whole[(place + half) % len(whole)]
        if tuple(answer if x == HIDDEN else x for x in first) != tuple(answer if x == HIDDEN else x for x in second):
            raise InputError(f"the two halves of {''.join(source)!r:.60} are not the same")
        return (answer,)


@register("task", "odds_first")
class OddsFirst(BitsTask):
    """The bits at the odd places of a string, then those at the even ones; the first bit is at place 1.

    The rule is that of the paper's text; its code has the even ones first.

    Example:

    ```python
    task = kzoo.tasks.get("odds_first")
    assert task.solve(tuple("00101")) == tuple("01100")
    ```
    """

    name = "odds_first"
    target_steps = (1, 0)

    def solve(self, source: Tokens) -> Tokens:
        self.check(source, BITS, "one or more bits")
        return (*source[::2], *source[1::2])


@register("task", "bucket_sort")
class BucketSort(ChomskyTask):
    """Numbers 0 to 4, sorted.

    The accuracy of tokens is nearly free here: the most frequent number at each place is right for 90 % of the paper's
    tokens. Sequence accuracy is what counts.

    Example:

    ```python
    task = kzoo.tasks.get("bucket_sort")
    assert task.solve(tuple("31402")) == tuple("01234")
    ```
    """

    name = "bucket_sort"
    vocabulary = NUMBERS
    characters = True
    target_steps = (1, 0)
    level = "context-sensitive"

    @property
    def strata(self) -> dict[str, Stratum]:
        return {
            "two_numbers": Stratum(
                "two of the numbers only",
                lambda rng, n: tuple(str(x) for x in rng.permutation(5)[:2][rng.integers(0, 2, n)]),
            ),
            "reversed": Stratum(
                "numbers that fall", lambda rng, n: tuple(sorted(random_tokens(rng, NUMBERS, n)))[::-1]
            ),
        }

    def draw_source(self, rng: np.random.Generator, length: int) -> Tokens:
        return random_tokens(rng, NUMBERS, length)

    def solve(self, source: Tokens) -> Tokens:
        self.check(source, NUMBERS, "one or more numbers 0 to 4")
        return tuple(sorted(source))
