"""Sorting, increment and LEGO, and their hints: the paper's distributions and worked examples."""

from collections import Counter

import numpy as np
import pytest

from kzoo import tasks
from kzoo.errors import InputError

pytestmark = pytest.mark.once


def shares(values):
    """Returns the share of each value."""
    counts = Counter(values)
    return {value: count / len(values) for value, count in counts.items()}


@pytest.mark.parametrize("name", ["sorter", "sorted_successor"])
def test_lengths_are_skewed_in_training_and_uniform_elsewhere(name):
    task = tasks.get(name)
    extra = 2 if name == "sorted_successor" else 0  # the delimiter and the number asked
    found = shares([len(row.source) - extra for row in task.examples("train", 20_000)])
    assert set(found) == set(range(2, 21))
    assert all(0.18 < found[n] < 0.22 for n in range(2, 6)) and all(0.008 < found[n] < 0.02 for n in range(6, 21))
    for split in ("uniform", "uniform_repeated", "windows"):
        found = shares([len(row.source) - extra for row in task.examples(split, 20_000)])
        assert all(0.04 < found[n] < 0.065 for n in range(2, 21))


def test_values_are_uniform_with_replacement():
    rows = tasks.get("sorter").examples("test", 500, length=100)
    found = shares([token for row in rows for token in row.source])
    assert len(found) == 100 and max(found.values()) < 0.0125 and min(found.values()) > 0.0075
    assert 58 < np.mean([len(set(row.source)) for row in rows]) < 69  # 100 (1 - 0.99^100) = 63.4
    assert all(list(map(int, row.target)) == sorted(map(int, row.source)) for row in rows)


def test_a_tenth_has_many_repetitions():
    rows = tasks.get("sorter").examples("train_repeated", 4_000, length=20)
    few = [len(set(row.source)) <= 10 for row in rows]
    assert 0.08 < np.mean(few) < 0.12
    assert not any(len(set(row.source)) <= 10 for row in tasks.get("sorter").examples("train", 500, length=20))


def test_three_quarters_are_from_windows():
    for name in ("sorter", "sorted_successor"):
        spans = []
        for source, _ in tasks.get(name).examples("windows", 4_000, length=20):
            numbers = [int(token) for token in source[:20]]
            assert 1 <= min(numbers) and max(numbers) <= 100
            spans.append(1 + max(numbers) - min(numbers))
        assert np.mean([span <= 10 for span in spans]) == pytest.approx(0.75 * np.log(10.5) / np.log(100), abs=0.03)
        assert np.mean([span == 1 for span in spans]) == pytest.approx(0.75 * np.log(1.5) / np.log(100), abs=0.015)


def test_no_number_comes_again_and_again_in_wide_windows():
    spans, most = [], []
    for source, _ in tasks.get("sorter").examples("wide_windows", 4_000, length=20):
        numbers = [int(token) for token in source]
        assert 1 <= min(numbers) and max(numbers) <= 100
        spans.append(1 + max(numbers) - min(numbers))
        most.append(max(Counter(numbers).values()))
    assert min(spans) > 5 and np.mean(most) < 4
    assert np.mean([span <= 10 for span in spans]) == pytest.approx(0.75 * np.log(10.5 / 10) / np.log(10), abs=0.03)
    assert np.mean([span <= 30 for span in spans]) > 0.35


def test_varied_sources_have_all_kinds_of_repetition():
    rows = tasks.get("sorter").examples("varied", 6_000, length=20)
    numbers = [[int(token) for token in row.source] for row in rows]
    assert {number for row in numbers for number in row} == set(range(1, 101))
    far = [row for row in numbers if max(row) - min(row) >= 50]
    few = np.array([len(set(row)) for row in far if len(set(row)) <= 10])
    # A third of all has few values, log-uniform up to 20; fewer than 50 apart are mostly windows.
    assert 0.1 < len(few) / len(rows) < 0.25 and all(np.sum(few == number) >= 15 for number in range(2, 11))
    assert np.mean([len(set(row)) == 1 for row in numbers]) > 0.04
    most = np.array([max(Counter(row).values()) for row in far if len(set(row)) == 2])
    assert most.max() == 19 and np.sum(most <= 12) >= 15


def test_clustered_sources_have_close_values_far_from_others():
    rows = tasks.get("sorter").examples("clustered", 6_000, length=20)
    numbers = [sorted(map(int, row.source)) for row in rows]
    assert {number for row in numbers for number in row} == set(range(1, 101))
    values = [sorted(set(row)) for row in numbers]
    gaps = [np.diff(row) for row in values]
    # Two close values of few after a far one, and one rare value beside a frequent one, are both seldom in "varied".
    close = [len(gap) < 10 and max(gap, default=0) >= 25 and min(gap) <= 2 for gap in gaps]
    beside = [
        len(row) == 2 and row[1] - row[0] <= 2 and min(Counter(n).values()) <= 2
        for row, n in zip(values, numbers, strict=True)
    ]
    varied = [
        np.diff(sorted({*map(int, row.source)})) for row in tasks.get("sorter").examples("varied", 6_000, length=20)
    ]
    before = [len(gap) < 10 and max(gap, default=0) >= 25 and min(gap) <= 2 for gap in varied]
    assert np.mean(close) > 1.5 * np.mean(before) > 0 and np.mean(beside) > 0.003
    uniform = np.array([len(row) >= 15 and row[-1] - row[0] >= 70 for row in values])
    assert 0.25 < uniform.mean() < 0.4


def test_three_quarters_of_the_digits_are_neighbours():
    for name in ("incrementer", "carry"):
        rows = tasks.get(name).examples("windows", 4_000, length=10)
        inner = [[int(digit) for digit in source[1:]] for source, _ in rows if source[-1] != "9"]
        found = np.mean([max(digits) - min(digits) <= 1 for digits in inner])
        assert found == pytest.approx(0.75 * np.log10(2.5), abs=0.04)
        assert all(source[0] != "0" for source, _ in rows)


@pytest.mark.parametrize("often", [2, 3, 4, 5])
def test_the_papers_test_distributions(often):
    for row in tasks.get("sorter").examples(f"rep{often}", 50, length=50):
        counts = Counter(row.source)
        assert sum(count >= often for count in counts.values()) >= 50 // often and len(row.source) == 50
    with pytest.raises(InputError, match=f"rep{often} has lengths up to"):
        tasks.get("sorter").examples(f"rep{often}", 1, length=101 * often)


def test_successors():
    task = tasks.get("sorted_successor")
    rows = task.examples("train", 3_000, length=3)
    for source, (answer,) in rows:
        ordered = sorted(map(int, source[:3]))
        assert answer == str(ordered[ordered.index(int(source[-1])) + 1])
    # Of three different numbers either that has a successor is asked, wherever it stands.
    asked = shares([row.source.index(row.source[-1]) for row in rows if len(set(row.source[:3])) == 3])
    assert all(0.3 < share < 0.37 for share in asked.values())


def test_counts():
    rows = tasks.get("count").examples("train", 4_000, length=20)
    less = shares([abs(2 * row.source.count(row.target[0]) - 20) for row in rows])
    assert set(less) == {0, 2, 4} and 0.47 < less[0] < 0.53 and less[2] == pytest.approx(less[4], abs=0.05)
    odd = {abs(2 * row.source.count(row.target[0]) - 7) for row in tasks.get("count").examples("train", 500, length=7)}
    assert odd == {1, 3, 5}
    assert tasks.get("count").solve(("9", "4", "4", "9")) == ("4",)


def test_fills():
    for source, target in tasks.get("fill").examples("train", 300):
        copies = source.index("|")
        assert 1 <= copies <= 10 and source.count(source[0]) + len(target) == 2 * copies and source[-1] == "|"


def test_numbers_that_end_with_nines():
    rows = tasks.get("incrementer").examples("train", 20_000)
    assert all(int("".join(t)) == int("".join(s)) + 1 and s[0] != "0" for s, t in rows)
    four = [row.source for row in rows if len(row.source) == 4]
    assert len(four) == pytest.approx(0.8 / 3 * 20_000, rel=0.06)
    assert np.mean([s == tuple("9999") for s in four]) == pytest.approx(0.1 / 4, rel=0.4)
    assert np.mean([s[-1] == "9" for s in four]) == pytest.approx(0.1 + 0.9 * 0.1, rel=0.15)
    test = tasks.get("incrementer").examples("test", 4_000, length=4)
    assert np.mean([row.source[-1] == "9" for row in test]) == pytest.approx(0.1, rel=0.25)


def test_carries():
    task = tasks.get("carry")
    assert "".join(task.solve(tuple("129"))) == "0↑13↑01↑0"
    assert "".join(task.solve(tuple("999"))) == "0↑10↑10↑11↑0"
    written = "".join(task.solve(tuple("40299")))[::3]
    assert written[::-1] == "40300"


def test_the_papers_chain():
    task = tasks.get("lego")
    clauses = "a=-d;f=-c;c=+a;d=+b;b=+1;e=+f;"  # of six; six more make it one of ours
    more = "".join(f"{b}=+{a};" for a, b in zip("eghijk", "ghijkl", strict=True))
    assert "".join(task.solve(tuple(clauses + more))).startswith("b+d+a-c-f+e+g+")


def test_chains_are_uniform_and_long():
    rows = tasks.get("lego").examples("test", 2_000, length=12)
    assert all(len(row.source) == 60 and len(row.target) == 24 and len(set(row.target[::2])) == 12 for row in rows)
    assert all(0.45 < np.mean([row.target[i] == "+" for row in rows]) < 0.55 for i in range(1, 24, 2))
    first = shares([row.source[:60].index("1") // 5 for row in rows])
    assert set(first) == set(range(12)) and max(first.values()) < 0.13
    assert {len(row.target) for row in tasks.get("lego").examples("train", 50)} == {12}


@pytest.mark.parametrize(
    "name, source",
    [
        ("sorter", "3 101"),
        ("sorter", "0"),
        ("sorted_successor", "1 2 3"),
        ("sorted_successor", "1 2 3 | 3"),
        ("sorted_successor", "1 2 3 | 7"),
        ("sorted_successor", "1 2 3 | 1 2"),
        ("sorted_successor", "1 | 1"),
        ("count", "1 2 3"),
        ("count", "1 1"),
        ("fill", "5 5 | 5 5 |"),
        ("fill", "5 5 | 4 |"),
        ("fill", "5 5 | 5"),
        ("incrementer", "0 1"),
        ("carry", "1 x"),
        ("lego", "a = + 1 ;"),
        ("lego", " ".join(";a=+1;b=+a;c=+b;d=+c;e=+d;f=+e;g=+f;h=+g;i=+h;j=+i;k=+j;l=+k")),  # before, not behind
        ("two_ahead", "a = + 1 ; | a = + 1 ; b = ? |"),
    ],
)
def test_what_is_no_source(name, source):
    with pytest.raises(InputError, match=f"a source of {name} ") as error:
        tasks.get(name).solve(tuple(source.split()))
    assert "\n" not in str(error.value)


def test_one_variable_of_lego():
    task = tasks.get("lego_value")
    whole = tasks.get("lego")
    for length in (1, 6, 7, 12):
        for source, (sign,) in task.examples("test", 100, length=length):
            written = whole.solve(source[:60])
            assert source[60:] == ("?", written[2 * length - 2]) and sign == written[2 * length - 1]
            within = task.intermediate(source)
            assert [source[i] for i, _ in within] == [source[i] for i in sorted(i for i, _ in within)]
            assert {(source[i], value) for i, value in within} == {
                (written[2 * k], written[2 * k + 1]) for k in range(6)
            }
    assert {row.target for row in task.examples("train", 200)} == {("-",), ("+",)}
    for wrong in ("?", "b?", "?y", "?bb", ""):
        with pytest.raises(InputError, match="ends like .d with one of its variables"):
            task.solve((*"b=-a;a=+1;d=+c;c=-b;e=+d;f=+e;g=+f;h=+g;i=+h;j=+i;k=+j;l=-k;", *wrong))
    with pytest.raises(InputError, match="at most 12"):
        task.examples("test", 1, length=13)
    for name in task.strata:
        for length in (6, 12):
            for source, target in task.stratum_examples(name, 20, length=length):
                assert source[61] == whole.solve(source[:60])[2 * length - 2] and task.solve(source) == target


@pytest.mark.parametrize("name, length", [("sorted_successor", 1), ("count", 1), ("lego", 13)])
def test_lengths_that_cannot_be(name, length):
    with pytest.raises(InputError, match=f"length of {name}"):
        tasks.get(name).examples("test", 1, length=length)


def test_published_numbers():
    assert tasks.get("sorter").published.accuracy["hinted"] == {50: 0.998, 100: 0.926}
    assert tasks.get("incrementer").published.accuracy["tempered"][20] == 0.04
    assert tasks.get("lego").published.accuracy["plain"][12] == 0.413


def test_windows_of_sources_longer_than_there_are_numbers():
    ((source, target),) = tasks.get("sorter").examples("wide_windows", 1, length=1000)
    assert tasks.get("sorter").solve(source) == target and len(source) == 1000
