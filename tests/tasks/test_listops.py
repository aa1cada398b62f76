"""ListOps with dependency depth."""

import time
from collections import Counter

import numpy as np
import pytest

from kzoo import tasks
from kzoo.errors import InputError
from kzoo.tasks.classification import held_out
from kzoo.tasks.listops import OPERATIONS, apply

pytestmark = pytest.mark.once

TASK = tasks.get("listops")


def tree(tokens):
    """Returns a nested list [operation, argument, ...] of the tokens, which are used up."""
    token = tokens.pop(0)
    if token not in OPERATIONS:
        return int(token)
    found = [token]
    while tokens[0] != "]":
        found.append(tree(tokens))
    tokens.pop(0)
    return found


def value(node):
    if isinstance(node, int):
        return node
    values = [value(argument) for argument in node[1:]]
    return {"[MIN": min, "[MAX": max, "[SM": lambda v: sum(v) % 10, "[MED": lambda v: int(np.median(v))}[node[0]](
        values
    )


@pytest.mark.parametrize(
    "source, answer, depth",
    [
        ("[MED 4 8 5 [MAX 8 4 9 ] ]", 6, 1),  # the middle two are 5 and 8
        ("[MED 4 8 5 [MAX 8 4 7 ] ]", 6, 1),
        ("[SM 9 8 7 ]", 4, 1),
        ("[MIN [SM 1 2 ] 3 ]", 3, 2),  # of equals the first is selected
        ("[MIN 3 [SM 1 2 ] ]", 3, 1),
        ("[MAX [MIN [SM 9 9 ] 1 ] 2 ]", 2, 1),
        ("[MED 1 [SM 4 5 ] 2 ]", 2, 1),
        ("[MED 1 [SM 0 2 ] 9 ]", 2, 2),
        ("[SM 0 [SM 0 [SM 0 0 ] ] ]", 0, 3),
        ("[SM [MED [MIN 1 7 4 [MAX 2 4 0 8 9 ] ] 7 ] 5 [MED 8 5 8 ] 0 7 ]", 4, 3),
    ],
)
def test_worked_examples(source, answer, depth):
    tokens = tuple(source.split())
    assert TASK.solve(tokens) == (str(answer),)
    assert TASK.depth(tokens) == depth


def closing(tokens):
    """How many brackets it takes to close what these open."""
    return sum((token[0] == "[") - (token == "]") for token in tokens)


def test_intermediate_results():
    source = tuple("[SM [MED 4 8 5 [MAX 8 4 7 ] ] 9 ]".split())
    of_max, of_median = [(6, "8"), (7, "8"), (8, "8"), (5, "8")], [(2, "4"), (3, "6"), (4, "5")]
    of_sum = [(10, "6"), (11, "5"), (0, "5"), (12, "5")]
    assert TASK.intermediate(source) == [*of_median, *of_max, (9, "6"), (1, "6"), *of_sum]
    assert TASK.intermediate(("7",)) == [(0, "7")]
    assert TASK.causal_results(source) == [*of_median, *of_max[:3], (9, "6"), *of_sum[:2], (12, "5")]
    for example in TASK.examples("test", 50):
        source = example.source
        found = dict(TASK.intermediate(source))
        assert sorted(found) == list(range(len(source)))
        assert found[0] == found[len(source) - 1] == example.target[0]
        for place, result in found.items():
            if source[place][0] == "[":  # what it opens is an expression of its own
                end = next(i for i in range(place + 1, len(source) + 1) if closing(source[place:i]) == 0)
                assert TASK.solve(source[place:end]) == (result,)
            elif place < len(source) - 1:  # so is what is around, closed there
                start = next(i for i in range(place, -1, -1) if closing(source[i : place + 1]) == 1)
                assert TASK.solve((*source[start : place + 1], "]")) == (result,)


def test_equals_are_taken_in_their_order():
    assert apply("[MED", [5, 5, 5], [0, 3, 7]) == (5, 4)
    assert apply("[MED", [5, 5, 1, 9], [2, 4, 9, 9]) == (5, 5)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 6, 7, 8, 14])
def test_depths_and_limits(length):
    for source, target in TASK.examples("test", 60, length=length):
        assert TASK.depth(source) == length and len(source) <= max(50, 6 * length)
        node = tree(list(source))
        assert target == (str(value(node)),)
        for operation in walk(node):
            assert 2 <= len(operation) - 1 <= 5


def walk(node):
    if isinstance(node, list):
        yield node
        for argument in node[1:]:
            yield from walk(argument)


def test_every_operation_and_depth_takes_part():
    examples = TASK.examples("train", 3_000)
    tokens = Counter(token for example in examples for token in example.source)
    assert all(tokens[operation] > 250 for operation in OPERATIONS)
    depths = Counter(TASK.depth(example.source) for example in examples)
    assert set(depths) == {1, 2, 3, 4, 5} and min(depths.values()) > 450
    # Some nest deeper than they depend: what is not selected may be anything.
    nesting = [max(np.cumsum([(t in OPERATIONS) - (t == "]") for t in e.source])) for e in examples]
    assert np.mean([n > TASK.depth(e.source) for n, e in zip(nesting, examples, strict=True)]) > 0.1


def test_training_never_sees_the_other_splits():
    train = TASK.examples("train", 3_000)
    assert not any(TASK.belongs(example, split) for example in train for split in ("iid", "validation", "test"))


def test_a_million_take_minutes():
    started = time.process_time()
    TASK.examples("train", 3_000)
    assert time.process_time() - started < 3  # a thousand seconds, on a machine that does much else


def test_majority():
    label = TASK.majority_label()
    assert label in TASK.labels
    share = sum(example.target == (label,) for example in TASK.examples("test", 1000)) / 1000
    assert 0.05 < share < 0.25


@pytest.mark.parametrize("source", ["[MAX", "[MAX ]", "[MAX 1 2", "1 2", "[MAX 1 ] ]", "[SM 1 a ]", "]", ""])
def test_what_is_no_source(source):
    with pytest.raises(InputError, match="a source of listops"):
        TASK.solve(tuple(source.split()))


def test_half_of_the_long_split_is_long():
    examples = TASK.examples("long", 2_000)
    assert 0.55 < np.mean([len(example.source) >= 36 for example in examples]) < 0.67
    assert max(len(example.source) for example in examples) == 42
    assert {TASK.depth(example.source) for example in examples} == {1, 2, 3, 4, 5}
    assert not any(held_out(example.source) for example in examples)
