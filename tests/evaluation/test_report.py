"""Intervals, percentages and tables, by hand."""

import json

import pytest

from kzoo.evaluation.report import Report, percent, table, text_table, wilson


@pytest.mark.parametrize(
    "share, n, low, high",
    [
        (0.5, 100, 0.4038, 0.5962),
        (1.0, 2000, 0.99808, 1.0),
        (0.0, 10, 0.0, 0.2775),
        (0.9, 10, 0.5958, 0.9821),
        (1.0, 1, 0.2065, 1.0),
    ],
)
def test_wilson(share, n, low, high):
    assert wilson(share, n) == pytest.approx((low, high), abs=1e-4)


def test_wilson_stays_in_bounds():
    for n in (1, 3, 2000):
        for right in range(n + 1):
            low, high = wilson(right / n, n)
            assert 0 <= low <= right / n <= high <= 1


@pytest.mark.parametrize(
    "value, digits, text",
    [
        (1.0, 1, "100 %"),
        (0.0, 1, "0 %"),
        (0.5, 1, "50.0 %"),
        (0.9996, 1, "99.9 %"),
        (0.99999, 2, "99.99 %"),
        (0.0001, 1, "0.1 %"),
        (0.12345, 2, "12.35 %"),
        (None, 1, ""),
    ],
)
def test_percent_never_rounds_to_all_or_nothing(value, digits, text):
    assert percent(value, digits) == text


def row(length, metric, value, **more):
    return {"length": length, "metric": metric, "value": value, "n": 2000, "seed": 0, **more}


@pytest.fixture
def report():
    whole = {"low": 0.9, "high": 1.0, "paper": None}
    rows = [
        row(30, "sequence_accuracy", 0.95, **whole),
        row(15, "sequence_accuracy", 1.0, **whole | {"paper": 1.0}),
        row(15, "token_accuracy", 1.0),
        row(30, "token_accuracy", 0.99987),
    ]
    return Report("onestep_recopy", "recopy", "jax", rows)


def test_a_report_is_keyed_by_length(report):
    assert report[15] == 1.0 and report[30] == 0.95
    assert report.accuracy("token_accuracy") == {15: 1.0, 30: 0.99987}
    with pytest.raises(KeyError):
        report[100]


def test_the_table_has_a_line_a_length(report):
    header, lines = table(report.rows)
    assert header == ["length", "sequence accuracy", "95 % interval", "token accuracy", "n", "the paper"]
    tokens = [row for row in report.rows if row["metric"] == "token_accuracy"]
    assert table(tokens)[0] == ["length", "token accuracy", "n"] and len(table(tokens)[1][0]) == 3
    assert lines == [
        ["15", "100 %", "90.0 % to 100 %", "100 %", "2,000", "100 %"],
        ["30", "95.0 %", "90.0 % to 100 %", "99.99 %", "2,000", ""],
    ]
    shown = str(report).splitlines()
    assert len(shown) == 4 and len({len(line) for line in shown}) == 1


def test_the_whole_test_split_shows_its_range():
    rows = [row(None, "sequence_accuracy", 0.5, low=0.4, high=0.6, paper=None, lengths=[3, 7])]
    assert table(rows)[1][0][0] == "3-7"


def test_rows_of_examples_that_training_saw_say_so():
    rows = [row(n, "sequence_accuracy", 1.0, low=0.9, high=1.0, paper=None, task="lookup") for n in (5, 7)]
    rows.append(row(5, "sequence_accuracy", 1.0, low=0.9, high=1.0, paper=None, task="of my own"))
    assert [line[0] for line in table(rows[:2])[1]] == ["5 (seen in training)", "7"]
    assert table(rows[2:])[1][0][0] == "5" and table(rows[:1], trained=False)[1][0][0] == "5"
    assert "seen" not in str(Report(None, "lookup", "jax", rows[:1], trained=False))


def test_json_is_one_object(report):
    found = json.loads(report.to_json())
    assert list(found) == ["preset", "task", "backend", "rows"]
    assert found["rows"] == report.rows


def test_columns_are_aligned():
    assert text_table(["a", "bbb"], [["1", "2"], ["333", "4"]]) == "  a  bbb\n---  ---\n  1    2\n333    4"
