"""Methods that take a source, and nothing else; and the tokens of a text."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from kzoo import checks

Answer = TypeVar("Answer")


def of_tokens(method: Callable[..., Answer]) -> Callable[..., Answer]:
    """Returns a task's method of a source that takes a text, too, as `generate` does, and raises `InputError` for what
    is no list of tokens.
    """

    @functools.wraps(method)
    def checked(self: Any, source: object) -> Answer:
        if isinstance(source, str):
            source = tokens_of(source, self.characters)
        return method(self, checks.tokens(f"a source of {self.name}", source))

    return checked


def tokens_of(text: str, characters: bool) -> list[str]:
    """Returns the tokens of a text: its characters, or what spaces are between."""
    return list("".join(text.split())) if characters else text.split()
