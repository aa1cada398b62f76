"""How the verbs of the command show what they found."""

import json
import os
from typing import Any

import numpy as np

from kzoo import tasks
from kzoo.errors import KzooError
from kzoo.evaluation.report import percent
from kzoo.saving.documents import Row
from kzoo.saving.preset import Preset


def by_share(accuracies: dict[int | None, float]) -> str:
    """Returns accuracies by length in short, lengths of one accuracy together."""
    equal: dict[str, list[str]] = {}
    for length, value in accuracies.items():
        equal.setdefault(percent(value), []).append("on the test split" if length is None else f"at {length}")
    return "; ".join(
        f"{share} {lengths[0]}" + "".join(f", {n.removeprefix('at ')}" for n in lengths[1:])
        for share, lengths in equal.items()
    )


def show_progress() -> bool:
    """Returns whether progress is to be seen."""
    return not os.environ.get("HF_HUB_DISABLE_PROGRESS_BARS")


def print_json(value: Any) -> None:
    """Prints a value as JSON."""
    print(json.dumps(value, indent=1, ensure_ascii=False))


def example_of(preset: Preset) -> dict[str, str] | None:
    """Returns what the task of a preset asks for and one short input with its answer; None if the task is not known."""
    try:
        task = tasks.get(str(preset.task))
        source, target = task.sample(np.random.default_rng(0), task.splits["train"].lengths[0])
    except (KzooError, LookupError):
        return None
    answer = target[-1:] if preset.gives_label else target
    return {"about": task.about(), "input": task.text(source), "answer": task.text(answer)}


def rows_of_first_seed(preset: Preset) -> list[Row]:
    """Returns what was measured with a preset's weights, or with those of the first seed of a recorded run."""
    first = min((row["training_seed"] or 0 for row in preset.rows), default=0)
    return [row for row in preset.rows if (row["training_seed"] or 0) == first]


def show_preset(preset: str) -> None:
    """Prints what is known of a preset, a recorded run or a recipe."""
    found = Preset.find(preset)
    meta = found.metadata
    supervision = None if found.supervision is None else ", ".join(found.supervision) or "none"
    if found.kind == "preset":
        found.verify()
        print(f"{found.name}: {found.config['class']}, {meta['parameters']:,} parameters, task {found.task}")
    else:
        print(f"{found.name}: {found.kind}, without weights, task {found.task}")
    example = example_of(found)
    if example is not None:
        print(f"{example['about']}\nfor example: {example['input']} -> {example['answer']}")
    print(f"folder: {found.folder}\nmechanism: {found.mechanism}")
    print(f"supervision beyond pairs: {supervision or 'not stated'}")
    if found.kind == "preset":
        if found.recipe is None:
            print("recipe: absent, so how it was trained is not known")
        if meta.get("paper"):
            print(f"paper: {meta['paper']}")
        print(f"licence: {meta.get('license')}")
        print("config: " + json.dumps(found.config["config"]))
    if found.rows:
        from kzoo.evaluation.report import Report

        print("\n" + str(Report(None, "", "", [dict(row) for row in found.rows])))
