"""Text of a preset as Markdown that shows it and does nothing else."""

import html
import re
from collections.abc import Iterable, Sequence

from kzoo.saving import catalogue


def plain(text: object) -> str:
    """Returns a text with everything escaped that Markdown or HTML would take for more than text."""
    return re.sub(r"([\\`*\[\]|~$]|^#|^_)", r"\\\1", html.escape(str(text), quote=False))


def code(text: object) -> str:
    """Returns a text as inline code, with more backticks around it than are in it, and fit for a table."""
    inner = str(text).replace("|", "\\|")
    fence = "`" * (max((len(run) for run in re.findall("`+", inner)), default=0) + 1)
    return f"{fence}{inner}{fence}" if fence == "`" else f"{fence} {inner} {fence}"


def place_of(name: str) -> str:
    """Returns where a preset or a recorded run is, seen from hub_cards."""
    return f"{name}.md" if catalogue.bundled(name, catalogue.PRESET) else f"../presets/{name}"


def words_of(mechanism: str | None) -> str:
    """Returns a mechanism with a link to what it does in words, seen from hub_cards; nothing where it has no name."""
    return f"[{mechanism}](which_mechanism.md#{mechanism})" if mechanism else ""


def table_of(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Returns a Markdown table of a header and lines of cells."""
    rows = [f"| {' | '.join(cells)} |" for cells in (header, *lines)]
    return "\n".join([rows[0], "|" + "---|" * len(header), *rows[1:]])
