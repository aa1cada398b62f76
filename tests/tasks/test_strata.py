"""Strata: what holds for every one, and that each has what it says, read off the sources in another way."""

import math
import re
from collections import Counter

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


def sources(name, stratum, length, **config):
    return [e.source for e in tasks.get(name, **config).stratum_examples(stratum, N, 0, length)]


def numbers(source):
    return [int(token) for token in source]


SORTING = {
    "permutation": lambda x: len(set(x)) == 20,
    "third": lambda x: len(set(x)) == 6,
    "tenth": lambda x: len(set(x)) == 2,
    "two_values": lambda x: len(set(x)) == 2,
    "one_value": lambda x: len(set(x)) == 1,
    "one_other": lambda x: sorted(Counter(x).values()) == [1, 19],
    "rep2": lambda x: sum(count >= 2 for count in Counter(x).values()) == 10,
    "rep3": lambda x: sum(count >= 3 for count in Counter(x).values()) == 6,
    "rep4": lambda x: sorted(Counter(x).values()) == [4] * 5,
    "rep5": lambda x: sorted(Counter(x).values()) == [5] * 4,
    "window_10": lambda x: max(x) - min(x) < 10,
    "window_30": lambda x: max(x) - min(x) < 30,
    "sorted": lambda x: x == sorted(x),
    "reversed": lambda x: x == sorted(x, reverse=True),
}


@pytest.mark.parametrize("name", SORTING)
def test_sorting(name):
    assert set(tasks.get("sorter").strata) == set(SORTING)
    for source in sources("sorter", name, 20):
        assert len(source) == 20 and SORTING[name](numbers(source))


def test_the_paper_repetitions_are_the_split_of_that_name():
    task = tasks.get("sorter")
    for name in ("rep2", "rep5"):
        for examples in (task.examples(name, 40, length=20), task.stratum_examples(name, 40, 0, 20)):
            assert all(SORTING[name](numbers(example.source)) for example in examples)


def trailing_nines(source):
    return len(source) - len("".join(source).rstrip("9"))


def test_adding_one():
    found = {name: sources("successor", name, 12) for name in tasks.get("successor").strata}
    for nines in (1, 2, 3, 5, 10):
        assert {trailing_nines(source) for source in found[f"nines_{nines}"]} == {nines}
    assert {trailing_nines(source) for source in found["half_nines"]} == {6}
    assert found["all_nines"] == [("9",) * 12]
    assert {(*source[:-1], "") for source in found["nines_before_last"]} == {("9",) * 11 + ("",)}
    assert {source[1:] for source in found["zeros"]} == {("0",) * 11}
    assert {len(set(source)) for source in found["equal_digits"]} == {1}
    for many in found.values():
        assert all(len(source) == 12 and source[0] != "0" for source in many)
    assert found.keys() == tasks.get("incrementer").strata.keys() == tasks.get("carry").strata.keys()


def carries(first, second):
    """Returns at which digits, from the last, two numbers of one length carry."""
    found, carry = [], 0
    for a, b in zip(reversed(first), reversed(second), strict=True):
        carry = int(int(a) + int(b) + carry > 9)
        found.append(carry)
    return found


def test_addition():
    def pairs(name, length=8):
        return ["".join(source).split("+") for source in sources("addition", name, length)]

    for first, second in pairs("carry_chain"):
        assert carries(first, second) == [1] * 8 and sum(map(int, first + second)) >= 10 + 9 * 7
        assert all(int(a) + int(b) == 9 for a, b in zip(first[:-1], second[:-1], strict=True))
    for first, second in pairs("half_chain"):
        assert carries(first, second)[:4] == [1] * 4
    for first, second in pairs("every_carry"):
        assert all(int(a) + int(b) > 9 for a, b in zip(first, second, strict=True))
    for first, second in pairs("no_carry"):
        assert carries(first, second) == [0] * 8
    assert pairs("nines") == [["9" * 8] * 2]
    assert {tuple(sorted(map(len, pair))) for pair in pairs("half_as_long")} == {(4, 8)}
    assert {tuple(sorted(map(len, pair))) for pair in pairs("one_digit")} == {(1, 8)}
    assert {len(pair[0]) for pair in pairs("half_as_long")} == {4, 8}  # either may be the shorter
    assert all("0" in pair for pair in pairs("plus_zero"))
    assert all(set(a[1:] + b[1:]) == {"0"} for a, b in pairs("zeros"))
    assert all(len(set(a)) == len(set(b)) == 1 for a, b in pairs("equal_digits"))
    assert all(a == b for a, b in pairs("same_operands"))
    assert all(sorted((a, b))[1] == "9" * 8 or a == "9" * 8 for a, b in pairs("nines_and_digit"))
    zeros = sum((a + b).count("0") for a, b in pairs("sparse", 100))
    assert 0.85 < zeros / (N * 200) < 0.93
    for name in tasks.get("addition").strata:
        for length in (2, 8):
            assert all(len(x) == 1 or x[0] != "0" for pair in pairs(name, length) for x in pair), name


def test_multiplication():
    found = {name: sources("multiplication", name, 8) for name in tasks.get("multiplication").strata}
    for digit in "01259":
        assert {source[-1] for source in found[f"times_{digit}"]} == {digit}
    for *first, _, digit in found["carry_chain"]:
        value, carry, carried = int(digit), 0, []
        for d in reversed(first):
            carry = (int(d) * value + carry) // 10
            carried.append(carry > 0)
        assert all(carried) and int(first[0]) * value == 9
    for *first, _, digit in found["every_carry"]:
        assert all(int(d) * int(digit) > 9 for d in first)


def test_parity():
    for length in (1, 2, 20):
        for name in tasks.get("parity").strata:
            for source in sources("parity", name, length):
                assert source[0] == "1" and len(str(int("".join(source), 2))) == length
    assert all(set(source) == {"1"} for source in sources("parity", "ones", 20))
    assert all(source.count("1") == 1 for source in sources("parity", "first_one", 20))
    assert all(source.count("1") == 2 and source[-1] == "1" for source in sources("parity", "both_ends", 20))
    assert all(
        a != b for source in sources("parity", "alternating", 20) for a, b in zip(source, source[1:], strict=False)
    )
    assert all(min(map(len, re.findall("1+|0+", "".join(s))[:-1])) >= 5 for s in sources("parity", "runs", 20))


def test_copying():
    found = {name: sources("copy", name, 30) for name in tasks.get("copy").strata}
    assert all(len(source) == 30 for many in found.values() for source in many)
    assert {len(set(source)) for source in found["one_digit"]} == {1}
    assert all(source[:2] * 15 == source and source[0] != source[1] for source in found["alternating"])
    assert all(source[:3] * 10 == source and len(set(source)) == 3 for source in found["period_3"])
    assert all(len(set(source)) <= 2 for source in found["two_digits"])
    for source in found["runs"]:
        runs = [len(run[0]) for run in re.finditer(r"(.)\1*", "".join(source))]
        assert all(3 <= run <= 8 for run in runs[:-1])
    assert all(a != b for source in found["no_neighbours"] for a, b in zip(source, source[1:], strict=False))
    for name, digits in (("low_digits", "0123"), ("middle_digits", "456"), ("high_digits", "789")):
        assert all(set(source) <= set(digits) for source in found[name])
    assert all(list(source) == sorted(source) for source in found["ascending"])
    assert all(list(source) == sorted(source, reverse=True) for source in found["descending"])
    for name in ("inv_recopy", "inv_reverse_recopy"):  # the length is the target's
        assert {len(e.target) for e in tasks.get(name).stratum_examples("runs", 9, 0, 12)} == {12}
    assert {len(source) for source in sources("dedupe", "fives", 6)} == {30}


@pytest.mark.parametrize("name", ["lookup", "reverse_lookup", "noisy_lookup", "ctl_forward", "ctl_backward"])
def test_lookup(name):
    forward = tasks.get("lookup" if "lookup" in name else "ctl_forward")
    module = __import__(type(forward).__module__, fromlist=["TABLES"])

    def trace(source):
        task = tasks.get(name)
        code, *applied = task.program(source) if "lookup" in name else task.write(source)
        values = [module.CODES.index(code)]
        for table in applied:
            values.append(module.TABLES[table][values[-1]])
        return values, applied

    length = 9
    for source in sources(name, "fixed_points", length):
        assert len(set(trace(source)[0])) == 1
    for source in sources(name, "two_cycles", length):
        values, _ = trace(source)
        assert len(set(values)) == 2 and all(a != b for a, b in zip(values, values[1:], strict=False))
    assert all(len(set(trace(source)[1])) == 1 for source in sources(name, "one_table", length))
    for source in sources(name, "two_tables", length):
        applied = trace(source)[1]
        assert len(set(applied)) == 2 and applied[:-2] == applied[2:]


def test_arithmetic():
    task = tasks.get("arithmetic")
    for depth in (3, 5, 8):
        found = {name: ["".join(s) for s in sources("arithmetic", name, depth)] for name in task.strata}
        for name, texts in found.items():
            deepest = [max(text[:i].count("(") - text[:i].count(")") for i in range(len(text))) for text in texts]
            assert set(deepest) == {depth}, name
        assert all(text.startswith("(" * depth) for text in found["left_spine"])
        assert all(text.endswith(")" * depth) for text in found["right_spine"])
        assert {len(text) for text in found["longest"]} == {min(4 * 12, 4 * (2**depth - 1)) + 1}
        assert not any("*" in text for text in found["plus_only"])
        assert not any("+" in text for text in found["times_only"] + found["odd_products"])
        assert {task.solve(tuple(text))[0] for text in found["odd_products"]} <= set("1379")


def test_listops():
    task = tasks.get("listops")
    for depth in (2, 7):
        found = {name: sources("listops", name, depth) for name in task.strata}
        assert {task.depth(source) for many in found.values() for source in many} == {depth}
        assert all(all(token.startswith("[") for token in s[:depth]) for s in found["left_spine"])
        assert all(s[-depth:] == ("]",) * depth for s in found["right_spine"])
        for kind, token in {"maximum": "[MAX", "median": "[MED", "minimum": "[MIN", "sum": "[SM"}.items():
            assert {t for s in found[f"{kind}_only"] for t in s if t.startswith("[")} == {token}
        assert {len(s) for s in found["four_arguments"]} == {5 * depth + 1}


def test_chains():
    task = tasks.get("lego")
    for name in task.strata:
        for source in sources("lego", name, 12):
            clauses = [clause for clause in "".join(source).split(";") if clause]
            order = {clause[0]: i for i, clause in enumerate(clauses)}
            needs = [order[clause[3]] - i for i, clause in enumerate(clauses) if clause[3] != "1"]
            minus = sum(clause[2] == "-" for clause in clauses)
            if name == "in_order":
                assert set(needs) == {-1}
            if name == "backward":
                assert set(needs) == {1}
            if name == "far_apart":
                assert min(map(abs, needs)) > 1
            assert minus == {"plus_only": 0, "minus_only": 12, "one_minus": 1}.get(name, minus)
    assert {len(e.target) for e in task.stratum_examples("in_order", 5, 0, 7)} == {14}


def test_commands():
    task = tasks.get("scan")
    test = {example.source for example in task.rows("test")}
    for name in task.strata:
        found = {e.source for e in task.stratum_examples(name, 10_000)}
        assert found <= test
        if name in task.vocabulary:
            assert found == {source for source in test if name in source}
    assert all("around" in s and "thrice" in s for s in sources("scan", "around_thrice", None))
    for source in sources("scan", "same_phrases", None):
        half = math.ceil(len(source) / 2)
        assert source[: half - 1] == source[half:]
    assert all(len({"left", "right"} & set(s)) == 1 for s in sources("scan", "one_side", None))


def test_hints():
    def split(source):
        at = source.index("|")
        return sorted(numbers(source[:at])), [int(t) for t in source[at + 1 :] if t != "|"]

    for name in tasks.get("sorted_successor").strata:
        for source in sources("sorted_successor", name, 12):
            ordered, (asked,) = split(source)
            if name == "repeated":
                assert ordered.count(asked) > 1
            if name == "smallest":
                assert asked == ordered[0]
            if name == "last_but_one":
                assert asked == ordered[-2]
    less = {"nearly_equal": 0, "three_less": 4, "once": 10}
    for name, difference in less.items():
        for source in sources("count", name, 12):
            counts = sorted(Counter(source).values())
            assert counts[1] - counts[0] == difference
    for name, there in {"none_there": 0, "one_missing": 5}.items():
        assert all(len(split(source)[1]) == there for source in sources("fill", name, 6))
