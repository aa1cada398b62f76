"""Tables of the groups of mechanisms, by what a task asks for and by what each does, for the page of choices."""

from collections.abc import Sequence
from typing import Any

from kzoo.cards import protocol
from kzoo.cards.groups import GROUPS, group_of
from kzoo.cards.leaderboard import recipe_of
from kzoo.cards.markdown import table_of
from kzoo.saving.preset import Preset

NONE, PART, ALL = range(3)  # of the scored lengths are right


def short_table(found: Sequence[dict[str, Any]]) -> str:
    """Returns a table of what a task may ask for, the group of mechanisms for it, and the presets that show it."""
    there: dict[str, list[str]] = {group.title: [] for group in GROUPS}
    without = []
    for own in found:
        preset = own["preset"]
        if preset is None or reach(preset, own["lengths"]) != ALL:
            without.append(own["task"])
            continue
        seeds = " (one seed)" if preset["seeds"] == 1 else ""
        if preset["weakest"] < protocol.SOLVED:
            seeds = " (some seeds)"
        more = r"\*" if preset["tags"] else ""
        there[group_of_run(preset["name"])].append(f"[{own['task']}]({preset['name']}.md){more}{seeds}")
    shown = [group for group in GROUPS if there[group.title]]
    rows = [[group.asks, f"**{group.title}**: {group.does}", ", ".join(there[group.title])] for group in shown]
    table = table_of(["the task asks for", "take", "right at every length"], rows)
    return f"{table}\n\nNo preset is right at every length of {', '.join(without)}." if without else table


def group_table(found: Sequence[dict[str, Any]]) -> str:
    """Returns a table of the groups: what each does, why it may fail, and on which tasks it goes on or not."""
    evidence: dict[str, dict[str, tuple[int, bool]]] = {}
    members: dict[str, set[str]] = {}
    for own in found:
        for one in own["ran"] + own["presets"]:
            title = group_of_run(one["name"])
            members.setdefault(title, set()).add(str(one["mechanism"]))
            known, far = evidence.setdefault(title, {}), reach(one, own["lengths"])
            known[own["task"]] = max(known.get(own["task"], (NONE, False)), (far, not one["tags"]))
    rows = []
    for group in GROUPS:
        known = evidence.get(group.title, {})
        marked = {task: (far, task + ("" if alone or far == NONE else r"\*")) for task, (far, alone) in known.items()}
        lists = [", ".join(name for own, name in marked.values() if own == far) or "-" for far in (ALL, PART, NONE)]
        if known:
            names = ", ".join(f"[{name}](#{name})" for name in sorted(members[group.title]))
            rows.append([f"**{group.title}**", f"{group.does} ({names})", group.breaks, *lists])
    header = ["", "what it does", "why it may break", "goes on", "goes a part of the way", "breaks"]
    marks = r"*Goes on*: a run or preset of the group is right at every scored length (\* only with more than pairs); "
    marks += "*a part of the way*: at the first of them at least; *breaks*: at none, of those that were tried."
    return f"{marks}\n\n{table_of(header, rows)}"


def group_of_run(name: str) -> str:
    """Returns the title of the group of a preset or recorded run."""
    recipe = recipe_of(Preset.find(name))
    return GROUPS[-1].title if recipe is None else group_of(recipe).title


def reach(found: dict[str, Any], lengths: Sequence[int]) -> int:
    """Returns whether a run or preset is right at all scored lengths, a part of them, or none."""
    if not lengths:
        return ALL if found["score"] >= protocol.SOLVED else NONE
    return ALL if found["holds"] == max(lengths) else PART if found["holds"] else NONE
