"""The ListOps of Csordas et al. (2022), after Nangia and Bowman (2018): nested operations on lists."""

from collections.abc import Sequence

import numpy as np

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Example, Split, Tokens
from kzoo.tasks.classification import CSORDAS, DEEP_BUDGET, ClassificationTask, held_out, published_means
from kzoo.tasks.expressions import Draw, uniforms
from kzoo.tasks.strata import Stratum
from kzoo.tasks.strata.trees import listops_strata, token_strata

DIGITS = tuple("0123456789")
OPERATIONS = ("[MAX", "[MED", "[MIN", "[SM")
NESTING = 0.3
MAX_ARGUMENTS = 5
MAX_SIZE = 50
LONGEST_TRAINED = 5
LONG = 36  # tokens

# A text, its value, its dependency depth, and its size.
Tree = tuple[str, int, int, int]
LEAVES: tuple[Tree, ...] = tuple((digit, int(digit), 0, 1) for digit in DIGITS)
TARGETS = tuple((digit,) for digit in DIGITS)


def apply(operation: str, values: Sequence[int], depths: Sequence[int]) -> tuple[int, int]:
    """Returns the value of an operation, and its dependency depth: one more than the deepest argument that it selects.

    Minimum and maximum select the first argument of that value, the sum selects all, the median the middle one of the
    sorted arguments, or the middle two; among equals, the first counts as less.
    """
    if operation == "[SM":
        return sum(values) % 10, 1 + max(depths)
    if operation != "[MED":
        value = min(values) if operation == "[MIN" else max(values)
        return value, 1 + depths[values.index(value)]
    order = sorted(range(len(values)), key=values.__getitem__)
    low, high = order[(len(order) - 1) // 2], order[len(order) // 2]
    return (values[low] + values[high]) // 2, 1 + max(depths[low], depths[high])


def join(operation: str, arguments: Sequence[Tree]) -> Tree:
    """Returns an operation on arguments; its size is that of the published data, a token more than it has."""
    texts, values, depths, sizes = zip(*arguments, strict=True)
    value, depth = apply(operation, values, depths)
    return f"{operation} {' '.join(texts)} ]", value, depth, 3 + sum(sizes)


def random_operation(draw: Draw, room: int, limit: int, inner: Tree | None = None) -> Tree | None:
    """Returns a random operation, or None once it is known to be larger than `limit`.

    Args:
        draw: gives numbers uniform in [0, 1).
        room: int. How many operations within each other its random arguments may have.
        limit: int.
        inner: an argument that it has at a random index.
    """
    operation, number = OPERATIONS[int(draw() * 4)], 2 + int(draw() * (MAX_ARGUMENTS - 1))
    index = int(draw() * number) if inner else -1
    spare = limit - 2 - number - (inner[3] if inner else 1)  # what is left, a digit for each argument set aside
    arguments: list[Tree] = []
    while len(arguments) < number and spare >= 0:
        found = inner if len(arguments) == index else None
        if found is None:
            nested = room > 0 and draw() < NESTING
            found = random_operation(draw, room - 1, spare + 1) if nested else LEAVES[int(draw() * 10)]
            if found is None:
                return None
            spare -= found[3] - 1
        arguments.append(found)
    return join(operation, arguments) if spare >= 0 else None


def expression(draw: Draw, depth: int) -> Tree:
    """Returns a random expression of exactly that dependency depth.

    It is drawn along what it depends on, from inside: an operation whose result depends on digits only, then operations
    around it, each drawn until its result depends on the one within. To draw whole expressions and keep the deep ones
    takes thousands of draws for one.
    """
    room, limit = max(depth, LONGEST_TRAINED) - 1, max(MAX_SIZE, 6 * depth)
    tree: Tree | None = None
    for k in range(1, depth + 1):
        found: Tree | None = None
        while found is None or found[2] != k:
            # The smallest operation around another adds 4 to its size.
            found = random_operation(draw, room, limit - 4 * (depth - k), tree)
        tree = found
    if tree is None:
        raise InputError(f"the depth of an expression must be 1 or more, not {depth}")
    return tree


class NestedLists(ClassificationTask):
    """Base of the tasks that ask for the value of nested operations on lists of digits.

    A median of two middle values is their mean, rounded down; a sum is taken modulo 10.
    """

    vocabulary = (*DIGITS, *OPERATIONS, "]")
    labels = DIGITS

    def solve(self, source: Tokens) -> Tokens:
        return TARGETS[self._read(tuple(source))[0]]

    def intermediate(self, source: Tokens) -> list[tuple[int, str]]:
        """Returns at the first token of each operation its value, at the last token of each argument what the operation
        around would be if it closed there, and at the last token of all the value of all.

        Sums modulo 10 are learned as sums of two, and what stands before an inner operation has to be brought past it.
        """
        return [(position, DIGITS[value]) for position, value in self._read(tuple(source))[2]]

    def causal_results(self, source: Tokens) -> list[tuple[int, str]]:
        """Returns those of `intermediate` but the values at the first tokens of operations, which follow later."""
        return [(place, value) for place, value in self.intermediate(source) if source[place] not in OPERATIONS]

    def depth(self, source: Tokens) -> int:
        """Returns the dependency depth of a source.

        Raises:
            InputError: the source is not one of this task's.
        """
        return self._read(tuple(source))[1]

    def _read(self, source: Tokens) -> tuple[int, int, list[tuple[int, int]]]:
        """Returns value, dependency depth, and the values of `intermediate`.

        They are read with a stack of the arguments of each open operation.
        """
        found: list[tuple[int, int]] = []
        stack: list[tuple[int, str, list[int], list[int]]] = [(0, "", [], [])]
        for position, token in enumerate(source):
            if token in OPERATIONS:
                stack.append((position, token, [], []))
                continue
            if token == "]" and len(stack) > 1 and stack[-1][2]:
                start, operation, values, depths = stack.pop()
                value, depth = apply(operation, values, depths)
                found.append((start, value))
            elif token in DIGITS:
                value, depth = int(token), 0
            else:
                break
            _, around, values, depths = stack[-1]
            values.append(value)
            depths.append(depth)
            found.append((position, apply(around, values, depths)[0] if around else value))
        else:
            if len(stack) == 1 and len(stack[0][2]) == 1:
                return stack[0][2][0], stack[0][3][0], found
        raise InputError(f"a source of {self.name} is as [MED 4 8 5 [MAX 8 4 9 ] ], not {' '.join(source)!r:.100}")


@register("task", "listops")
class ListOps(NestedLists):
    """ListOps: the value of nested minima, maxima, medians and sums modulo 10, of 2 to 5 digits or operations each.

    A median of two middle values is their mean, rounded down. Length is the dependency depth: operations within each
    other, counted only along the arguments that an operation selects; others may nest deeper, and cannot be ignored
    before it is known that they may. The training split has a million expressions of depth 1 to 5, the validation split
    depth 6, the test split 7 and 8. "iid" holds 1,000 of depth 1 to 5 that training never has; so are test examples of
    those depths. An argument is an operation with the probability 0.3. No expression has more than 50 tokens, or 6 for
    each depth beyond the published.

    Example:

    ```python
    task = kzoo.tasks.get("listops")
    source = tuple("[MED 4 8 5 [MAX 8 4 9 ] ]".split())
    assert task.solve(source) == ("6",) and task.depth(source) == 1  # the maximum, 9, is not in the middle
    ```

    Differences from the authors' code: it draws whole expressions, wraps the shallow ones, never as a last argument,
    and keeps those of the right depth; and names its seed by a hash that is another one in every process. Here every
    depth is drawn alike, see `expression`. As there, an operation counts for three tokens towards the limit, though it
    is two."""

    name = "listops"
    splits = {
        "train": Split((1, 5), 1_000_000),
        "validation": Split((6, 6), 1_000),
        "test": Split((7, 8), 1_000),
        "iid": Split((1, 5), 1_000),
        "long": Split((1, 5), 1_000_000),
    }
    test_lengths: tuple[int | None, ...] = (None, 7, 8)
    length_unit = "dependency depth"
    paper = f"{CSORDAS}, Table 3"
    published = published_means(
        DEEP_BUDGET, lstm=71, bidirectional_lstm=57, transformer=74, rel=79, abs_rel_gate=90, ndr=99
    )

    @property
    def strata(self) -> dict[str, Stratum]:
        sampled = token_strata(lambda rng, depth: self.sample(rng, depth).source, few=34, many=40)
        return listops_strata(OPERATIONS, self.depth) | sampled

    def sample(self, rng: np.random.Generator, length: int) -> Example:
        text, value, _, _ = expression(uniforms(rng), length)
        return Example(tuple(text.split()), TARGETS[value])

    def draw(self, rng: np.random.Generator, split: str, length: int | None) -> Example:
        least = LONG if split == "long" and rng.random() < 0.5 else 0
        while True:
            example = super().draw(rng, split, length)
            if len(example.source) >= least:
                return example

    def belongs(self, example: Example, split: str) -> bool:
        if split in ("train", "long"):
            return not held_out(example.source)
        return held_out(example.source) or self.depth(example.source) > LONGEST_TRAINED
