"""Simple arithmetic."""

from collections import Counter

import numpy as np
import pytest

from kzoo import tasks
from kzoo.errors import InputError
from kzoo.tasks.classification import held_out
from kzoo.tasks.expressions import Shape, uniforms

pytestmark = pytest.mark.once

TASK = tasks.get("arithmetic")


def depth(source):
    level, deepest = 0, 0
    for token in source:
        level += {"(": 1, ")": -1}.get(token, 0)
        deepest = max(deepest, level)
    return deepest


def value(source):
    """The value by Python's own arithmetic: modulo 10 at the end is modulo 10 at every step."""
    return str(eval("".join(source)) % 10)


def test_the_published_sizes_and_depths():
    train = TASK.examples("train")
    assert Counter(depth(example.source) for example in train) == {1: 200, **dict.fromkeys((2, 3, 4, 5), 25_000)}
    # Of the published generator, unique expressions: 15.1, 19.8 and 25.1 tokens.
    for n, tokens in ((3, 15.1), (4, 19.8), (5, 25.1)):
        found = np.mean([len(example.source) for example in train if depth(example.source) == n])
        assert found == pytest.approx(tokens, abs=0.15)
    assert {depth(example.source) for example in TASK.examples("validation")} == {6}
    assert {depth(example.source) for example in TASK.examples("test")} == {7, 8}
    for split in TASK.splits:
        assert max(len(example.source) for example in TASK.examples(split, 10_000 if split == "long" else None)) <= 50
    assert {depth(example.source) for example in TASK.examples("test", 20, length=12)} == {12}


def test_values():
    for split in TASK.splits:
        for source, target in TASK.examples(split, 500):
            assert target == (value(source),) == TASK.solve(source)


def test_intermediate_results():
    assert TASK.intermediate(tuple("((4*7)+(2+(3*3)))")) == [(5, "8"), (14, "9"), (15, "1"), (16, "9")]
    for source, _ in TASK.examples("test", 200):
        for place, result in TASK.intermediate(source):
            start = max(i for i in range(place) if source[i : place + 1].count("(") == source[i : place + 1].count(")"))
            assert result == value(source[start : place + 1])


def test_training_never_sees_the_other_splits():
    train = {example.source for example in TASK.examples("train")}
    for split in ("validation", "test", "iid"):
        assert not train & {example.source for example in TASK.examples(split)}
    for n in (2, 3, 4, 5):
        assert not train & {example.source for example in TASK.examples("test", 300, length=n)}


def drawn_as_published(rng, nesting, low, high):
    """The published way: a random tree, then operations around it until it is deep enough, whatever comes out."""

    def tree(room):
        if room == 0 or rng.random() >= nesting:
            return 0
        return 1 + max(tree(room - 1), tree(room - 1))

    found, wrapped = tree(high), 0
    while found < low:
        found, wrapped = 1 + max(found, tree(high - 1)), wrapped + 1
    return found, wrapped


def test_drawing_a_depth_is_drawing_and_sorting():
    rng = np.random.default_rng(0)
    published = Counter(drawn_as_published(rng, 0.3, 2, 4)[0] for _ in range(20_000))
    shape = Shape(0.3, 2, 4)
    for k in (2, 3, 4):  # the weight that the shape gives a depth is its share
        assert shape.first[k][-1] == pytest.approx(published[k] / 20_000, abs=0.012)
        for _ in range(50):
            assert depth(shape.expression(uniforms(rng), k)[0]) == k


def test_deep_expressions_lean_to_the_right_unless_told():
    def heavier_right(task):
        """The share of expressions whose last bracket is closed at once with others."""
        return np.mean([example.source[-2] == ")" for example in task.examples("test", 300)])

    assert heavier_right(TASK) > heavier_right(tasks.get("arithmetic", either_side=True)) + 0.08


def test_majority():
    label = TASK.majority_label()
    assert label in TASK.labels
    share = sum(example.target == (label,) for example in TASK.examples("test", 1000)) / 1000
    assert 0.2 < share < 0.33


NO_SOURCES = ["7", "(4+", "4+5", "(4+5", "4+5)", "((4+5)", "(4-5)", "(4)", "(4+5)(1+2)", "(++)", ""]


@pytest.mark.parametrize("source", NO_SOURCES)
def test_what_is_no_source(source):
    with pytest.raises(InputError, match="nested expression"):
        TASK.solve(tuple(source))


def test_depths_far_beyond_the_published():
    task = tasks.get("arithmetic")
    for depth in (30, 60):
        ((source, target),) = task.examples("test", 1, length=depth)
        assert task.solve(source) == target and len(source) <= 5 * depth
    with pytest.raises(InputError, match="a depth of arithmetic is at most 60, not 300"):
        task.examples("test", 1, length=300)


def test_half_of_the_long_split_is_long():
    examples = TASK.examples("long", 2_000)
    assert 0.45 < np.mean([len(example.source) >= 33 for example in examples]) < 0.6
    assert max(len(example.source) for example in examples) == 49
    assert {depth(example.source) for example in examples} == {1, 2, 3, 4, 5}
    assert all(not held_out(example.source) or len(example.source) == 5 for example in examples)
