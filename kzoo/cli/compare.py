"""`kzoo compare`: what is known of several presets, side by side."""

import argparse
import sys
from typing import Any

from kzoo.cli.arguments import PRESETS, bundled_by_pattern
from kzoo.cli.output import print_json
from kzoo.errors import InputError
from kzoo.evaluation.report import percent, text_table
from kzoo.saving.preset import Preset


def compare_parser(sub: argparse.ArgumentParser) -> None:
    """Adds the arguments of `kzoo compare`."""
    sub.add_argument("presets", nargs="+", metavar="PRESET", help=f"two or more: {PRESETS}")


def compare(options: argparse.Namespace) -> None:
    found = [Preset.find(preset) for preset in bundled_by_pattern(options.presets)]
    if len(found) < 2:
        raise InputError("kzoo compare takes two presets or more")
    tasks = list(dict.fromkeys(str(preset.task) for preset in found))
    if len(tasks) > 1:
        print(f"kzoo: these are of different tasks ({', '.join(tasks)}), so are their accuracies", file=sys.stderr)
    facts = [_facts(preset) for preset in found]
    if options.json:
        return print_json(facts)
    lengths = {length for one in facts for length in one["sequence_accuracy"]}
    lines = [[key, *(_shown(one[key]) for one in facts)] for key in ("mechanism", "task", "parameters", "supervision")]
    for length in sorted(lengths, key=lambda length: length or 0):
        label = "on the test split" if length is None else f"at length {length}"
        lines.append([label, *(_accuracy(one["sequence_accuracy"].get(length)) for one in facts)])
    print(text_table(["", *(preset.name for preset in found)], lines))


def _facts(preset: Preset) -> dict[str, Any]:
    """Returns what is compared; accuracies with their 95 % Wilson interval and the number of examples."""
    rows = [row for row in preset.rows if row["metric"] == "sequence_accuracy"]
    own: dict[str, Any] = {
        "preset": preset.name,
        "kind": preset.kind,
        "mechanism": preset.mechanism,
        "task": preset.task,
    }
    own |= {"parameters": preset.metadata.get("parameters"), "supervision": preset.supervision}
    keys = ("value", "low", "high", "n")
    return {**own, "sequence_accuracy": {row["length"]: {key: row.get(key) for key in keys} for row in rows}}


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return "not stated" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _accuracy(found: dict[str, Any] | None) -> str:
    if found is None:
        return "not measured"
    return f"{percent(found['value'])} ({percent(found['low'])} to {percent(found['high'])})"
