"""ListOps as it was published (Nangia and Bowman, 2018), with lists of exact lengths."""

from functools import cache

import numpy as np

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Example, Split, Tokens
from kzoo.tasks.classification import held_out
from kzoo.tasks.listops import DIGITS, NestedLists
from kzoo.tasks.strata import Stratum

OPERATIONS = ("[MIN", "[MAX", "[MED", "[SM")  # in the order of the published generator
CLOSE = "]"
OPERATION = 0.25  # how likely a tree is an operation
ARGUMENTS = 5  # of an operation, at most; the least are 2
LONGEST = 1_000


@cache
def probabilities(most: int = ARGUMENTS) -> dict[int, np.ndarray]:
    """Returns by k how likely k trees together have n tokens, for n up to 1,000, where an operation has 2 to `most`."""
    tree = np.zeros(LONGEST + 1)
    tree[1] = 1 - OPERATION
    found = {1: tree} | {k: np.zeros(LONGEST + 1) for k in range(2, most + 1)}
    for n in range(2, LONGEST + 1):
        # All with fewer tokens are known: k trees of n - 2 tokens have trees of at most n - 3.
        for k in range(2, most + 1):
            found[k][n - 1] = found[k - 1][: n - 1][::-1] @ tree[1:n]
        tree[n] = OPERATION * np.mean([found[k][n - 2] for k in range(2, most + 1)])
    return found


def pick(rng: np.random.Generator, weights: np.ndarray) -> int:
    """Draws an index with probabilities proportional to weights: what `rng.choice` does, and quicker."""
    sums = np.cumsum(weights)
    return int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))


def tree(rng: np.random.Generator, length: int, most: int = ARGUMENTS) -> list[str]:
    """Draws a tree from the published grammar, given that it has so many tokens, with up to `most` arguments each."""
    if length == 1:
        return [DIGITS[rng.integers(10)]]
    known = probabilities(most)
    number, left = 2 + pick(rng, np.array([known[k][length - 2] for k in range(2, most + 1)])), length - 2
    found = [OPERATIONS[rng.integers(4)]]
    for others in range(number - 1, -1, -1):
        size = left
        if others:
            size = 1 + pick(rng, known[1][1:left] * known[others][1:left][::-1])
        found += tree(rng, size, most)
        left -= size
    return [*found, CLOSE]


@register("task", "listops_grammar")
class ListOpsGrammar(NestedLists):
    """Nested operations on lists of digits, drawn as those of the published data; `listops` is another paper's.

    From [Nangia and Bowman, 2018](https://arxiv.org/abs/1804.06028): a tree is an operation with probability 1/4, else
    a digit; an operation is MIN, MAX, MED or SM (the sum modulo 10), with two to five trees. MED of an even number is
    the mean of the middle two, rounded down. Trained on up to 100 tokens, as in later work ([Ray Chowdhury and Caragea,
    2023](https://arxiv.org/abs/2305.19999)), whose longer lists are from the same grammar. Length counts the tokens,
    brackets included; none has two or three.

    Example:

    ```python
    task = kzoo.tasks.get("listops_grammar")
    assert task.solve(("[SM", "7", "[MED", "1", "8", "]", "9", "]")) == ("0",)
    ```

    Differences: a tree is drawn given its length, so lists of an exact length cost nothing; the published generator's
    limit of 20 levels, which hardly any tree meets, does not apply, nor does that of 8 in the later lists of up to ten
    and fifteen trees, which are strata here; of its different trees, 90,000 for training, those of over 100 tokens are
    left out, here there are so many of up to 100.
    """

    name = "listops_grammar"
    target_steps = (0, 1)
    splits = {
        "train": Split((1, 100), 90_000),
        "validation": Split((6, 100), 1_000),
        "test": Split((101, 1_000), 200),
    }
    test_lengths = (150, 250, 550)
    paper = "Nangia and Bowman, 2018 (arXiv:1804.06028)"

    @property
    def strata(self) -> dict[str, Stratum]:
        def flat(rng: np.random.Generator, n: int) -> Tokens:
            return (OPERATIONS[rng.integers(4)], *(DIGITS[i] for i in rng.integers(0, 10, n - 2)), CLOSE)

        def spine(rng: np.random.Generator, n: int) -> Tokens:
            found = [DIGITS[rng.integers(10)]]
            while len(found) + 3 <= n:
                found = [OPERATIONS[rng.integers(4)], DIGITS[rng.integers(10)], *found, CLOSE]
            return tuple(found)

        def wide(most: int) -> Stratum:
            return Stratum(f"operations of up to {most} trees", lambda rng, n: tuple(tree(rng, n, most)), shortest=4)

        return {
            "flat": Stratum("one operation, of more numbers than in training", flat, shortest=8),
            "spine": Stratum("operations within each other, of two each", spine, shortest=4),
            "ten_arguments": wide(10),
            "fifteen_arguments": wide(15),
        }

    def draw(self, rng: np.random.Generator, split: str, length: int | None) -> Example:
        if length is not None:
            return self.sample(rng, length)
        low, high = self.splits[split].lengths
        return self.sample(rng, low + pick(rng, probabilities()[1][low : high + 1]))

    def sample(self, rng: np.random.Generator, length: int) -> Example:
        if not 1 <= length <= LONGEST or probabilities()[1][length] == 0:
            raise InputError(f"{self.name} has no sources of {length} tokens: they have 1, or 4 to {LONGEST:,}")
        source = tuple(tree(rng, length))
        return Example(source, self.solve(source))

    def belongs(self, example: Example, split: str) -> bool:
        if split == "test" or len(example.source) < 6:
            return True
        return held_out(example.source) == (split == "validation")
