"""Pictures of the leaderboard: all of it as a heat map, and accuracy by length on a task."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kzoo.errors import InputError, UnknownNameError, did_you_mean
from kzoo.evaluation.report import score_of_seeds, whole_percent
from kzoo.inspection.plots import COLORS, accuracy_axes, beside, check_format, drawn, finished, new_picture

if TYPE_CHECKING:
    from kzoo.inspection.picture import Picture

ALONE = "trained on pairs alone"
ALIKE = 0.01  # curves that differ by no more than this at any length are drawn as one
COLORED = 5  # curves of a task, if none are chosen; the others are gray
NAMES = 3  # of mechanisms whose curves are one


@drawn
def plot_cross_table(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    path: str | Path | None = None,
    note: str = "",
) -> "Picture":
    """Draws scores as heat maps: one a model of mechanisms on pairs alone, below them those of what had more.

    Args:
        rows: of the cross table: each with `mechanism`, `model`, `tags` and `cells`, by task, of `score` and `seeds`,
            how many, None of what is not trained; `learned`, False of what is written in italics.
        columns: tasks, from left to right; a map has those that one of its mechanisms has a score of.
        path: Path. Where to write it; its suffix, .png, .svg or .pdf, gives the format. Defaults to nowhere.
        note: str. Kept in the file's description, to tell which results it shows.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        InputError: there is no row, or none has a score of these tasks.
    """
    check_format(path)
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: bool(row["tags"])):
        if set(columns) & set(row["cells"]):
            groups.setdefault(f"{row['model']}, {'had more' if row['tags'] else ALONE}", []).append(row)
    if not groups:
        raise InputError("a heat map of the leaderboard needs a row and a task")

    shown = [[task for task in columns if any(task in row["cells"] for row in own)] for own in groups.values()]
    heights = [0.24 * len(own) for own in groups.values()]  # inches; besides that titles and names of tasks
    names = [0.6 + 0.055 * max(map(len, tasks)) for tasks in shown]
    widest = max(map(len, shown))
    figure = new_picture(max(6.5, 3.6 + 0.58 * widest), 1.6 + sum(heights) + sum(names))
    layout: Any = figure.get_layout_engine()
    layout.set(h_pad=0.12)
    panels = figure.subplots(len(groups), squeeze=False, height_ratios=heights)[:, 0]
    for axes, (title, own), tasks in zip(panels, groups.items(), shown, strict=True):
        image = _heat_map(axes, own, tasks)
        axes.set_xlim(-0.5, widest - 0.5)
        axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
    figure.colorbar(image, ax=panels, location="bottom", shrink=0.4, aspect=40, pad=0.01, label="score (%)")
    title = "Score: mean sequence accuracy beyond the trained lengths, in % (seeds); "
    title += "italics: not learned at the trained ones; gray: not run"
    figure.suptitle("\n".join(textwrap.wrap(title, int(figure.get_size_inches()[0] * 10))), fontsize=11)
    return finished(figure, path, note)


def _heat_map(axes: Any, rows: Sequence[Mapping[str, Any]], tasks: Sequence[str]) -> Any:
    """Draws the scores of rows on tasks, what a mechanism had more on the right; returns the image."""
    import numpy as np

    values = np.full((len(rows), len(tasks)), np.nan)
    for i, row in enumerate(rows):
        for j, task in enumerate(tasks):
            cell = row["cells"].get(task)
            if cell is not None:
                values[i, j] = 100 * cell["score"]
                color = "white" if cell["score"] > 0.55 else "0.15"
                score, seeds = cell["score"], cell["seeds"]
                text = whole_percent(score) if seeds is None else score_of_seeds(score, seeds)
                style = "normal" if cell.get("learned", True) else "italic"
                axes.text(j, i, text, fontsize=7.5, ha="center", va="center", color=color, style=style)
        axes.text(len(tasks) - 0.4, i, ", ".join(row["tags"]), fontsize=8, va="center")
    axes.axvspan(-0.5, len(tasks) - 0.5, color="0.95", zorder=-1)
    image = axes.imshow(values, cmap="YlGnBu", vmin=0, vmax=100, aspect="auto")
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(tasks)), tasks, rotation=40, ha="left", rotation_mode="anchor", fontsize=9)
    axes.set_yticks(range(len(rows)), [row["mechanism"] for row in rows], fontsize=9)
    axes.set_xticks(np.arange(len(tasks) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
    return image


@drawn
def plot_task_lengths(
    found: Sequence[Mapping[str, Any]],
    path: str | Path | None = None,
    trained: tuple[int, int] | None = None,
    note: str = "",
    unit: str = "",
    chosen: Sequence[str] = (),
    frequent: float | None = None,
) -> "Picture":
    """Draws accuracy by length of the runs on a task: the best, or those that are chosen, in colour, curves that are
    alike as one, others gray.

    Solid curves are of runs on pairs alone, dashed ones of runs that had more, dotted ones of what answers with the
    last token alone. Bars go from the worst seed to the best around the mean over seeds. Coloured curves stand a little
    beside their length, not to hide each other.

    Args:
        found: entries of the leaderboard: each with `task`, `mechanism`, `tags`, `score` (`mean`) and `seeds`, which
            have `accuracy` by length; a `name`, to be chosen by it; `apart`, if it is ranked apart for more than tags.
        path: Path. Where to write it; its suffix, .png, .svg or .pdf, gives the format. Defaults to nowhere.
        trained: (int, int). The lengths trained on, drawn as a band.
        note: str. Kept in the file's description, to tell which results it shows.
        unit: str. What a length counts.
        chosen: sequence of str. Mechanisms, or names of runs, that are drawn in colour. Defaults to the best.
        frequent: float. What the most frequent answer has, drawn as a line.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        InputError: there is no entry, or they are of several tasks; of those chosen one has no run, or there are more
            than there are colours.
    """
    check_format(path)
    tasks = sorted({entry["task"] for entry in found})
    if len(tasks) != 1:
        raise InputError(f"the curves are of one task, not of {', '.join(tasks) or 'none'}")
    known = {name for entry in found for name in (entry["mechanism"], entry.get("name")) if name}
    for name in chosen:
        if name not in known:
            raise UnknownNameError(did_you_mean(f"mechanism or run on {tasks[0]}", name, known))
    ordered = sorted(found, key=lambda entry: (-entry["score"]["mean"], len(entry["tags"])))
    first = [entry for entry in ordered if {entry["mechanism"], entry.get("name")} & set(chosen)]
    groups = _alike(first)
    colored = len(groups)
    groups += _alike([entry for entry in ordered if entry not in first])
    colored = colored or min(COLORED, len(groups))
    if colored > COLORS:
        raise InputError(f"there are {COLORS} colours, and {colored} different curves to draw in colour")
    figure = new_picture(9.6, 4.2)
    axes = figure.subplots()
    lengths, others, handles = list(trained or ()), 0, list[Any]()
    for i, group in enumerate(groups):
        curve = _curve(group[0])
        x, y = list(curve), [100 * mean for mean, _, _ in curve.values()]
        style = "--" if group[0]["tags"] else ":" if group[0].get("last_token_alone") else "-"
        lengths += x
        if i >= colored:
            axes.plot(x, y, style, color="0.7", linewidth=0.9, zorder=1)
            others += len(group)
            continue
        label = "\n".join(textwrap.wrap(_label(group), 40))
        bars = [[100 * (mean - low) for mean, low, _ in curve.values()]]
        bars.append([100 * (high - mean) for mean, _, high in curve.values()])
        lines: dict[str, Any] = dict(markersize=6, linewidth=2, elinewidth=1, capsize=3, zorder=4)
        handles.append(
            axes.errorbar(beside(x, i, colored), y, yerr=bars, fmt=f"o{style}", color=f"C{i}", label=label, **lines)
        )
    if others:
        handles += axes.plot([], [], "-", color="0.7", label=f"{others} other{'s' if others > 1 else ''}")
    if frequent is not None:
        handles.append(axes.axhline(100 * frequent, color="0.3", linewidth=1, label="the most frequent answer"))
    handles += accuracy_axes(axes, lengths, trained, unit)
    if axes.get_xscale() == "linear":
        axes.locator_params(axis="x", integer=True)
    axes.set_title(tasks[0])
    alone = "\ndotted: answers with the last token alone;" if any(x.get("last_token_alone") for x in found) else ""
    title = f"mechanism (seeds); dashed: had more than pairs;{alone}\n"
    title += "bars: worst to best seed; points beside their lengths"
    legend: dict[str, Any] = {
        "handles": handles,
        "frameon": False,
        "fontsize": 9,
        "title": title,
        "title_fontsize": 9,
        "alignment": "left",
    }
    legend["handlelength"] = 3.5  # or dashes do not show
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), **legend)
    return finished(figure, path, note)


def _curve(entry: Mapping[str, Any]) -> dict[int, tuple[float, float, float]]:
    """Returns the mean, the least and the greatest accuracy over seeds at each length that all of them have."""
    own = [{int(n): value for n, value in seed["accuracy"].items()} for seed in entry["seeds"].values()]
    found = {}
    for length in sorted(set.intersection(*map(set, own))):
        values = [seed[length] for seed in own]
        found[length] = sum(values) / len(values), min(values), max(values)
    return found


def _alike(found: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Returns the entries in groups whose curves are alike, and that are ranked together."""
    groups: list[list[Mapping[str, Any]]] = []
    for entry in found:
        curve = _curve(entry)
        for group in groups:
            other = _curve(group[0])
            pairs = [zip(curve[n], other[n], strict=True) for n in curve.keys() & other.keys()]
            near = all(abs(one - its) <= ALIKE for pair in pairs for one, its in pair)  # mean, worst and best seed
            if near and _apart(group[0]) == _apart(entry):
                group.append(entry)
                break
        else:
            groups.append([entry])
    return groups


def _label(group: Sequence[Mapping[str, Any]]) -> str:
    """Returns the mechanisms of a group with their numbers of seeds, and what they are ranked apart for."""
    ordered = sorted(group, key=lambda entry: (-len(entry["seeds"]), -entry["score"]["mean"]))
    names = [f"{entry['mechanism']}\u00a0({len(entry['seeds'])})" for entry in ordered[:NAMES]]
    names += [f"{len(group) - NAMES} more"] if len(group) > NAMES else []
    return "; ".join([", ".join(names), *([", ".join(_apart(group[0]))] if _apart(group[0]) else [])])


def _apart(entry: Mapping[str, Any]) -> Sequence[str]:
    found: Sequence[str] = entry.get("apart", entry["tags"])
    return found
