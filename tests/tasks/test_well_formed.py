"""A task of one's own: its mistakes are told in a sentence where its examples are drawn."""

import numpy as np
import pytest

from kzoo.errors import InputError
from kzoo.tasks import Example, Split, Task

pytestmark = pytest.mark.once


class Own(Task):
    name = "own"
    vocabulary = ("a", "b")
    splits = {name: Split((1, 30), 40) for name in ("train", "validation", "test")}
    test_lengths = (30,)

    def sample(self, rng, length):
        source = tuple(str(token) for token in rng.choice(self.vocabulary, length))
        return Example(source, self.solve(source))

    def solve(self, source):
        return source[::-1]


def own(answer):
    """Returns a task that has this target for every source."""
    return type("Answers", (Own,), {"solve": lambda self, source: answer})()


def test_one_without_mistakes():
    found = Own().examples(size=30)
    assert len(found) == 30 and all(example.target == example.source[::-1] for example in found)


@pytest.mark.parametrize(
    "answer, said",
    [
        (None, r"a target of own must be a tuple of tokens, not None; its source is \('"),
        ("ab", "a target of own must be a tuple of tokens, not 'ab'"),
        ((1, 2), "a target of own has 1, which is not in its vocabulary"),
        (("a", "z"), "a target of own has 'z', which is not in its vocabulary"),
        (("a b",), "a target of own has 'a b', which is not in its vocabulary"),
        ((["a"],), r"a target of own has \['a'\], which is not in its vocabulary"),
    ],
)
def test_targets_that_are_no_tokens(answer, said):
    with pytest.raises(InputError, match=said):
        own(answer).examples(size=3)


def test_targets_that_are_all_empty():
    with pytest.raises(InputError, match="no target of own has a token"):
        own(()).examples()
    assert len(own(()).examples(size=5)) == 5  # a few may be


def test_other_mistakes():
    class Empty(Own):
        def sample(self, rng, length):
            return Example((), ())

    class Alone(Own):
        def sample(self, rng, length):
            return np.array(["a"])

    with pytest.raises(InputError, match="a source of own is empty, and must have a token at least"):
        Empty().examples(size=3)

    class Listed(Own):
        def sample(self, rng, length):
            return Example(["a"], ["b"])

    with pytest.raises(InputError, match=r"a source of own must be a tuple of tokens, not \['a'\]"):
        Listed().examples(size=3)
    assert own(["a"]).examples(size=3)[0].target == ["a"]
    with pytest.raises(InputError, match="an example of own must be a source and a target, not array"):
        Alone().examples(size=3)


@pytest.mark.parametrize(
    "lengths, size, said",
    [
        ((10, 3), 5, "from its shortest to its longest length, not from 10 to 3"),
        ((0, 3), 5, "a length of a split must be an integer from 1 to"),
        ((1, 3), -1, "the size of a split must be an integer from 0 to"),
    ],
)
def test_splits_that_cannot_be(lengths, size, said):
    with pytest.raises(InputError, match=said):
        Split(lengths, size)
