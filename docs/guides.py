"""The guides: Markdown in docs/pages, which takes sections of the README where they say what is to be said."""

import re
from pathlib import Path

from docs.overview import overview
from docs.places import DOCS, ROOT, BuildError

SECTION = re.compile(r"^\{\{ (README|CONTRIBUTING)(?:: (.+?))? \}\}$", re.MULTILINE)
PRESETS = re.compile(r"^\{\{ PRESETS: (.+?) \}\}$", re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def guide_pages() -> dict[str, str]:
    """Returns the pages by path in their order, which is that of the file names."""
    paths = sorted((DOCS / "pages" / "guides").glob("*.md"))
    return {f"guides/{name_of(path)}.md": written(path) for path in paths}


def name_of(path: Path) -> str:
    """Returns the name of a guide: that of its file without the number in front."""
    return re.sub(r"^\d+_", "", path.stem)


def written(path: Path) -> str:
    """Returns the text of a guide with the sections that it takes from the README, and what presets do.

    Raises:
        BuildError: there is no such section or preset.
    """
    text = PRESETS.sub(lambda match: overview(match[1].split()), path.read_text(encoding="utf-8"))
    return SECTION.sub(lambda match: section(match[1], match[2]), text)


def section(document: str, title: str | None) -> str:
    """Returns a section of README.md or CONTRIBUTING.md without its title; what comes before the first for None.

    Raises:
        BuildError: there is no such section.
    """
    text = (ROOT / f"{document}.md").read_text(encoding="utf-8")
    start = rf"^##? {re.escape(title)}\n" if title else r"\A# [^\n]+\n"
    match = re.search(rf"{start}(.*?)(?=^##? |\Z)", _without_code(text), re.DOTALL | re.MULTILINE)
    if match is None:
        raise BuildError(f"{document}.md has no section {title!r}")
    return _relinked(text[match.start(1) : match.end(1)].strip())


def _without_code(text: str) -> str:
    """Returns a text of the same length in which code has no lines that look like titles."""
    return re.sub(r"^```.*?^```", lambda match: match[0].replace("#", " "), text, flags=re.DOTALL | re.MULTILINE)


def _relinked(text: str) -> str:
    """Returns the text with links to files of the repository made links to the pages about them."""
    text = re.sub(r"\]\(hub_cards/(results|leaderboard|which_mechanism)\.md\)", r"](../\1.md)", text)
    text = re.sub(r"\]\(hub_cards/(\w+)\.md\)", r"](../cards/\1.md)", text)
    return re.sub(r"\[([^]]*)\]\((?!https?:|\.\./)[^)]*\)", r"\1", text)
