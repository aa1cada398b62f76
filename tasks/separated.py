"""Tokens, or their ids, between separators."""

from collections.abc import Iterable
from typing import TypeVar

Item = TypeVar("Item")


def separated(items: Iterable[Item], separator: object) -> list[list[Item]]:
    """Returns what stands before, between and after the separators: one list more than there are separators."""
    found: list[list[Item]] = [[]]
    for item in items:
        if item == separator:
            found.append([])
        else:
            found[-1].append(item)
    return found
