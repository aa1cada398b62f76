"""Calculation and parity: the right results, lengths that count digits, and what the training split never has."""

import numpy as np
import pytest

from kzoo import tasks
from kzoo.errors import InputError

pytestmark = pytest.mark.once
NAMES = ("successor", "addition", "multiplication", "parity", "parity_class")


@pytest.mark.parametrize(
    "name, source, target",
    [
        ("successor", "0", "1"),
        ("successor", "0999", "1000"),
        ("addition", "123+748", "871"),
        ("addition", "1+" + "9" * 100, "1" + "0" * 100),
        ("multiplication", "99*9", "891"),
        ("multiplication", "123456*0", "0"),
        ("parity", "1011", "1001"),
        ("parity", "0", "0"),
        ("parity_class", "1011", "1"),
        ("parity_class", "1001", "0"),
    ],
)
def test_results(name, source, target):
    assert "".join(tasks.get(name).solve(tuple(source))) == target


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("length", [1, 6, 60])
def test_length_counts_the_digits_of_an_operand(name, length):
    for source, _ in tasks.get(name).examples("test", 10, length=length):
        text = "".join(source)
        first, *others = text.replace("*", "+").split("+")
        number = str(int(first, 2)) if "parity" in name else first
        assert len(number) == length and (length == 1 or number[0] != "0")
        assert [len(other) for other in others] == {"addition": [length], "multiplication": [1]}.get(name, [])


def test_operands_of_the_training_split_have_their_own_lengths():
    pairs = {tuple(map(len, "".join(e.source).split("+"))) for e in tasks.get("addition").examples("train", 2000)}
    assert len(pairs) == 36 and max(max(pair) for pair in pairs) == 6


@pytest.mark.parametrize("name", ["successor", "addition", "multiplication", "parity"])
def test_one_in_eight_is_kept_from_training(name):
    task = tasks.get(name)
    rng = np.random.default_rng(0)
    drawn = [task.sample(rng, 5) for _ in range(4000)]
    shares = {split: np.mean([task.belongs(e, split) for e in drawn]) for split in task.splits}
    assert shares["train"] == pytest.approx(7 / 8, abs=0.02)
    assert shares["test"] == pytest.approx(1 / 16, abs=0.02) and shares["validation"] == pytest.approx(1 / 16, abs=0.02)
    assert all(sum(task.belongs(e, split) for split in task.splits) == 1 for e in drawn)


def test_the_papers_numbers():
    assert tasks.get("addition").published.accuracy["abc"] == {6: 1, 10: 1, 20: 0.999, 60: 0.998}
    assert tasks.get("multiplication").published.accuracy["windowed_nope"][60] == 0.9831
    assert tasks.get("successor").published.accuracy["vanilla"] == {6: 1, 10: 0, 15: 0, 20: 0, 60: 0}
    assert set(tasks.get("parity").published.accuracy["windowed"].values()) == {1}


@pytest.mark.parametrize(
    "name, source, message",
    [
        ("successor", "12+3", r"a source of successor is a number, not '12\+3'"),
        ("addition", "123", r"a source of addition is a number, '\+' and a number, not '123'"),
        ("addition", "1+2+3", "a source of addition"),
        ("addition", "+3", "a source of addition"),
        ("multiplication", "12*34", r"a number, '\*' and a digit, not '12\*34'"),
        ("parity", "102", "a source of parity is one or more bits, not '102'"),
        ("successor", "1" * 10_001, "a source of successor is a number"),
    ],
)
def test_what_is_no_source(name, source, message):
    with pytest.raises(InputError, match=message):
        tasks.get(name).solve(tuple(source))


def test_a_length_that_is_too_large():
    with pytest.raises(InputError, match="numbers have at most 10,000 digits, not 10,001"):
        tasks.get("addition").examples("test", 1, length=10_001)


@pytest.mark.parametrize("digits", [4_001, 9_000])
def test_more_digits_than_python_converts_at_once(digits):
    for name in ("addition", "successor", "incrementer"):
        ((source, target),) = tasks.get(name).examples("test", 1, length=digits)
        assert len(target) in (digits, digits + 1) and "".join(target)[0] != "0"
    assert "".join(tasks.get("addition").solve(tuple("9" * digits + "+" + "1"))) == "1" + "0" * digits
    assert "".join(tasks.get("multiplication").solve(tuple("9" * digits + "*9"))) == "8" + "9" * (digits - 1) + "1"
    assert "".join(tasks.get("successor").solve(("1", *"0" * (digits - 1)))) == "1" + "0" * (digits - 2) + "1"
    assert "".join(tasks.get("parity").examples("test", 1, length=digits)[0].source)[0] == "1"
