"""What the typed parts of a recipe have in common."""

from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields
from typing import Any, Self

from kzoo import checks
from kzoo.errors import InputError, did_you_mean

LARGEST_COUNT = 10**9


def check_count(name: str, value: Any) -> None:
    """Raises `InputError` unless a value is None or a positive integer."""
    if value is not None:
        checks.integer(name, value, 1, LARGEST_COUNT)


def check_lengths(name: str, lengths: Iterable[Any], *allowed: None) -> None:
    """Raises `InputError` unless a value is a list of lengths, or of what else is allowed."""
    if not isinstance(lengths, (list, tuple)):
        raise InputError(f"the lengths of {name} must be a list")
    for length in lengths:
        if length not in allowed:
            checks.integer(f"a length of {name}", length, 1, 100_000)


@dataclass(frozen=True)
class Part:
    """A part of a recipe that is read from a mapping and written as one."""

    @classmethod
    def from_config(cls, config: Any, name: str) -> Self:
        """Returns the part of a mapping.

        Args:
            config: dict.
            name: str. What the part is called in errors.

        Raises:
            InputError: a key is unknown or missing, or a value out of range.
        """
        if not isinstance(config, dict):
            raise InputError(f"{name} must be a mapping")
        known = {item.name: item for item in fields(cls)}
        for key in config:
            if key not in known:
                raise InputError(did_you_mean(f"key of {name}", key, known))
        for key, item in known.items():
            if key not in config and item.default is MISSING and item.default_factory is MISSING:
                raise InputError(f"{name} needs {key}")
        return cls(**{key: tuple(value) if isinstance(value, list) else value for key, value in config.items()})

    def to_config(self) -> dict[str, Any]:
        """Returns the mapping that `from_config` takes, without what is at its default."""
        found = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if value != (item.default if item.default_factory is MISSING else item.default_factory()):
                value = value.to_config() if isinstance(value, Part) else value
                found[item.name] = list(value) if isinstance(value, tuple) else value
        return found
