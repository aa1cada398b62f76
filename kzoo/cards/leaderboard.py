"""One leaderboard for all families: the bundled runs that keep to the protocol, task by task."""

import math
from itertools import groupby
from statistics import median
from typing import Any

from kzoo import tasks
from kzoo.cards import protocol
from kzoo.cards.cross_table import cross_markdown, cross_table
from kzoo.cards.markdown import place_of, table_of, words_of
from kzoo.cards.tags import legend
from kzoo.errors import InputError
from kzoo.evaluation.report import percent, wilson
from kzoo.saving import catalogue
from kzoo.saving.preset import Preset
from kzoo.training.recipe import Recipe


def entries() -> list[dict[str, Any]]:
    """Returns an entry for every bundled preset and recorded run that keeps to the protocol; best first in each task.

    Each has `release`, `task`, `version`, `name`, `mechanism`, `model` (the class), `last_token_alone` (whether it
    answers with the last token of longer targets alone), `tags`, `apart` (both, as it is ranked), `parameters`,
    `steps`, `examples_seen`, `seconds` (of the median run, all its stages, with those of the run that it began with),
    `recipe_sha256`, `lengths`, `score` and `reach` (each mean, sd, min and max over seeds), `trained` (the mean
    accuracy at the longest trained length, None where it was not measured), `rank` among those with the same `apart`,
    one for all that are alike in mean and min, and `seeds`: for each its `weights_sha256`, `accuracy`, `tokens` (the
    token accuracy) and `n` by length, `score`, `token_score` (None where token accuracy was not measured at every
    scored length) and `reach`.
    """
    found = []
    for name in catalogue.names_of(catalogue.PRESET, catalogue.RUN):
        entry = entry_of(Preset.find(name))
        if entry is not None:
            found.append(entry)
    found.sort(key=_order)
    for _, group in groupby(found, lambda entry: (entry["task"], entry["apart"])):
        own = list(group)
        scores = [_scores(entry) for entry in own]
        for entry, score in zip(own, scores, strict=True):
            entry["rank"] = 1 + scores.index(score)
    return found


def entry_of(preset: Preset) -> dict[str, Any] | None:
    """Returns the entry of a preset or recorded run, or None if there are obstacles."""
    return _examined(preset)[0]


def obstacles(preset: Preset) -> list[str]:
    """Returns why a preset or recorded run is not on the leaderboard, a few words each; of an entry there are none."""
    return _examined(preset)[1]


def _examined(preset: Preset) -> tuple[dict[str, Any] | None, list[str]]:
    """Returns the entry and no obstacles, or None and the obstacles."""
    recipe = recipe_of(preset)
    if recipe is None:
        return None, ["it has no recipe that is valid"]
    lengths = protocol.scored_lengths(tasks.get(recipe.task))
    if not lengths:
        return None, [f"{recipe.task} has no lengths to score"]
    training = (preset.results or {}).get("training") or []
    if not training:
        return None, ["it has no results of a training"]
    found = protocol.breaches(recipe, preset.parameters, training)
    if found:
        return None, found
    if preset.parameters is None:
        return None, ["its results do not say how many parameters it has"]
    measured = sorted(by_seed(preset, recipe.task).items())
    scored = {seed: own for seed, own in measured if all(_tested(own, n) for n in lengths)}
    if not scored:
        where = ", ".join(map(str, lengths))
        return None, [f"no seed has results of {protocol.TESTED} examples or more at each of {where}"]
    return _entry(preset, recipe, training, scored), []


def _entry(
    preset: Preset, recipe: Recipe, training: list[dict[str, Any]], scored: dict[int, dict[str, Any]]
) -> dict[str, Any]:
    task = tasks.get(recipe.task)
    lengths, longest = protocol.scored_lengths(task), task.splits["train"].lengths[1]
    seeds = {
        seed: {
            **own,
            "score": protocol.chomsky_score(own["accuracy"], lengths),
            "reach": protocol.reach(own["accuracy"], lengths, longest),
            "token_score": protocol.chomsky_score(own["tokens"], lengths),
        }
        for seed, own in scored.items()
    }
    entry: dict[str, Any] = {"release": protocol.RELEASE, "task": task.name, "version": task.version}
    entry |= {"name": preset.name, "mechanism": recipe.mechanism, "model": recipe.model["class"]}
    entry["last_token_alone"] = protocol.last_token_alone(recipe)
    entry |= {"tags": list(protocol.tags(recipe)), "apart": protocol.apart(recipe), "parameters": preset.parameters}
    runs, earlier = protocol.totals(training), protocol.began_with(recipe)
    for key in ("steps", "examples_seen", "seconds"):
        entry[key] = round(median(run[key] for run in runs) + earlier[key])
    entry |= {"recipe_sha256": protocol.recipe_sha256(recipe), "lengths": lengths}
    entry |= {key: protocol.spread([own[key] for own in seeds.values()]) for key in ("score", "reach")}
    return entry | {"trained": protocol.at_trained([own["accuracy"] for own in seeds.values()], task), "seeds": seeds}


def _tested(own: dict[str, Any], length: int) -> bool:
    return length in own["accuracy"] and own["n"][length] >= protocol.TESTED


def _order(entry: dict[str, Any]) -> tuple[Any, ...]:
    mean, least = _scores(entry)
    return entry["task"], entry["apart"], -mean, -least, -len(entry["seeds"]), entry["name"]


def _scores(entry: dict[str, Any]) -> tuple[float, float]:
    """Returns what ranks an entry."""
    return entry["score"]["mean"], entry["score"]["min"]


def by_seed(preset: Preset, task: str, whole: bool = False) -> dict[int, dict[str, Any]]:
    """Returns the `weights_sha256`, and the sequence `accuracy`, token accuracy (`tokens`) and `n` by length, of each
    training seed of a preset or recorded run; with `whole` those of the test split as a whole, under None.
    """
    measured: dict[int, dict[str, Any]] = {}
    for row in [*preset.rows, *preset.other_rows]:
        key = {"sequence_accuracy": "accuracy", "token_accuracy": "tokens"}.get(row["metric"])
        if key and row["task"] == task and (row["length"] is None) == whole:
            own = measured.setdefault(row["training_seed"] or 0, {"accuracy": {}, "tokens": {}, "n": {}})
            own["weights_sha256"] = row["weights_sha256"]
            own[key][row["length"]], own["n"][row["length"]] = row["value"], row["n"]
    return {seed: own for seed, own in measured.items() if own["accuracy"]}


def recipe_of(preset: Preset) -> Recipe | None:
    """Returns the recipe of a preset, or None if it has none that is valid today."""
    try:
        return None if preset.recipe is None else Recipe.from_config(preset.recipe)
    except (InputError, LookupError):
        return None


def as_json(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the leaderboard as plain data: `release`, `entries`, without a standard deviation of one seed, and their
    cross table, `table`.
    """
    plain = [
        {
            key: {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in value.items()}
            if key in ("score", "reach")
            else value
            for key, value in entry.items()
        }
        for entry in found
    ]
    return {"release": protocol.RELEASE, "entries": plain, "table": cross_table(found)}


def markdown() -> str:
    """Returns the page: the cross table, then a table a task, with a row an entry."""
    found = entries()
    used = {tag for entry in found for tag in entry["tags"]}
    parts = [
        "# Leaderboard",
        f"Release {protocol.RELEASE}. Runs of one budget: at most {protocol.PARAMETERS:,} parameters, "
        f"{protocol.STEPS:,} steps and {protocol.EXAMPLES:,} examples, trained on the training split alone, without a "
        "look at longer inputs unless a tag says so. What to take for a task: "
        "[which_mechanism.md](which_mechanism.md). Rendered by `kzoo results --leaderboard --markdown`; `kzoo results "
        "--verify NAME` measures a row's weights anew; the protocol is `kzoo/cards/protocol.py`.",
        f"What the columns say:\n\n{_columns()}",
        f"What the tags say:\n\n{legend(used)}",
        cross_markdown(cross_table(found)),
    ]
    for name in dict.fromkeys(entry["task"] for entry in found):
        own = [entry for entry in found if entry["task"] == name]
        task = tasks.get(name)
        low, high = task.splits["train"].lengths
        header = ["rank", "mechanism", "run", "seeds", "parameters", "examples", "seconds"]
        header += [f"{high} (trained)", *map(str, own[0]["lengths"]), "score", "worst seed", "reach"]
        parts.append(f"## {name}\n\nTrained on {low} to {high} {task.length_unit}.")
        for apart, group in groupby(own, lambda entry: entry["apart"]):
            title = f"With {', '.join(apart)}:" if apart else "On pairs alone:"
            parts.append(f"{title}\n\n{table_of(header, [_line(entry) for entry in group])}")
    return "\n\n".join(parts) + "\n"


def _columns() -> str:
    """Returns what the columns of the tables say, as a list."""
    low, high = wilson(0.5, protocol.TESTED)
    points = round(50 * (high - low))
    return "\n".join(
        [
            "- *rank*: by the score, then by the worst seed; alike in both, alike in rank. Each set of tags is ranked "
            "apart, and so is a classifier that answers with the last token of longer targets alone.",
            "- *mechanism*: what decides where the model looks, or what it keeps; a link says it in words.",
            "- *run*: the card of a preset, or the folder of a run recorded without weights.",
            f"- *seeds*: trainings of one recipe. The protocol asks for {len(protocol.SEEDS)}; a row with fewer is no "
            "more than a first look.",
            "- *parameters*, *examples*, *seconds*: weights, embeddings included; examples seen in training, and how "
            "long that took, of the median seed.",
            "- a length: sequence accuracy, the share of outputs right from the first token to the last, as a mean "
            f"over seeds. Each was measured on {protocol.TESTED} examples or more, so that what a seed has there is "
            f"known to {points} points (95 % interval) or better.",
            "- *score*: the mean of these over the lengths beyond the trained ones, up to ten times as long; ± the "
            "standard deviation over seeds. *Worst seed*: the least of them.",
            "- *reach*: the greatest of these lengths up to which accuracy is "
            f"{100 * protocol.SOLVED:.0f} % or more at every one, divided by the longest trained length; a mean over "
            "seeds, 0 where it is at none.",
        ]
    )


def _line(entry: dict[str, Any]) -> list[str]:
    own = entry["seeds"].values()
    columns = ["" if entry["trained"] is None else percent(entry["trained"])]
    columns += [percent(sum(seed["accuracy"][n] for seed in own) / len(own)) for n in entry["lengths"]]
    score = percent(entry["score"]["mean"])
    score += f" ± {100 * entry['score']['sd']:.1f}" if len(own) > 1 else ""
    facts = [str(entry["rank"]), words_of(entry["mechanism"]), f"[{entry['name']}]({place_of(entry['name'])})"]
    facts += [str(len(own)), f"{entry['parameters']:,}", f"{entry['examples_seen']:,}", str(entry["seconds"])]
    return [*facts, *columns, score, percent(entry["score"]["min"]), f"{entry['reach']['mean']:.1f}"]
