"""Tables of the groups of mechanisms, by what a task asks for and by what each does, for the page of choices."""

from collections.abc import Sequence
from typing import Any

from kzoo.cards import protocol
from kzoo.cards.groups import GROUPS, group_of
from kzoo.cards.leaderboard import recipe_of
from kzoo.cards.markdown import table_of
from kzoo.saving.preset import Preset

UNLEARNED, NONE, PART, ALL = range(4)  # how many of the scored lengths are right; or of the trained ones, too, none
HEADERS = {ALL: "goes on", PART: "goes a part of the way", NONE: "breaks", UNLEARNED: "not learned"}


def short_table(found: Sequence[dict[str, Any]]) -> str:
    """Returns a table of what a task may ask for, the group of mechanisms for it, and the presets that show it."""
    there: dict[str, list[str]] = {group.title: [] for group in GROUPS}
    without = []
    for own in found:
        preset = own["preset"]
        if preset is None or reach(preset, own["lengths"]) != ALL:
            without.append(own["task"])
            continue
        seeds = f"{preset['solved']} of {preset['seeds']} seeds" if preset["solved"] < preset["seeds"] else ""
        far = f"{max(own['lengths']) / own['trained'][1]:.2g}×" if own["lengths"] else ""
        notes = ", ".join(filter(None, [far, "one seed" if preset["seeds"] == 1 else seeds]))
        more = r"\*" if preset["tags"] else ""
        name = f"[{own['task']}]({preset['name']}.md){more}"
        there[group_of_run(preset["name"])].append(f"{name} ({notes})" if notes else name)
    shown = [group for group in GROUPS if there[group.title]]
    rows = [[group.asks, f"**{group.title}**: {group.does}", ", ".join(there[group.title])] for group in shown]
    table = table_of(["the task asks for", "take", "right at every length"], rows)
    return f"{table}\n\nNo preset is right at every length of {', '.join(without)}." if without else table


def group_table(found: Sequence[dict[str, Any]]) -> str:
    """Returns a table of the groups: what each does, why it may fail, and on which tasks it goes on, breaks or is not
    learned.
    """
    evidence: dict[str, dict[str, tuple[int, bool]]] = {}
    members: dict[str, set[str]] = {}
    for own in found:
        for one in own["ran"] + own["presets"]:
            title = group_of_run(one["name"])
            members.setdefault(title, set()).add(str(one["mechanism"]))
            known, far = evidence.setdefault(title, {}), reach(one, own["lengths"])
            known[own["task"]] = max(known.get(own["task"], (UNLEARNED, False)), (far, not one["tags"]))
    rows = []
    for group in GROUPS:
        known = evidence.get(group.title, {})
        marked = {task: (far, task + ("" if alone or far <= NONE else r"\*")) for task, (far, alone) in known.items()}
        lists = [", ".join(name for own, name in marked.values() if own == far) or "-" for far in HEADERS]
        if known:
            names = ", ".join(f"[{name}](#{name})" for name in sorted(members[group.title]))
            rows.append([f"**{group.title}**", f"{group.does} ({names})", group.breaks, *lists])
    header = ["", "what it does", "why it may break", *HEADERS.values()]
    marks = (
        r"*Goes on*: a run or preset of the group is right at every scored length (\* only with more than pairs); "
        "*a part of the way*: at the first of them at least; *breaks*: at none, though at the longest trained length, "
        f"or that was not measured; *not learned*: none has {100 * protocol.SOLVED:.0f} % there either, so that it "
        "does not tell what the mechanism does beyond."
    )
    return f"{marks}\n\n{table_of(header, rows)}"


def group_of_run(name: str) -> str:
    """Returns the title of the group of a preset or recorded run."""
    recipe = recipe_of(Preset.find(name))
    return GROUPS[-1].title if recipe is None else group_of(recipe).title


def reach(found: dict[str, Any], lengths: Sequence[int]) -> int:
    """Returns whether a run or preset is right at all scored lengths, a part of them, or none, or was not learned."""
    if not lengths:
        return ALL if found["score"] >= protocol.SOLVED else NONE
    if found["holds"]:
        return ALL if found["holds"] == max(lengths) else PART
    return NONE if found["learned"] else UNLEARNED
