"""`kzoo list`: the presets, tasks, mechanisms and recipes, each in 80 columns."""

import argparse
import fnmatch
from typing import Any

from kzoo import tasks
from kzoo.cli.output import print_json
from kzoo.errors import InputError
from kzoo.evaluation.report import percent, text_table
from kzoo.saving import catalogue
from kzoo.saving.preset import Preset

KINDS = ("presets", "tasks", "mechanisms", "recipes")
WIDTH = 80
TASK = 17  # characters of a task beside a preset, whose name mostly ends with all of it
Facts = list[dict[str, Any]]


def list_parser(sub: argparse.ArgumentParser) -> None:
    """Adds the arguments of `kzoo list`."""
    sub.add_argument("what", nargs="*", metavar="WHAT", help=f'{", ".join(KINDS)} (default: presets); or as "onestep*"')
    sub.add_argument(
        "--supervision", help='only presets trained with this beyond pairs, as "gold attention"; "none" with nothing'
    )


def list_(options: argparse.Namespace) -> None:
    words = list(options.what)
    what = words.pop(0) if words and words[0] in KINDS else "presets"
    if len(words) > 1:
        raise InputError(f"kzoo list takes one of {', '.join(KINDS)} and a pattern, not {' '.join(words)!r:.60}")
    pattern = words[0] if words else "*"
    if options.supervision is not None and what != "presets":
        raise InputError("--supervision is for presets")
    found = _presets(pattern, options.supervision) if what == "presets" else LISTS[what](pattern)
    if options.json:
        return print_json(found)
    if not found:
        return print(f"no {what}")
    header, lines = COLUMNS[what](found)
    print(fitted(header, lines))
    if what == "presets" and any(row["supervision"] for row in found):
        print("\n* training had more than pairs of source and target: see kzoo info NAME")


def fitted(header: list[str], lines: list[list[str]]) -> str:
    """Returns a table, its last column cut off where it does not fit into 80 columns."""
    used = sum(max(map(len, column)) + 2 for column in zip(header[:-1], *(line[:-1] for line in lines), strict=True))
    room = max(WIDTH - used, len(header[-1]), 12)
    whole = [[*line[:-1], cut(line[-1], room)] for line in lines]
    return "\n".join(line.rstrip() for line in text_table(header, whole).splitlines())


def cut(text: str, room: int) -> str:
    """Returns a text, cut off where it is longer than so many characters."""
    return text if len(text) <= room else text[: room - 3] + "..."


def _presets(pattern: str, supervision: str | None) -> Facts:
    rows: Facts = []
    for name in catalogue.list_presets(pattern, supervision):
        preset = Preset.find(name)
        facts: dict[str, Any] = {"preset": name, "mechanism": preset.mechanism, "task": preset.task}
        facts |= {"supervision": preset.supervision, "parameters": preset.metadata["parameters"]}
        accuracies = {row["length"]: row["value"] for row in preset.rows if row["metric"] == "sequence_accuracy"}
        rows.append({**facts, "sequence_accuracy": accuracies})
    unknown: dict[str, Any] = dict.fromkeys(("mechanism", "task", "supervision", "parameters"))
    if supervision is None:
        for name in catalogue.names_of(catalogue.PIN, pattern=pattern):
            rows.append({"preset": name, **unknown, "sequence_accuracy": {}})
    return rows


def shortly(accuracies: dict[int | None, float]) -> str:
    """Returns the accuracy on the test split or at the shortest length, and that at the longest."""
    shares = {length: percent(value) for length, value in accuracies.items()}
    lengths = sorted(length for length in shares if length is not None)
    first = [f"{shares[None]} test"] if None in shares else [f"{shares[n]} at {n}" for n in lengths[:1]]
    if None not in shares and lengths and len(set(shares.values())) == 1 and len(lengths) > 1:
        return f"{shares[lengths[0]]} at {lengths[0]} to {lengths[-1]}"
    last = [f"{shares[n]} at {n}" for n in lengths[-1:]]
    return ", ".join(dict.fromkeys([*first, *last]))


def _tasks(pattern: str) -> Facts:
    found: Facts = []
    for name in fnmatch.filter(tasks.names(), pattern):
        try:
            task = tasks.get(name)
            splits = {split: list(about.lengths) for split, about in task.splits.items()}
        except InputError as error:  # its files are not there
            found.append({"task": name, "about": str(error), "length": None, "tested": [], "splits": {}})
            continue
        own = {"task": name, "about": task.about(), "length": task.length_unit}
        found.append({**own, "tested": list(task.test_lengths), "splits": splits})
    return found


def _mechanisms(pattern: str) -> Facts:
    from kzoo import registry

    return [
        {"mechanism": name, "kind": kind, "class": registry.resolve(kind, name)[0].__name__}
        for kind in registry.kinds()
        if kind not in ("model", "task")
        for name in fnmatch.filter(registry.names(kind), pattern)
    ]


def _recipes(pattern: str) -> Facts:
    kinds = (catalogue.PRESET, catalogue.RUN, catalogue.RECIPE)
    found = [Preset.find(name) for name in catalogue.names_of(*kinds, pattern=pattern)]
    return [
        {"recipe": one.name, "kind": one.kind, "mechanism": one.mechanism, "task": one.task}
        for one in found
        if (one.folder / "recipe.json").is_file()
    ]


def _preset_lines(found: Facts) -> tuple[list[str], list[list[str]]]:
    lines = []
    for row in found:
        mark = " *" if row["supervision"] else ""
        shown = shortly(row["sequence_accuracy"]) or f"see kzoo info {row['preset']}"
        lines.append([row["preset"], cut(row["task"] or "", TASK), shown + mark])
    return ["preset", "task", "sequence accuracy"], lines


def _task_lines(found: Facts) -> tuple[list[str], list[list[str]]]:
    trained = ["{}-{}".format(*row["splits"]["train"]) if "train" in row["splits"] else "" for row in found]
    lines = [[row["task"], lengths, row["about"]] for row, lengths in zip(found, trained, strict=True)]
    return ["task", "trained at", "what is asked"], lines


def _plain_lines(found: Facts) -> tuple[list[str], list[list[str]]]:
    header = list(found[0])
    return header, [[str(row[key] or "") for key in header] for row in found]


def _recipe_lines(found: Facts) -> tuple[list[str], list[list[str]]]:
    return ["recipe", "kind", "task"], [[row["recipe"], row["kind"], row["task"]] for row in found]


LISTS = {"tasks": _tasks, "mechanisms": _mechanisms, "recipes": _recipes}
COLUMNS = {"presets": _preset_lines, "tasks": _task_lines, "mechanisms": _plain_lines, "recipes": _recipe_lines}
