"""How the verbs of the command show what they found."""

import json
import os
from pathlib import Path
from typing import Any

from kzoo.evaluation.report import percent
from kzoo.saving import catalogue


def by_share(accuracies: dict[int | None, float]) -> str:
    """Returns accuracies by length in short, lengths of one accuracy together."""
    equal: dict[str, list[str]] = {}
    for length, value in accuracies.items():
        equal.setdefault(percent(value), []).append("the test split" if length is None else str(length))
    return "; ".join(f"{share} at {', '.join(lengths)}" for share, lengths in equal.items())


def show_progress() -> bool:
    """Returns whether progress is to be seen."""
    return not os.environ.get("HF_HUB_DISABLE_PROGRESS_BARS")


def print_json(value: Any) -> None:
    """Prints a value as JSON."""
    print(json.dumps(value, indent=1, ensure_ascii=False))


def show_preset(preset: str) -> None:
    """Prints what is known of a preset."""
    info = catalogue.preset_info(preset)
    meta = info.get("metadata", {})
    parameters, task = f"{meta.get('parameters', 0):,} parameters", f"task {meta.get('task')}"
    print(f"{info['preset']}: {info['config']['class']}, {parameters}, {task}")
    print(f"folder: {info['folder']}\npaper: {meta.get('paper')}\nlicence: {meta.get('license')}")
    print("config: " + json.dumps(info["config"]["config"]))
    if "results" in info:
        from kzoo.evaluation.report import Report
        from kzoo.evaluation.results import preset_rows

        print("\n" + str(Report(None, "", "", preset_rows(Path(info["folder"]), info["results"]))))
