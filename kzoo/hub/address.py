"""Addresses on the Hub."""

import re
from dataclasses import dataclass, replace

from kzoo import checks
from kzoo.errors import InputError

SCHEME = "hf://"
# The Hub's own rules for names; a revision also becomes a file name in the cache and must not lead out of it.
_NAME = r"(?!.*(--|\.\.))[A-Za-z0-9_]([\w.-]{0,94}[A-Za-z0-9_])?"
_REVISION = r"(?!.*(\.\.|//))[A-Za-z0-9_]([\w./-]{0,198}[\w-])?"
_COMMIT = "[0-9a-f]{40}"


@dataclass(frozen=True)
class Address:
    """A repository on the Hub, as `hf://owner/name`, or a revision of it, as `hf://owner/name@v1`.

    Args:
        owner: str. A user or an organisation.
        name: str. The repository's name, which is the preset's.
        revision: str or None. A branch, a tag or a commit. None is the branch "main".
    """

    owner: str
    name: str
    revision: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Returns the address that a text spells.

        Raises:
            InputError: the text is none.
        """
        text = checks.text("an address on the Hub", text)
        repository, _, revision = text.removeprefix(SCHEME).partition("@")
        owner, _, name = repository.partition("/")
        fits = text.startswith(SCHEME) and _fits(_NAME, owner) and _fits(_NAME, name) and not name.endswith(".git")
        if not fits or ("@" in text and not _fits(_REVISION, revision)):
            raise InputError(
                f"an address on the Hub is hf://owner/name or hf://owner/name@revision, not {text[:200]!r}"
            )
        return cls(owner, name, revision or None)

    @property
    def repository(self) -> str:
        """str. Owner and name, as the Hub's own tools want them."""
        return f"{self.owner}/{self.name}"

    @property
    def pinned(self) -> bool:
        """bool. Whether the revision is a commit, which can never change."""
        return is_commit(self.revision)

    def at(self, revision: str | None) -> "Address":
        """Returns the address of another revision."""
        return replace(self, revision=revision)

    def __str__(self) -> str:
        return SCHEME + self.repository + (f"@{self.revision}" if self.revision else "")


def is_commit(text: object) -> bool:
    """Whether a text is the id of a commit: 40 hexadecimal digits."""
    return isinstance(text, str) and _fits(_COMMIT, text)


def _fits(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text, re.ASCII) is not None
