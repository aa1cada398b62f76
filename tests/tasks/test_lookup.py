import math
from collections import Counter

import pytest

from kzoo import tasks
from kzoo.errors import InputError
from kzoo.tasks.lookup import COMPOSED, TABLES

pytestmark = pytest.mark.once

NAMES = ("lookup", "reverse_lookup", "noisy_lookup")


def test_golden_values():
    found = tasks.get("lookup").solve(tuple("010 t3 t4 t2 t6 t1 .".split()))
    assert " ".join(found) == "010 011 010 011 001 001"
    source = tuple("t4 t4 t1 t6 t5 t2 t6 t3 t4 100 .".split())
    found = tasks.get("reverse_lookup").solve(source)
    assert " ".join(found) == "100 001 100 010 011 010 111 111 101 110"
    assert tasks.get("reverse_lookup").gold_attention(source) == (9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 10)


def test_noise_changes_nothing():
    task = tasks.get("noisy_lookup")
    source = tuple("110 t5 t3 t1 ! t1 .".split())
    assert task.solve(source) == tasks.get("lookup").solve(("110", "t1", "."))
    assert task.gold_attention(source) == (0, 5, 6)
    assert task.gold_attention(("110", "!", "t2", ".")) == (0, 2, 3)


def test_noise_is_0_to_9_tables():
    for split, length in (("train", None), ("test", 9)):
        examples = tasks.get("noisy_lookup").examples(split, 2000, length=length)
        noise = Counter(source.index("!") - 1 for source, _ in examples)
        assert set(noise) == set(range(10)) and min(noise.values()) > 140
        assert all(len(source) - source.index("!") == len(target) + 1 for source, target in examples)


def test_tables_are_the_published_ones():
    permutations = [16356, 7500, 2484, 17938, 21386, 25800, 38311, 17077]
    for found, index in zip(TABLES.values(), permutations, strict=True):
        codes, expected = list(range(8)), []
        for left in range(7, -1, -1):  # the permutation of that number, in lexicographic order
            place, index = divmod(index, math.factorial(left))
            expected.append(codes.pop(place))
        assert found == tuple(expected)


@pytest.mark.parametrize("name", NAMES)
def test_lists_have_the_published_sizes(name):
    task = tasks.get(name)

    def tables(rows):
        return dict(Counter(len(row.target) - 1 for row in rows))

    assert tables(task.examples("train")) == {1: 64, 2: 273, 3: 1644, 4: 7100}
    assert tables(task.examples("validation")) == {2: 15, 3: 84, 4: 376, 5: 500}
    assert tables(task.examples("test", length=6)) == {4: 2892}
    programs = [task.program(row.source) for row in task.examples("test", length=6)]
    assert sorted(Counter(Counter(program[1:] for program in programs).values()).items()) == [(2, 1246), (8, 50)]


@pytest.mark.parametrize("name", NAMES)
def test_length_counts_source_tokens(name):
    task = tasks.get(name)
    for length in (3, 6, 7, 8, 11, 40):
        for row in task.examples("test", 30, length=length):
            noise = row.source.index("!") if name == "noisy_lookup" else 0
            assert len(row.source) - noise == length and len(row.target) == length - 1
    assert len(task.examples("test", 5000, length=4)) == 288
    with pytest.raises(InputError, match="validation of .* has no examples of length 3"):
        task.examples("validation", 10, length=3)
    with pytest.raises(InputError, match="length"):
        task.examples("test", 10, length=2)


@pytest.mark.parametrize("name", NAMES)
def test_drawn_programs_of_a_length_are_in_one_split_only(name):
    task = tasks.get(name)
    found = {split: {task.key(row) for row in task.examples(split, 3000, length=7)} for split in task.splits}
    assert not found["train"] & found["test"] and not found["validation"] & found["test"]
    assert not found["train"] & found["validation"] and len(found["validation"]) == 500


def test_only_t1_to_t6_are_composed():
    task = tasks.get("lookup")
    for split in task.splits:
        for row in task.examples(split):
            _, *applied = task.program(row.source)
            assert len(applied) == 1 or set(applied) <= set(COMPOSED)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("lookup", "010 t3 t4"),
        ("lookup", "010 ."),
        ("lookup", "t3 010 ."),
        ("lookup", "010 t9 ."),
        ("lookup", "010 ! t3 ."),
        ("reverse_lookup", "010 t3 ."),
        ("noisy_lookup", "010 t3 ."),
        ("noisy_lookup", "010 t3 ! ."),
        ("noisy_lookup", "! 010 t3 ."),
        ("noisy_lookup", "010 ! ! t3 ."),
        ("noisy_lookup", "010 . ! t3 ."),
    ],
)
def test_other_sources_are_refused(name, source):
    for ask in (tasks.get(name).solve, tasks.get(name).gold_attention):
        with pytest.raises(InputError, match=f"a source of {name} is "):
            ask(tuple(source.split()))


def test_published_numbers():
    assert tasks.get("lookup").published.accuracy["monotonic"] == {7: 1.0, 9: 0.98, 11: 0.299}
    assert tasks.get("reverse_lookup").published.accuracy["mix_onestep"] == {7: 1.0, 9: 0.791, 11: 0.081}
    assert tasks.get("noisy_lookup").published.accuracy == {}
