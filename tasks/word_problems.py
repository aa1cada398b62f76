"""Word problems of groups: the product of all elements so far, at every element."""

from functools import cache
from itertools import permutations

import numpy as np

from kzoo.registry import register
from kzoo.tasks.base import Tokens
from kzoo.tasks.chomsky import ChomskyTask, random_tokens
from kzoo.tasks.strata import Stratum

Permutation = tuple[int, ...]


@cache
def elements(points: int, even: bool) -> tuple[Permutation, ...]:
    """Returns the permutations of so many points, all or the even ones, in their order: the first is the identity."""
    found = permutations(range(points))
    return tuple(p for p in found if not even or sum(a > b for i, a in enumerate(p) for b in p[i + 1 :]) % 2 == 0)


@cache
def products(points: int, even: bool) -> tuple[tuple[int, ...], ...]:
    """Returns of each element, by its number, the number of its product with each: first the one, then the other."""
    group = elements(points, even)
    number = {element: k for k, element in enumerate(group)}
    return tuple(tuple(number[tuple(second[i] for i in first)] for second in group) for first in group)


class WordProblem(ChomskyTask):
    """Base of the word problems: a source is elements of a group, the target their products s_1 .. s_L.

    As in [Merrill et al., 2024](https://arxiv.org/abs/2404.08819): s_t = g_1 g_2 ... g_t, the elements uniform and
    numbered. An element is a permutation p of points, and s_t maps point i to g_t[s_(t-1)[i]]. The last product alone
    is the answer where a model gives one label. Length counts the elements.
    """

    points = 0
    even = False
    target_steps = (1, 0)
    last_answers = True
    length_unit = "elements"
    paper = "Merrill et al., 2024 (arXiv:2404.08819), Grazzi et al., 2025 (arXiv:2411.12537)"

    @property
    def strata(self) -> dict[str, Stratum]:
        return {
            "repeated": Stratum(
                "one element only", lambda rng, n: (self.vocabulary[rng.integers(1, len(self.vocabulary))],) * n
            ),
            "mostly_identity": Stratum("the identity nine times in ten", self.sparse),
        }

    def sparse(self, rng: np.random.Generator, length: int) -> Tokens:
        """Draws elements that are mostly the identity, which is the first."""
        drawn = random_tokens(rng, self.vocabulary, length)
        return tuple(
            token if moved else self.vocabulary[0] for token, moved in zip(drawn, rng.random(length) < 0.1, strict=True)
        )

    def draw_source(self, rng: np.random.Generator, length: int) -> Tokens:
        return random_tokens(rng, self.vocabulary, length)

    def solve(self, source: Tokens) -> Tokens:
        self.check(source, self.vocabulary, f"one or more elements {self.vocabulary[0]} to {self.vocabulary[-1]}")
        table, state, found = products(self.points, self.even), 0, []
        for token in source:
            state = table[state][int(token[1:])]
            found.append(self.vocabulary[state])
        return tuple(found)


def tokens_of(points: int, even: bool) -> Tokens:
    """Returns the tokens of the elements: g0, the identity, g1, ..."""
    return tuple(f"g{i}" for i in range(len(elements(points, even))))


@register("task", "s3")
class S3(WordProblem):
    """The word problem of the permutations of three points, a solvable group.

    Example:

    ```python
    task = kzoo.tasks.get("s3")
    assert task.solve(("g1", "g1", "g2")) == ("g1", "g0", "g2")
    ```
    """

    name, points = "s3", 3
    vocabulary = tokens_of(3, False)


@register("task", "a5")
class A5(WordProblem):
    """The word problem of the even permutations of five points, the smallest group that is not solvable.

    Example:

    ```python
    task = kzoo.tasks.get("a5")
    assert len(task.vocabulary) == 60 and task.solve(("g0", "g7")) == ("g0", "g7")
    ```
    """

    name, points, even = "a5", 5, True
    vocabulary = tokens_of(5, True)


@register("task", "s5")
class S5(WordProblem):
    """The word problem of the permutations of five points, which is not solvable.

    Example:

    ```python
    task = kzoo.tasks.get("s5")
    assert len(task.vocabulary) == 120 and task.solve(("g1", "g1")) == ("g1", "g0")
    ```
    """

    name, points = "s5", 5
    vocabulary = tokens_of(5, False)
