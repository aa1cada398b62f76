"""The examples of a stage, in batches."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kzoo.errors import InputError
from kzoo.tasks import Example, Task
from kzoo.tasks import get as get_task
from kzoo.tasks.hinting import parts
from kzoo.training.exchange_words import exchange_words
from kzoo.training.learned_alignment import LearnedAlignment
from kzoo.training.recipe import Recipe
from kzoo.training.stages import Stage

FACTOR = 64  # so many times as many examples as are needed are drawn at most, to find those that are short enough
TELLING = 1_000  # so many draws say how frequent the short ones are
FRESH = 10**6  # so far apart are the seeds of two runs' fresh examples; the seed of all other examples is 0


def training_batches(recipe: Recipe, model: Any, index: int = 0, draw_ahead: int = 0) -> Any:
    """Returns the batches of the task in a stage, or where the model has hints, those of task and hints in turn.

    Args:
        recipe: Recipe.
        model: the model that is trained.
        index: int. The stage. Defaults to the first.
        draw_ahead: int. So many epochs of fresh examples are drawn ahead, see `Batches`. Defaults to 0.
    """
    from kzoo.data.batches import Batches
    from kzoo.data.interleaving import Alternating

    stage, seed = recipe.stages[index], recipe.stage_seed(index)
    sampling, per_epoch = stage.data.sampling, stage.budget.steps_per_epoch
    options: dict[str, Any] = {"sampling": sampling, "drop_remainder": True, "draw_ahead": draw_ahead}
    options["last"] = stage.budget.epochs  # Keras takes a batch before the first epoch, and begins the next
    options["bucketed"] = False if sampling == "mixed" else None  # mixed batches mostly hold a long row
    hints = list(model.hints)
    steps = None if per_epoch is None else -(-per_epoch // (1 + len(hints)))
    found: list[Batches] = []
    for name in [recipe.task, *hints]:
        examples = training_examples(stage, seed, get_task(name), steps)
        is_hint = bool(found)  # the task comes first
        preprocessor = model.hint_preprocessor(name) if is_hint else _preprocessor(recipe, stage, model, seed, examples)
        found.append(Batches(examples, preprocessor, stage.data.batch_size, seed, steps=steps, **options))
    return Alternating(found, per_epoch) if hints else found[0]


def _preprocessor(recipe: Recipe, stage: Stage, model: Any, seed: int, examples: Any) -> Any:
    """Returns what turns the examples of the task into arrays, with all that training is to learn from them."""
    from kzoo.models.sequence_tagger import SequenceTagger
    from kzoo.preprocessing.intermediate_preprocessor import IntermediatePreprocessor
    from kzoo.preprocessing.rows_preprocessor import RowsPreprocessor
    from kzoo.preprocessing.supervised_attention import SupervisedAttention

    objective = stage.objective
    if objective.intermediate and isinstance(model, SequenceTagger):
        return RowsPreprocessor(model.preprocessor, get_task(recipe.task), model.reader)
    if objective.intermediate or objective.hold > 1:
        without, task = not objective.intermediate, get_task(recipe.task)
        return IntermediatePreprocessor(model.preprocessor, task, objective.hold, without, model.causal)
    told = stage.objective.attention_supervision
    if isinstance(told, LearnedAlignment):
        from kzoo.preprocessing.learned_attention import LearnedAttention

        return LearnedAttention(model.preprocessor, told.align(examples, seed), told.weight)
    if told:
        return SupervisedAttention(model.preprocessor, get_task(recipe.task), told)
    return model.preprocessor


def training_examples(stage: Stage, seed: int, task: Task, steps: int | None) -> Any:
    """Returns the training examples of a stage, or what draws those of an epoch."""
    if not stage.data.fresh:
        examples = task.examples(stage.data.split, stage.data.examples)
        return exchange_words(examples, seed) if stage.data.exchange_words else examples
    return Drawn(stage, seed, task, stage.data.batch_size * (steps or 1))


@dataclass(frozen=True)
class Drawn:
    """The fresh examples of each epoch of a stage: `drawn(epoch)`.

    Args:
        stage: Stage.
        seed: int. Of the stage.
        task: Task.
        size: int. Examples of an epoch.
    """

    stage: Stage
    seed: int
    task: Task
    size: int

    def __call__(self, epoch: int) -> list[Example]:
        data, epochs, size = self.stage.data, self.stage.budget.epochs, self.size
        balanced, own = data.sampling == "balanced", (self.seed + 1) * FRESH + epoch
        # Keras begins an epoch more than it trains: see `training_batches`.
        part = min(epoch, epochs - 1) * len(data.curriculum) // epochs
        longest = data.curriculum[part] if data.curriculum else None
        if data.per_length:
            return self.of_each_length(longest, own)
        if longest is None:
            return self.task.examples(data.split, size, own)
        for factor in (1, 4, 16, FACTOR):  # as many as it takes; each draw begins as the one before
            drawn = self.task.examples(data.split, factor * size, own)
            short = [row for row in drawn if len(parts(row.source)[0]) <= longest]
            if len(short) >= size:
                # Of a split that is a list the shallow come first: any of them, not the first ones.
                chosen = np.random.default_rng(own).choice(len(short), size, replace=False)
                return [short[i] for i in chosen]
            if balanced and len(short) >= data.batch_size:
                break
            # Draws do not repeat: where many have few that are short, the largest has not enough either.
            if len(drawn) >= TELLING and 2 * len(short) * FACTOR < size * factor:
                break
        if balanced and short:
            return short  # some of which it repeats
        raise InputError(f"{data.split} of {self.task.name} has too few sources of at most {longest} tokens")

    def of_each_length(self, longest: int | None, seed: int) -> list[Example]:
        """Returns examples of each of the split's lengths up to the longest, as many of each."""
        split = self.stage.data.split
        low, high = self.task.splits[split].lengths
        lengths = range(low, min(high, longest or high) + 1)
        if not lengths:
            raise InputError(f"{split} of {self.task.name} has no sources of at most {longest} {self.task.length_unit}")
        each = -(-self.size // len(lengths))
        return [example for length in lengths for example in self.task.examples(split, each, seed, length)]
