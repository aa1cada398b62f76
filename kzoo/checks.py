"""Checks of constructor arguments: one sentence in the error, the value unchanged when it is fine.

Constructors call these, so a config file and a Python call are held to the same bounds.
"""

from collections.abc import Iterable
from numbers import Integral
from typing import Any

from kzoo.errors import InputError, did_you_mean

MAX_LENGTH = 10_000  # tokens of a text


def integer(name: str, value: Any, low: int, high: int) -> int:
    """Returns `value` if it is an integer in [low, high], NumPy's too, else raises `InputError`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
        raise InputError(f"{name} must be an integer from {low} to {high}, not {short(value)}")
    return int(value)


def number(name: str, value: Any, low: float, high: float) -> float:
    """Returns `value` as a float if it is a number in [low, high], else raises `InputError`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise InputError(f"{name} must be a number from {low:g} to {high:g}, not {short(value)}")
    return float(value)


def steps(name: str, value: Any) -> list[Any]:
    """Returns the pair (a, b) of an argument, of which a * (source tokens) + b is a number of tokens.

    Raises:
        InputError: it is no pair of a number from 0 to 100 and an integer from 0 to 10,000.
    """
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise InputError(f"{name} must be a pair of a factor and a number")
    factor = number(f"the factor of {name}", value[0], 0.0, 100.0)
    return [factor, integer(f"the number of {name}", value[1], 0, MAX_LENGTH)]


def text(name: str, value: Any) -> str:
    """Returns `value` if it is a str, else raises `InputError`."""
    if not isinstance(value, str):
        raise InputError(f"{name} must be a text, not {type(value).__name__} {short(value)}")
    return value


def tokens(name: str, value: Any) -> tuple[str, ...]:
    """Returns a list, a tuple or an array of texts, or a text's characters, as a tuple, else raises `InputError`."""
    found = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(found, (str, list, tuple)) or not all(isinstance(token, str) for token in found):
        raise InputError(f"{name} must be a list of texts, a token each, not {type(value).__name__} {short(value)}")
    return tuple(found)


def choice(name: str, value: Any, allowed: Iterable[str]) -> str:
    """Returns `value` if it is one of `allowed`, else raises `InputError`."""
    known = list(allowed)
    if not isinstance(value, str) or value not in known:
        raise InputError(did_you_mean(name, value, known))
    return value


def boolean(name: str, value: Any) -> bool:
    """Returns `value` if it is True or False, else raises `InputError`."""
    if not isinstance(value, bool):
        raise InputError(f"{name} must be true or false, not {short(value)}")
    return value


def deeper(value: Any, limit: int) -> bool:
    """Whether dicts and lists are nested deeper than `limit`; never goes deeper itself."""
    if not isinstance(value, (dict, list)):
        return False
    items = value.values() if isinstance(value, dict) else value
    return limit == 0 or any(deeper(item, limit - 1) for item in items)


def short(value: Any) -> str:
    """Returns how a value is written, in one line of at most 60 characters."""
    text = " ".join(repr(value).split())  # an array has several lines
    return text if len(text) <= 60 else text[:57] + "..."
