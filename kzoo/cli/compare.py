"""`kzoo compare`: what is known of several presets, side by side."""

import argparse
from typing import Any

from kzoo.cli.arguments import PRESETS, bundled_by_pattern
from kzoo.cli.output import print_json, rows_of_first_seed
from kzoo.errors import InputError
from kzoo.evaluation.report import percent, text_table
from kzoo.saving.preset import Preset

FACTS = ("mechanism", "supervision", "parameters")


def compare_parser(sub: argparse.ArgumentParser) -> None:
    """Adds the arguments of `kzoo compare`."""
    sub.add_argument("presets", nargs="+", metavar="PRESET", help=f"two or more: {PRESETS}")


def compare(options: argparse.Namespace) -> None:
    found = [Preset.find(preset) for preset in bundled_by_pattern(options.presets)]
    if len(found) < 2:
        raise InputError("kzoo compare takes two presets or more")
    facts = [_facts(preset) for preset in found]
    if options.json:
        return print_json(facts)
    tasks = dict.fromkeys(str(one["task"]) for one in facts)
    for task in tasks:
        print(f"{task}\n\n{text_table(*_table([one for one in facts if str(one['task']) == task]))}\n")
    print("Sequence accuracy by length: the mean over seeds, and of the worst seed where it is another.")


def _facts(preset: Preset) -> dict[str, Any]:
    """Returns what is compared: the accuracies of the preset's weights, or of the first seed of a recorded run, with
    their 95 % Wilson interval and the number of examples; and those of every seed.
    """
    from kzoo.cards.leaderboard import by_seed, recipe_of
    from kzoo.cards.protocol import last_token_alone

    own: dict[str, Any] = {"preset": preset.name, "kind": preset.kind}
    own |= {key: getattr(preset, key) for key in ("mechanism", "task", "parameters", "supervision")}
    recipe = recipe_of(preset)
    own["last_token_alone"] = recipe is not None and last_token_alone(recipe)
    rows = [row for row in rows_of_first_seed(preset) if row["metric"] == "sequence_accuracy"]
    keys = ("value", "low", "high", "n")
    own["sequence_accuracy"] = {row["length"]: {key: row.get(key) for key in keys} for row in rows}
    seeds: dict[int, dict[int | None, float]] = {}
    for whole in (True, False):
        for seed, measured in by_seed(preset, str(preset.task), whole).items():
            seeds.setdefault(seed, {}).update(measured["accuracy"])
    return own | {"seeds": dict(sorted(seeds.items()))}


def _table(facts: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Returns header and lines of cells of presets of one task, a line a preset."""
    lengths = sorted({n for one in facts for seed in one["seeds"].values() for n in seed}, key=lambda n: n or 0)
    last = any(one["last_token_alone"] for one in facts)
    header = [
        "",
        *FACTS,
        *(["answers"] if last else []),
        "seeds",
        *("test split" if n is None else str(n) for n in lengths),
    ]
    lines = []
    for one in facts:
        seeds = list(one["seeds"].values())
        cells = [_accuracy([seed[n] for seed in seeds if n in seed]) for n in lengths]
        answers = ["last token" if one["last_token_alone"] else "all tokens"] if last else []
        lines.append([one["preset"], *(_shown(one[key]) for key in FACTS), *answers, str(len(seeds)), *cells])
    return header, lines


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return "not stated" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _accuracy(values: list[float]) -> str:
    if not values:
        return "-"
    mean, worst = percent(sum(values) / len(values)), percent(min(values))
    return mean if mean == worst else f"{mean} ({worst})"
