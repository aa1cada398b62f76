"""Checks of arguments: what is right is handed back, anything else is one sentence."""

import pytest

from kzoo import checks
from kzoo.errors import InputError


def test_right_values_come_back():
    assert checks.integer("n", 3, 1, 3) == 3
    assert checks.number("x", 1, 0.0, 2.0) == 1.0 and isinstance(checks.number("x", 1, 0, 2), float)
    assert checks.choice("c", "b", ("a", "b")) == "b"
    assert checks.boolean("b", False) is False


@pytest.mark.parametrize("value", [0, 4, 1.0, True, "2", None, 10**12])
def test_integer_refuses(value):
    with pytest.raises(InputError, match="^n must be an integer from 1 to 3, not "):
        checks.integer("n", value, 1, 3)


@pytest.mark.parametrize("value", [-0.1, 2.1, float("nan"), float("inf"), True, "1", None])
def test_number_refuses(value):
    with pytest.raises(InputError, match="^x must be a number from 0 to 2, not "):
        checks.number("x", value, 0.0, 2.0)


@pytest.mark.parametrize("value", ["lats", None, 3, ["last"]])
def test_choice_refuses(value):
    with pytest.raises(InputError, match="^unknown selection .*last"):
        checks.choice("selection", value, ("last", "validation"))


@pytest.mark.parametrize("value", [0, 1, None, "true"])
def test_boolean_refuses(value):
    with pytest.raises(InputError, match="^b must be true or false, not "):
        checks.boolean("b", value)


def test_a_long_value_is_cut():
    with pytest.raises(InputError) as error:
        checks.integer("n", "x" * 10_000, 1, 3)
    assert len(str(error.value)) < 120
