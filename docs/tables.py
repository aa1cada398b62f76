"""The tables of hub_cards/results.md, which `kzoo results --markdown` renders, by task and by mechanism."""

import functools
import re
from dataclasses import dataclass
from pathlib import Path

from docs.places import ROOT, BuildError
from kzoo import tasks
from kzoo.cards.markdown import table_of
from kzoo.cards.results_page import NEEDS_DATA, NOT_RUN, markdown

RESULTS = ROOT / "hub_cards" / "results.md"


@dataclass(frozen=True)
class Table:
    """What the page of results says of a task.

    Args:
        source: str. The paper, its tables, and what the numbers are.
        header: list of str.
        rows: list of lists of cells, the first of which is the mechanism.
        notes: str. Which numbers are not comparable, and why.
    """

    source: str
    header: list[str]
    rows: list[list[str]]
    notes: str

    def markdown(self, up: str) -> str:
        """Returns the table for a page, `up` being the way from there to the root of the site."""
        return table_of(self.header, [[relink(cell, up) for cell in row] for row in self.rows])


@functools.cache
def tables() -> dict[str, Table]:
    """Returns the table of each task that has one.

    Raises:
        BuildError: the file is not what the recorded results give.
    """
    text = fresh(RESULTS, markdown(), "--markdown")
    parts = (part.split("\n\n") for part in text.split("\n## ")[1:])  # the tasks', then a list for each outcome
    return {task: _table(source.strip(), others) for task, source, *others in parts if task in tasks.names()}


def fresh(page: Path, rendered: str, options: str) -> str:
    """Returns the text of a page of hub_cards, which `kzoo results` with these options renders.

    Raises:
        BuildError: the file is not what the recorded results give.
    """
    if page.read_text(encoding="utf-8") != rendered:
        raise BuildError(f"hub_cards/{page.name} is stale: kzoo results {options} > hub_cards/{page.name}")
    return rendered


def _table(source: str, others: list[str]) -> Table:
    lines = [line.strip("|\n").split("|") for line in others[0].splitlines() if line.startswith("|")]
    header, _, *rows = [[cell.strip() for cell in line] for line in lines]
    return Table(source, header, rows, "\n\n".join(others[1:]).strip())


def explanations() -> str:
    """Returns what the page of results says before its tables, with the count of outcomes."""
    return RESULTS.read_text(encoding="utf-8").split("\n## ")[0].split("\n", 2)[2].strip()


def relink(text: str, up: str) -> str:
    """Returns the text with its links, which hold among the cards, made to hold in the site."""
    text = re.sub(r"\[([^]]*)\]\(\.\./presets/[^)]*\)", r"\1", text)  # recorded runs have no page
    text = re.sub(r"\]\((\w+)\.md\)", rf"]({up}cards/\1.md)", text)

    def leads(match: re.Match[str]) -> str:
        words, place = match.groups()
        return f"[{words}]({up}tasks/{place}.md)" if place in tasks.names() else words  # the lists are not in the site

    return re.sub(r"\[([^]]*)\]\(#([\w-]+)\)", leads, text)


def of_mechanism(mechanism: str, up: str) -> str:
    """Returns the rows of a mechanism from the tables of all tasks, one table for each set of lengths."""
    groups: dict[tuple[str, ...], list[list[str]]] = {}
    for task, table in tables().items():
        own = [row for row in table.rows if row[0] == mechanism]
        if not own:
            continue
        used = [i for i in range(4, len(table.header)) if any(row[i] for row in own)]
        header = tuple(["task", *table.header[1:4], *(table.header[i] for i in used)])
        for row in own:
            cells = [f"[{task}]({up}tasks/{task}.md)", *row[1:4], *(row[i] for i in used)]
            groups.setdefault(header, []).append([relink(cell, up) for cell in cells])
    return "\n\n".join(table_of(list(header), rows) for header, rows in groups.items())


def mechanisms() -> list[str]:
    """Returns every mechanism in the tables that was run at least once."""
    ran = {row[0] for table in tables().values() for row in table.rows if row[3] not in (NOT_RUN, NEEDS_DATA)}
    return sorted(ran)


def unit_of(task: str) -> str:
    """Returns what the length of a task counts."""
    return str(tasks.get(task).length_unit)
