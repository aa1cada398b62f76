"""Where in a source its target is the answer."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Asked:
    """At which tokens of a source the tokens of its target are the answers, one at each.

    Args:
        tokens: tuple of str. Which tokens are asked. Defaults to None: all.
        repeated: bool. Whether they are asked only where the source has had the same token before. Defaults to False.
    """

    tokens: tuple[str, ...] | None = None
    repeated: bool = False
