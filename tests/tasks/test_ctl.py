"""Compositional table lookup."""

from collections import Counter

import numpy as np
import pytest

from kzoo import tasks
from kzoo.errors import InputError
from kzoo.tasks.ctl import COMPOSED, TABLES

pytestmark = pytest.mark.once

FORWARD, BACKWARD = tasks.get("ctl_forward"), tasks.get("ctl_backward")


def lengths(examples):
    return Counter(len(example.source) - 1 for example in examples)


def test_the_published_tables():
    published = np.random.RandomState(0x12345678)
    assert all(tuple(published.permutation(8).tolist()) == table for table in TABLES.values())


def test_the_published_sizes_and_lengths():
    train = FORWARD.examples("train")
    assert len(train) == 53_704 and len({example.source for example in train}) == 53_224
    found = lengths(train)
    assert found[1] == 568
    for functions, expected in {2: 421, 3: 3_790, 4: 20_900, 5: 28_000}.items():
        assert found[functions] == pytest.approx(expected, rel=0.05)
    assert set(lengths(FORWARD.examples("validation"))) == {6, 7, 8}
    assert set(lengths(FORWARD.examples("test"))) == {9, 10}
    assert set(lengths(FORWARD.examples("test", 50, length=20))) == {20}


def test_two_functions_are_never_composed():
    for split in FORWARD.splits:
        for source, _ in FORWARD.examples(split, 2_000):
            assert len(source) == 2 or set(source[1:]) <= set(COMPOSED)


def test_lists_that_must_share_nothing():
    train = {example.source for example in FORWARD.examples("train")}
    iid = {example.source for example in FORWARD.examples("iid")}
    test = {example.source for n in (2, 3, 4, 5) for example in FORWARD.examples("test", length=n)}
    assert len(test) == 4_000 and not train & iid and not train & test and not iid & test
    trained = {source[1:] for source in train}
    assert not any(example.source[1:] in trained for example in FORWARD.examples("compositions"))


def test_backward_is_forward_from_its_end():
    for one, other in zip(FORWARD.examples("train"), BACKWARD.examples("train"), strict=True):
        assert one.source == other.source[::-1] and one.target == other.target


def test_the_code_that_each_function_gives():
    assert FORWARD.intermediate(tuple("101 d a b".split())) == [(1, "111"), (2, "011"), (3, "011")]
    assert BACKWARD.intermediate(tuple("b a d 101".split())) == [(2, "111"), (1, "011"), (0, "011")]
    for task in (FORWARD, BACKWARD):
        for source, target in task.examples("test", 20, length=12):
            within = task.intermediate(source)
            assert len(within) == 12 and within[-1][1] == target[0]
            assert [source[place] for place, _ in within] == list(task.write(source)[1:])
        with pytest.raises(InputError, match=f"a source of {task.name} is"):
            task.intermediate(("101",))


def test_majority():
    label = FORWARD.majority_label()
    assert label in FORWARD.labels
    share = sum(example.target == (label,) for example in FORWARD.examples("test", 1000)) / 1000
    assert 0.09 < share < 0.16


@pytest.mark.parametrize("source", ["101", "a 101", "101 a 101", "101 z", "a b", ""])
def test_what_is_no_source(source):
    with pytest.raises(InputError, match="three-bit code"):
        FORWARD.solve(tuple(source.split()))


def test_lengths_that_are_not_there():
    with pytest.raises(InputError, match="train of ctl_forward has no examples of 6 functions"):
        FORWARD.examples("train", 5, length=6)
