"""The simple arithmetic of Csordas et al. (2022): nested sums and products modulo 10."""

from collections.abc import Sequence
from functools import cache
from itertools import accumulate, product

import numpy as np

from kzoo import checks
from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Example, Split, Tokens
from kzoo.tasks.classification import CSORDAS, DEEP_BUDGET, ClassificationTask, held_out, published_means
from kzoo.tasks.expressions import DIGITS, Shape, uniforms
from kzoo.tasks.strata import Stratum
from kzoo.tasks.strata.trees import arithmetic_strata, longest, token_strata

MAX_TOKENS = 50
DEEPEST = 60  # deeper ones of so few tokens are too rare to be drawn
LONGEST_TRAINED = 5
DRAWN = 25_000  # training examples of each depth but the first
SHORTEST = 5  # tokens of a single operation
LONG = (8, 12)  # operations of what is long: 33 to 49 tokens
DEEP_ENOUGH = (4, 5)  # nested, for so many operations
SEED = 0


@register("task", "arithmetic")
class Arithmetic(ClassificationTask):
    """Simple arithmetic: the last digit of a nested expression of digits, sums and products, each in brackets.

    A character is a token. Length counts the operations within each other: "((4*7)+2)" has 2. The training split has
    the 200 single operations and 25,000 expressions of each depth from 2 to 5; the validation split has depth 6, the
    test split 7 and 8. "iid" holds 1,000 expressions of depth 2 to 5 that training never has; so are test examples of
    those depths; those of depth 1 are the training examples, since there are no others. The training split is one list,
    so a recipe that draws "fresh" examples draws from it again. No expression has more than 50 tokens, or 5 for each
    depth beyond 10. About 28 % of the answers are 0. "long" is for training too, and not of the paper: half of it are
    expressions of depth 4 and 5 with 33 tokens or more, of which the training split has one in fifty; the others
    are drawn as the training split is, from depth 1 on.

    Args:
        either_side: bool. Whether an expression that is made deeper may become either argument of the next operation.
            In the published data it always becomes the right one, which makes the deep ones lean to the right. Defaults
            to False.

    Example:

    ```python
    task = kzoo.tasks.get("arithmetic")
    assert task.solve(tuple("((4*7)+2)")) == ("0",)
    ```

    Differences from the paper, as in the authors' code: no expression without operation; an argument is an operation
    with the probability 0.2 in training, but 0.3 in validation and test. Their "iid" split shares expressions with
    training, and has the single operations; here it shares nothing.
    """

    name = "arithmetic"
    vocabulary = tuple("()*+0123456789")
    labels = tuple(DIGITS)
    characters = True
    splits = {
        "train": Split((1, 5), 200 + DRAWN * 4),
        "validation": Split((6, 6), 1_000),
        "test": Split((7, 8), 1_000),
        "iid": Split((2, 5), 1_000),
        "long": Split((1, 5), 100_000),
    }
    test_lengths: tuple[int | None, ...] = (None, 7, 8)
    seen_lengths = (1,)
    length_unit = "nested operations"
    paper = f"{CSORDAS}, Table 2"
    published = published_means(
        DEEP_BUDGET, lstm=74, bidirectional_lstm=82, transformer=47, rel=77, abs_rel_gate=80, ndr=98
    )

    @property
    def strata(self) -> dict[str, Stratum]:
        sampled = token_strata(lambda rng, depth: self.sample(rng, depth).source, few=37, many=45)
        return arithmetic_strata(most_tokens) | sampled

    def __init__(self, either_side: bool = False) -> None:
        self.either_side = checks.boolean("either_side", either_side)

    def solve(self, source: Tokens) -> Tokens:
        return (self.intermediate(source)[-1][1],)

    def intermediate(self, source: Tokens) -> list[tuple[int, str]]:
        return [(position, DIGITS[value]) for position, value in _results(self.name, tuple(source))]

    def sample(self, rng: np.random.Generator, length: int) -> Example:
        if length == 1:
            return singles()[rng.integers(len(singles()))]
        return draw_example(rng, length, self.either_side)

    def draw(self, rng: np.random.Generator, split: str, length: int | None) -> Example:
        if split == "long" and length is None and rng.random() < 0.5:
            operations, depth = (int(rng.integers(low, high + 1)) for low, high in (LONG, DEEP_ENOUGH))
            source = tuple(longest(rng, depth, 4 * operations + 1))
            return Example(source, self.solve(source))
        return super().draw(rng, split, length)

    def belongs(self, example: Example, split: str) -> bool:
        if split == "long":
            return len(example.source) == SHORTEST or not held_out(example.source)
        return held_out(example.source) or _depth(example.source) > LONGEST_TRAINED  # the training split is a list

    def pool(self, split: str, length: int | None) -> Sequence[Example] | None:
        if split == "long":
            return None
        if split == "train":
            found = [e for e in trained(self.either_side) if length in (None, _depth(e.source))]
            if not found:
                raise InputError(f"train of {self.name} has no examples of depth {length}")
            return found
        return list(singles()) if length == 1 else None

    def get_config(self) -> dict[str, object]:
        return {"either_side": self.either_side}


@cache
def shape(length: int, either_side: bool) -> Shape:
    """Returns how expressions of a depth come about."""
    if length <= LONGEST_TRAINED:
        return Shape(0.2, 2, LONGEST_TRAINED, either_side)
    return Shape(0.3, 7, 8, either_side) if length in (7, 8) else Shape(0.3, length, length, either_side)


def most_tokens(length: int) -> int:
    """Returns how many tokens an expression of a depth has at most."""
    return max(MAX_TOKENS, 5 * length)


def draw_example(rng: np.random.Generator, length: int, either_side: bool) -> Example:
    """Returns a random example of a depth, 2 or more."""
    if length > DEEPEST:
        raise InputError(f"a depth of arithmetic is at most {DEEPEST}, not {length}")
    draw, limit = uniforms(rng), most_tokens(length)
    while True:
        text, value = shape(length, either_side).expression(draw, length)
        if len(text) <= limit:
            return Example(tuple(text), (DIGITS[value],))


@cache
def singles() -> tuple[Example, ...]:
    """Returns the 200 single operations."""
    results = {"+": lambda a, b: a + b, "*": lambda a, b: a * b}
    return tuple(
        Example(("(", DIGITS[a], operation, DIGITS[b], ")"), (DIGITS[result(a, b) % 10],))
        for (operation, result), a, b in product(results.items(), range(10), range(10))
    )


@cache
def trained(either_side: bool) -> tuple[Example, ...]:
    """Returns the training split."""
    rng = np.random.default_rng(SEED)
    found: dict[Tokens, Example] = {}
    for depth in range(2, LONGEST_TRAINED + 1):
        while len(found) < DRAWN * (depth - 1):
            example = draw_example(rng, depth, either_side)
            if not held_out(example.source):
                found.setdefault(example.source, example)
    return (*singles(), *found.values())


def _depth(source: Tokens) -> int:
    return max(accumulate(1 if token == "(" else -1 if token == ")" else 0 for token in source))


def _results(name: str, source: Tokens) -> list[tuple[int, int]]:
    """Returns the positions of the closing brackets with what is between them and theirs, the whole expression last.

    It is read with a stack of what stands before each open bracket.
    """
    stack: list[list[str | int]] = [[]]
    found: list[tuple[int, int]] = []
    for position, token in enumerate(source):
        if token == "(":
            stack.append([])
        elif token == ")" and len(stack) > 1:
            match stack.pop():
                case [int(a), "+" | "*" as operation, int(b)]:
                    found.append((position, (a + b if operation == "+" else a * b) % 10))
                    stack[-1].append(found[-1][1])
                case _:
                    break
        else:
            stack[-1].append(int(token) if token in tuple(DIGITS) else token)
    match stack:
        case [[int()]] if found:
            return found
    raise InputError(f"a source of {name} is a nested expression as ((4*7)+2), not {' '.join(source)!r:.100}")
