"""The page "Which mechanism for which task", and the pictures of the leaderboard, drawn by `kzoo plot leaderboard`."""

import contextlib
import functools
import hashlib
import io
import re
from pathlib import Path

from docs.pictures import KEPT
from docs.places import ROOT, BuildError
from docs.tables import fresh, mechanisms
from kzoo import tasks
from kzoo.cards import choice_page
from kzoo.cards.cross_table import cross_table, task_order
from kzoo.cards.leaderboard import entries
from kzoo.cli.main import main

PAGE = ROOT / "hub_cards" / "which_mechanism.md"
PLACES = ("leaderboard", "results")  # pages of the site of the same name as in hub_cards


def choosing_page() -> dict[str, str]:
    """Returns the page by path, with its links made to hold in the site.

    Raises:
        BuildError: the page is not what the recorded results give.
    """
    return {PAGE.name: _relinked(fresh(PAGE, choice_page.markdown(), "--choose --markdown"))}


def _relinked(text: str) -> str:
    known = mechanisms()

    def run(match: re.Match[str]) -> str:
        return f"[{match[1]}](mechanisms/{match[1]}.md)" if match[1] in known else match[1]  # runs have no page

    def card(match: re.Match[str]) -> str:
        return match[0] if match[1] in PLACES else f"](cards/{match[1]}.md)"

    def task(match: re.Match[str]) -> str:
        return f"[{match[1]}](tasks/{match[1]}.md)" if match[1] in tasks.names() else match[0]

    text = text.partition(f"\n{choice_page.EACH}\n")[0]  # each has a page of its own
    text = re.sub(r"\[(\w+)\]\((\.\./presets/\w+|#\1)\)", run, text)
    text = re.sub(r"\]\((\w+)\.md\)", card, text)
    return re.sub(r"(?<=^\| )\*\*(\w+)\*\*", task, text, flags=re.MULTILINE)


@functools.cache
def board_pictures() -> dict[str, Path]:
    """Returns the pictures of the leaderboard by what is drawn: "" for all of it, else the task; drawn again only if
    results or plots change.

    Raises:
        BuildError: one cannot be drawn.
    """
    found = {}
    drawing = b"".join(path.read_bytes() for path in sorted((ROOT / "kzoo" / "inspection").glob("*.py")))
    results = (ROOT / "hub_cards" / "leaderboard.md").read_bytes()
    for task in ["", *task_order(cross_table(entries()))]:
        key = hashlib.sha256(drawing + results + task.encode()).hexdigest()[:16]
        found[task] = KEPT / f"leaderboard_{task or 'all'}_{key}.svg"
        if not found[task].is_file():
            KEPT.mkdir(parents=True, exist_ok=True)
            said = io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = main(["plot", "leaderboard", *filter(None, [task]), "--output", str(found[task])])
            if code:
                raise BuildError(f"kzoo plot leaderboard {task}: {said.getvalue().strip()}")
    return found


def heat_map() -> str:
    """Returns the picture of all tasks for the page of the leaderboard."""
    return f"![scores by mechanism and task](assets/pictures/{board_pictures()[''].name})\n\n`kzoo plot leaderboard`"


def curves() -> str:
    """Returns the pictures of accuracy by length, a task each, that open when asked for."""
    parts = []
    for task, path in board_pictures().items():
        if task:
            picture = f"![accuracy by length on {task}](assets/pictures/{path.name}){{ loading=lazy }}"
            parts.append(f'??? note "{task}"\n\n    {picture}\n\n    `kzoo plot leaderboard {task}`')
    return "\n\n".join(parts)
