"""How docstrings are read for the site: equations become mathematics, call arguments a list."""

import re
from collections.abc import Iterator

from docs.equations import NotAnEquation, latex

SECTION = re.compile(
    r"(Args|Call arguments|Returns|Raises|Yields|Attributes|Example|Examples|References|Masking|Note|Warning):"
)
BLOCK = "    "


def rewrite(text: str) -> str:
    """Returns a docstring with its equations in LaTeX, and the lines under "Call arguments:" as a list."""
    parts = []
    for section, lines in _blocks(text.splitlines()):
        if section == "Call arguments":
            lines = call_arguments(lines)
        elif section is None and lines[0].startswith(BLOCK):
            lines = _as_mathematics(lines)
        parts += lines
    return "\n".join(parts)


def description(text: str) -> str:
    """Returns what a docstring says before its arguments and after its first line, with its equations in LaTeX."""
    body = re.split(rf"^(?={SECTION.pattern}$)", text, maxsplit=1, flags=re.MULTILINE)[0]
    return rewrite(body.partition("\n\n")[2]).strip()


def equations(text: str) -> list[str]:
    """Returns the LaTeX of each block of equations in a docstring."""
    found = []
    for section, lines in _blocks(text.splitlines()):
        if section is None and lines[0].startswith(BLOCK):
            try:
                found.append(latex("\n".join(lines)))
            except NotAnEquation:
                continue
    return found


def call_arguments(lines: list[str]) -> list[str]:
    """Returns lines of `name: text`, each perhaps with indented lines below it, as items of a list."""
    found = []
    for line in lines:
        match = re.match(r"    (\*{0,2}\w+(?:, \*{0,2}\w+)*): (.*)", line)
        found.append(f"{BLOCK}- `{match[1]}`: {match[2]}" if match else line)
    return found


def _as_mathematics(lines: list[str]) -> list[str]:
    try:
        return ["", r"\[", latex("\n".join(lines)), r"\]", ""]
    except NotAnEquation:
        return lines  # stays a block of code


def _blocks(lines: list[str]) -> Iterator[tuple[str | None, list[str]]]:
    """Yields runs of lines that belong together, with the section that they stand in: indented ones, and others."""
    section, run, indented, code = None, list[str](), False, False
    for line in lines:
        code ^= line.lstrip().startswith("```")
        inside = line.startswith(BLOCK) and not code
        header = SECTION.fullmatch(line)
        if run and (inside != indented or header):
            yield section, run
            run = []
        if header or (line and not line.startswith(" ")):
            section = header[1] if header else None
        run.append(line)
        indented = inside
    if run:
        yield section, run
