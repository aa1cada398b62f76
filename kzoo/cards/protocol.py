"""The protocol of the leaderboard, all of it: what a run may cost, what it may see, how it is measured and compared.

- Budget: at most `PARAMETERS` weights, embeddings included, `STEPS` steps and `EXAMPLES` examples seen, which on one
  core are about three minutes for the models here. Seconds are shown, and not limited.
- Data: the training split, of lengths up to b. Only the validation split of the same lengths selects weights; a recipe
  that selects by longer inputs declares it ("longer inputs"), and one that selects on a published validation split that
  is longer is tagged with that ("published validation").
- Seeds: `SEEDS` set weights and order; the examples are the task's own. A row counts the seeds that it has.
- Lengths: those that the task reports beyond b, up to ten times b, each measured on `TESTED` examples of the test split
  or more. What a table shows at other lengths is not scored.
- Scores of a seed: the Chomsky score, the mean over these lengths of the sequence accuracy; and the reach, the greatest
  of them up to which every one has 90 % or more, divided by b. Of the seeds: mean, standard deviation and least.
- Tags: what training had beyond pairs of source and target, as everywhere in kzoo. Ranks are within a task and a set
  of tags; of equal scores the row with more seeds is first. A classifier that answers with the last token of longer
  targets alone is ranked apart.
- A row is a recipe and the SHA-256 of its weights, which `kzoo results --verify` measures anew.
"""

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import Any

from kzoo.errors import InputError
from kzoo.saving import catalogue
from kzoo.saving.documents import CLASSIFIERS
from kzoo.saving.preset import Preset
from kzoo.tasks import Task
from kzoo.tasks import get as get_task
from kzoo.tasks.classification import most_frequent
from kzoo.training.recipe import Recipe

RELEASE = 1
PARAMETERS = 350_000
STEPS = 3_000
EXAMPLES = 384_000
SEEDS = (0, 1, 2, 3, 4)
TESTED = 200  # examples of each scored length
SAMPLE = 500  # examples that tell how frequent an answer is
FARTHEST = 10  # times the longest trained length
SOLVED = 0.9
PUBLISHED_VALIDATION = "published validation"
PRETRAINED = "pretrained"
HINT = "hint task"
LAST_ALONE = "last token alone"


def scored_lengths(task: Task) -> list[int]:
    """Returns the lengths that are scored: those that the task reports beyond the trained, up to ten times as long."""
    longest = task.splits["train"].lengths[1]
    return [n for n in task.test_lengths if n is not None and longest < n <= FARTHEST * longest]


def at_trained(seeds: Sequence[Mapping[Any, float]], task: Task) -> float | None:
    """Returns the mean of accuracies by length over seeds at the longest trained length; None where one lacks it."""
    longest = task.splits["train"].lengths[1]
    found = [accuracy.get(longest) for accuracy in seeds]
    return None if None in found else mean(x for x in found if x is not None)


def learned(trained: float | None) -> bool:
    """Returns whether the trained lengths are solved, or at least not known not to be."""
    return trained is None or trained >= SOLVED


def most_frequent_answer(task: Task, model: str) -> float | None:
    """Returns the score of always giving the answer that is the most frequent in training, where a model of this class
    answers with one token and the task has lengths to score; else None.
    """
    lengths, alone = scored_lengths(task), task.last_answers and model in CLASSIFIERS
    if not lengths or not (alone or task.target_steps == (0, 1)):
        return None
    answer = most_frequent(task, SAMPLE)
    return mean(mean(x.target[-1] == answer for x in task.examples("test", SAMPLE, length=n)) for n in lengths)


def last_token_alone(recipe: Recipe) -> bool:
    """Returns whether a run answers with the last token of longer targets alone, which is easier than all of them."""
    return recipe.model["class"] in CLASSIFIERS and get_task(recipe.task).last_answers


def apart(recipe: Recipe) -> list[str]:
    """Returns what a run is ranked apart for: its tags, and that it answers with the last token alone."""
    return [*tags(recipe), *([LAST_ALONE] if last_token_alone(recipe) else [])]


def breaches(recipe: Recipe, parameters: int | None = None, training: Sequence[Mapping[str, Any]] = ()) -> list[str]:
    """Returns what of a run the budget or the data of the protocol does not allow, a few words each.

    Args:
        recipe: Recipe.
        parameters: int. The number of weights, where it is known.
        training: sequence of dict, what results.json says of the stages of its runs: `steps` and `examples_seen` of
            each, and the `seed` and `backend` of the run.
    """
    found = []
    if recipe.constructed:
        found.append("its weights are set, not trained")
    if parameters is not None and parameters > PARAMETERS:
        found.append(f"it has {parameters:,} parameters, more than {PARAMETERS:,}")
    runs, earlier = totals(training), began_with(recipe)
    for key, limit, what in (("steps", STEPS, "steps"), ("examples_seen", EXAMPLES, "examples")):
        most = max((run[key] for run in runs), default=0) + earlier[key]
        if most > limit:
            of = f" with the {earlier[key]:,} of the run that it began with" if earlier[key] else ""
            found.append(f"it was trained on {most:,} {what}{of}, more than {limit:,}")
    if any(stage.data.split != "train" for stage in recipe.stages):
        found.append("it was trained on another split than train")
    return found


def totals(training: Sequence[Mapping[str, Any]]) -> list[Counter[str]]:
    """Returns what each run took in all its stages: `steps`, `examples_seen` and `seconds`.

    Args:
        training: sequence of dict, as for `breaches`.
    """
    runs: dict[tuple[Any, Any], Counter[str]] = defaultdict(Counter)
    for stage in training:
        counts = {key: stage.get(key, 0) for key in ("steps", "examples_seen", "seconds")}
        runs[stage.get("seed"), stage.get("backend")].update(counts)
    return list(runs.values())


def began_with(recipe: Recipe) -> Counter[str]:
    """Returns the same of the runs whose weights a recipe begins with or is calibrated in, and of those before them."""
    found = Counter[str]()
    for name in (recipe.init_from, (recipe.calibration or {}).get("preset")):
        if name is not None and catalogue.bundled(name, catalogue.PRESET, catalogue.RUN):
            preset = Preset.find(name)
            runs = totals((preset.results or {}).get("training") or [])
            found.update(max(runs, key=lambda run: run["steps"], default=Counter()))
            found.update(began_with(Recipe.from_config(preset.recipe)) if preset.recipe else {})
    return found


def tags(recipe: Recipe) -> tuple[str, ...]:
    """Returns the tags of a run: its supervision, how its weights were selected or begun, and whether it has hints."""
    task, found = get_task(recipe.task), list(recipe.supervision or ())
    selections = [stage.selection for stage in recipe.stages]
    longer = task.splits["validation"].lengths[1] > task.splits["train"].lengths[1]
    if longer and any(x.by == "validation" and x.length is None for x in selections):
        found.append(PUBLISHED_VALIDATION)
    if recipe.init_from is not None or recipe.calibration is not None:  # the budget of another run is in it
        found.append(PRETRAINED)
    if recipe.model["config"].get("hints"):
        found.append(HINT)
    return tuple(dict.fromkeys(found))


def recipe_sha256(recipe: Recipe) -> str:
    """Returns the SHA-256 of a recipe, its seed apart: sorted keys, no spaces."""
    config = {key: value for key, value in recipe.to_config().items() if key != "seed"}
    return hashlib.sha256(json.dumps(config, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def fresh_seed(weights_sha256: str, task: Task) -> int:
    """Returns the seed of test examples that nobody can train on: it follows from the weights."""
    text = f"{weights_sha256}|{task.name}|{task.version}|{RELEASE}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])


def chomsky_score(accuracies: Mapping[int, float], lengths: Sequence[int]) -> float | None:
    """Returns the mean accuracy over the scored lengths of one seed, or None if one is missing."""
    if not lengths or not set(lengths) <= set(accuracies):
        return None
    return mean(accuracies[length] for length in lengths)


def reach(accuracies: Mapping[int, float], lengths: Sequence[int], longest: int) -> float:
    """Returns how far one seed is right: the greatest scored length up to which all have 90 %, in trained lengths."""
    return (holds([accuracies], lengths) or 0) / longest


def holds(seeds: Sequence[Mapping[int, float]], lengths: Sequence[int]) -> int | None:
    """Returns the greatest scored length up to which every seed has 90 % at every one; None if there is none."""
    far = None
    for length in sorted(lengths):
        if any(accuracies.get(length, 0.0) < SOLVED for accuracies in seeds):
            break
        far = length
    return far


def spread(values: Sequence[float]) -> dict[str, float]:
    """Returns mean, standard deviation, least and greatest of the seeds.

    Raises:
        InputError: there is none.
    """
    if not values:
        raise InputError("there are no seeds")
    deviation = stdev(values) if len(values) > 1 else math.nan
    return {"mean": mean(values), "sd": deviation, "min": min(values), "max": max(values)}
