"""The page "Which mechanism for which task", rendered from the leaderboard and the bundled presets."""

from collections.abc import Iterable, Sequence
from typing import Any

from kzoo.cards import claims, protocol
from kzoo.cards.choice import ALIKE, choices
from kzoo.cards.explain import in_words, part
from kzoo.cards.group_tables import group_table, short_table
from kzoo.cards.groups import distinctive
from kzoo.cards.leaderboard import recipe_of
from kzoo.cards.markdown import place_of, table_of
from kzoo.cards.tags import legend
from kzoo.evaluation.report import percent
from kzoo.saving.preset import Preset

EACH = "## Each mechanism"
LEGEND = (
    "Score: the mean sequence accuracy of the preset's weights at the scored lengths, all beyond the trained ones; if\n"
    "there are none, on the test split. Right up to: the longest of them up to which each has "
    f"{100 * protocol.SOLVED:.0f} %. Worst seed: of the\nsame recipe. The mechanisms are of runs within the budget of "
    "the leaderboard, which may be recorded without weights.\nLast token: the preset answers with that alone."
)
NAMED = 3  # mechanisms of a cell that do equally well


def markdown() -> str:
    """Returns the page."""
    found = choices()
    ranked = [own for own in found if own["ran"]]
    others = [own for own in found if not own["ran"] and own["preset"]]
    solved = f"{100 * protocol.SOLVED:.0f} %"
    parts = [
        "# Which mechanism for which task",
        "A network that has learned a task on short inputs mostly fails on longer ones. What decides is how it finds "
        "the place to look at next. A position learned by heart is of no use beyond the trained lengths; counting on "
        "from the last place works at any length, as long as the count is exact; looking for content works where the "
        "content tells the place. So it depends on the task.",
        "## In short",
        "Begin with the row that is most like your task. A task links to the preset to take, whose own weights have "
        f"{solved} or more at every scored length, the longest so many times (×) the longest trained one, or on the "
        r"test split where there is none; *2 of 3 seeds*: so many of those that the recipe was trained with have that; "
        r"\*: training had more than pairs of source and target, or a look at longer inputs, as the tags below say.",
        short_table(found),
        "`kzoo generate PRESET INPUT` runs a preset. `kzoo results --leaderboard` names the runs; `kzoo train RUN "
        "--output DIR` trains one again, or with `--tasks` on another task. `kzoo results --choose` prints the table.",
        "## By task",
        "The score is the mean sequence accuracy at the scored lengths, which are those beyond the trained ones, up to "
        "ten times as long, that the task's tables have; *right up to* is the longest of them up to which every seed "
        f"has {solved} or more, and of a preset its own weights have; *(all)* says that none is longer. "
        "*None goes on*: of no run within the budget of the [leaderboard](leaderboard.md) all seeds have that at the "
        "first of them; a preset may be of a longer training, which is said. *Pairs alone* had nothing but sources and "
        "targets, from which an alignment may have been found; what others had more is in italics, and [explained "
        f"below](#how-it-is-chosen). With fewer than {len(protocol.SEEDS)} seeds a number is only a first look.",
        table_of(
            ["task", "what is asked", "preset to take", "best on pairs alone", "best with more"],
            [[f"**{own['task']}**", _asked(own), _preset(own), *_sides(own)] for own in ranked],
        ),
    ]
    if others:
        parts += [
            "## Tasks that no run of this budget does yet",
            "Presets whose training was longer than the [leaderboard](leaderboard.md) allows or on other data, or "
            "whose task has no lengths to score.",
            table_of(
                ["task", "what is asked", "preset to take"],
                [[f"**{own['task']}**", _asked(own), _preset(own)] for own in others],
            ),
        ]
    parts += [
        "## What the mechanisms do, and where they break",
        group_table(found),
        *claims.section(),
        _rule(found, solved),
        *_each(found),
    ]
    return "\n\n".join(parts) + "\n"


def lines(found: Sequence[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Returns a header and lines for a terminal."""
    rows = []
    for own in found:
        preset = own["preset"]
        names = [_names(cell["mechanism"] for cell in own[side]) or _none(own, side) for side in ("alone", "more")]
        facts = ["none yet", "", "", ""]
        if preset:
            last = " (last token)" if preset["last_token_alone"] else ""
            facts = [preset["name"] + last, percent(preset["score"]), percent(preset["weakest"])]
            facts.append(f"{preset['holds'] or '-'}")
        rows.append([own["task"], *names, *facts])
    return ["task", "on pairs alone", "with more", "preset", "score", "worst seed", "right up to"], rows


def _names(found: Iterable[str]) -> str:
    """Returns the first few of names, and how many more there are."""
    names = list(found)
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def _sides(own: dict[str, Any]) -> list[str]:
    """Returns the best on pairs alone, and with more."""
    found = []
    for side in ("alone", "more"):
        found.append(_best(own[side], own["lengths"]) if own[side] else _none(own, side, linked=True))
    return found


def _none(own: dict[str, Any], side: str, linked: bool = False) -> str:
    """Returns what stands where no run of a side is among the best; where some seeds of one go on, that too."""
    ran = [cell for cell in own["ran"] if bool(cell["tags"]) == (side == "more")]
    nearest = max(ran, key=lambda cell: (cell["going_on"] / cell["seeds"], cell["score"]), default=None)
    if nearest is None or not nearest["going_on"]:
        return "none goes on" if ran else "not run"
    name = f"[{nearest['mechanism']}]({place_of(nearest['run'])})" if linked else nearest["mechanism"]
    return f"none goes on; {nearest['going_on']} of {nearest['seeds']} seeds of {name} do"


def _asked(own: dict[str, Any]) -> str:
    """Returns what a task asks for, and the lengths trained on."""
    (low, high), unit = own["trained"], own["unit"]
    about = own["about"].split(". ")[0].rstrip(".")
    return f"{about}; trained on {f'{low} to {high}' if low != high else high} {unit}"


def _best(cells: Sequence[dict[str, Any]], lengths: Sequence[int]) -> str:
    """Returns the best mechanisms of a task, the first of them with its score, and how many seeds they have."""
    first, counts = cells[0], [cell["seeds"] for cell in cells]
    names = _names(f"[{cell['mechanism']}]({place_of(cell['run'])})" for cell in cells)
    seeds = f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else str(counts[0])
    seeds += " seeds" if max(counts) > 1 else " seed"
    return f"{names}: {_share(first, lengths, f' ({seeds})')}{_tags(first)}"


def _preset(own: dict[str, Any]) -> str:
    preset = own["preset"]
    if preset is None:
        return "none yet"
    if own["lengths"] and preset["holds"] is None:
        nearest = f"[{preset['name']}]({preset['name']}.md): {_share(preset, own['lengths'])}{_tags(preset)}"
        return f"none goes on; nearest is {nearest}"
    test = "" if own["lengths"] else " of the test split"
    other = f" (another seed: {percent(preset['weakest'])})" if preset["weakest"] < preset["score"] - ALIKE else ""
    last = ", the last token alone" if preset["last_token_alone"] else ""
    longer = ", beyond the budget" if preset["breaches"] and own["ran"] else ""
    share = f"{_share(preset, own['lengths'])}{test}{last}{other}{longer}"
    return f"[{preset['name']}]({preset['name']}.md): {share}{_tags(preset)}"


def _share(found: dict[str, Any], lengths: Sequence[int], seeds: str = "") -> str:
    """Returns a score, and how far it goes: "100 %, right up to 400 (all)"."""
    far = f", right up to {found['holds']:,}" if found["holds"] else ""
    last = " (all)" if found["holds"] and found["holds"] == max(lengths, default=None) else ""
    return f"{percent(found['score'])}{seeds}{far}{last}"


def _tags(found: dict[str, Any]) -> str:
    return f"; *{', '.join(found['tags'])}*" if found["tags"] else ""


def _each(found: Sequence[dict[str, Any]]) -> list[str]:
    """Returns a section with a line a mechanism: what it does, and the layers that it is made of."""
    runs = {str(one["mechanism"]): one["name"] for own in found for one in [*own["ran"], *own["presets"]]}
    rows = []
    for mechanism, name in sorted(runs.items()):
        recipe = recipe_of(Preset.find(name))
        parts = [] if recipe is None else [part(cls) for cls in distinctive(recipe)]
        links = ", ".join(f"[{own.name.split('.')[-1]}](../{own.source})" for own in parts if own)
        rows.append([f'<a id="{mechanism}"></a>**{mechanism}**', in_words(mechanism) or "", links])
    return [EACH, table_of(["mechanism", "what it does, and where it breaks", "layers"], rows)]


def _rule(found: Sequence[dict[str, Any]], solved: str) -> str:
    """Returns how the presets are chosen, and what the tags say that occur on the page."""
    shown = [one for own in found for one in [*own["alone"], *own["more"], own["preset"] or {}]]
    used = {tag for one in shown for tag in one.get("tags", [])}
    return "\n\n".join(
        [
            "## How it is chosen",
            "*Best*: the runs of the [leaderboard](leaderboard.md) whose score is within a point of the highest, and "
            f"that have {solved} or more at the first scored length at least; of these those with the fewest tags, the "
            "ones with the most seeds first. *Preset to take*: of the bundled presets of the task, trained within the "
            "budget or not, those whose own weights score within a point of the highest; of these those with the "
            "fewest tags; of these those whose weakest training seed is within a point of the highest; then the one "
            "with the higher score, then fewer parameters. *Another seed* is the score of the weakest one, where it is "
            "more than a point lower: training the recipe again may end there. Constructed ones are left out. A high "
            "score says nothing of inputs that the test split rarely has: `kzoo evaluate PRESET --stress` does.",
            f"What the words in italics say:\n\n{legend(used)}",
            "Rendered by `kzoo results --choose --markdown` from the recorded results.",
        ]
    )
