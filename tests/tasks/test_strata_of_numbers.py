"""Strata of numbers have what they say, read off the sources in another way: sorting, calculation, hints."""

import re
from collections import Counter

import pytest

from kzoo import tasks

pytestmark = pytest.mark.once
N = 60


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
