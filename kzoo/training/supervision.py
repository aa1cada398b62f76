"""What training had beyond pairs of source and target."""

from collections.abc import Iterable, Sequence
from typing import Any

from kzoo import checks
from kzoo.errors import InputError
from kzoo.saving.catalogue import SUPERVISION
from kzoo.tasks import Task
from kzoo.training.stages import Stage

ALIGNING = ("coupled", "CoupledEncoding", "abacus", "AbacusEncoding")


def implied(
    task: Task, layout: dict[str, Any], stages: Iterable[Stage], model: dict[str, Any] | None = None
) -> tuple[str, ...]:
    """Returns the words of `SUPERVISION` that a recipe implies; no stages are a construction.

    "longer inputs" is a selection length beyond the training split. The validation split of a task is the published
    one, whatever its lengths, and implies nothing; neither does an alignment that is learned from the pairs. "other
    training distribution" is never implied: which of a task's splits is the published one, recipes say.
    """
    stages = list(stages)
    found = {
        "intermediate results": bool(layout.get("running")) or any(stage.objective.intermediate for stage in stages),
        "gold attention": any(_told_where_to_look(stage) for stage in stages),
        "built-in alignment": bool(layout.get("aligned") or layout.get("running")) or _is_told_places(model or {}),
        "data augmentation": any(stage.data.exchange_words for stage in stages),
        "longer inputs": any(_selects_on_longer(task, stage) for stage in stages),
        "constructed": not stages,
    }
    return tuple(word for word in SUPERVISION if found.get(word))


def check(words: Sequence[str], implied_words: Sequence[str]) -> None:
    """Raises `InputError` unless words are of `SUPERVISION`, each once, the implied ones among them."""
    if not isinstance(words, (list, tuple)):
        raise InputError("supervision must be a list, empty where there was none")
    for word in words:
        checks.choice("supervision", word, SUPERVISION)
    if len(set(words)) != len(words):
        raise InputError("supervision names a word twice")
    missing = [word for word in implied_words if word not in words]
    if missing:
        raise InputError(f"supervision must declare {', '.join(map(repr, missing))}, which this recipe trains with")


def _told_where_to_look(stage: Stage) -> bool:
    return bool(stage.objective.attention_supervision) and stage.objective.learned_alignment is None


def _is_told_places(model: dict[str, Any]) -> bool:
    """Whether the encoding of a model's config gives tokens that belong together one place."""
    encoding = (model.get("config") or {}).get("encoding")
    name = encoding.get("class") if isinstance(encoding, dict) else encoding
    return name in ALIGNING


def _selects_on_longer(task: Task, stage: Stage) -> bool:
    selection, longest = stage.selection, task.splits[stage.data.split].lengths[1]
    return selection.by == "validation" and selection.length is not None and selection.length > longest
