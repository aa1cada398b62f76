"""Strata: what holds for every one, and that each has what it says, read off the sources in another way."""

import re

import pytest

from kzoo import tasks
from kzoo.errors import InputError
from kzoo.tasks.strata import Stratum

pytestmark = pytest.mark.once
N = 60


@pytest.fixture(params=tasks.names())
def task(request):
    if request.param == "cfq":
        return tasks.get("cfq", folder=request.getfixturevalue("cfq_json"))
    return tasks.get(request.param)


def lengths(task):
    """The lengths that are measured by default, and the least."""
    return [*(task.stress_lengths or task.test_lengths), 1, 2, 3]


def test_every_task_has_strata(task):
    assert len(task.strata) >= 2
    for name, stratum in task.strata.items():
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name) and stratum.about
        assert (stratum.draw is None) != (stratum.pool is None)
    assert any(task.stratum_examples(name, 1, 0, length) for name, length in measured(task))


def measured(task, all_lengths=None):
    for name, stratum in task.strata.items():
        for length in all_lengths or (task.stress_lengths or task.test_lengths):
            if stratum.has(length):
                yield name, length


def test_examples_of_strata_are_right_different_and_always_the_same(task):
    vocabulary = set(task.vocabulary)
    for name, length in measured(task, lengths(task)):
        if "lookup" in task.name and length is not None and length < 3:
            assert not task.strata[name].has(length)
        examples = task.stratum_examples(name, N, 0, length)
        assert examples == task.stratum_examples(name, N, 0, length)
        assert len(examples) <= N and len({example.source for example in examples}) == len(examples)
        for source, target in examples:
            solved = task.solve(source)
            assert (solved[: len(target)] if task.name == "lego" else solved) == target
            assert source and target and vocabulary.issuperset(source) and vocabulary.issuperset(target)
            assert isinstance(source, tuple) and isinstance(target, tuple)


def test_another_seed_gives_other_examples():
    task = tasks.get("sorter")
    assert task.stratum_examples("rep2", 20, 0, 20) != task.stratum_examples("rep2", 20, 1, 20)
    assert {e.source for e in task.stratum_examples("one_value", 100, 3, 5)} == {(str(i),) * 5 for i in range(1, 101)}


def test_a_stratum_with_few_inputs_gives_all_of_them():
    assert len(tasks.get("copy").stratum_examples("alternating", 500, 0, 10)) == 90
    assert [e.source for e in tasks.get("successor").stratum_examples("all_nines", 500, 0, 4)] == [tuple("9999")]
    few = Stratum("three", draw=lambda rng, _: (str(rng.integers(3)),))
    assert sorted(s[0] for s in few.sources(__import__("numpy").random.default_rng(0), 10, 1)) == ["0", "1", "2"]


def test_wrong_requests():
    task = tasks.get("sorter")
    with pytest.raises(InputError, match="did you mean 'rep2'"):
        task.stratum_examples("rep22", 5, 0, 20)
    with pytest.raises(InputError, match="no inputs of length 101 with no number twice"):
        task.stratum_examples("permutation", 5, 0, 101)
    with pytest.raises(InputError, match="no inputs of length None"):
        task.stratum_examples("permutation", 5)
