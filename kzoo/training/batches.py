"""The examples of a recipe, in batches."""

from typing import Any

import numpy as np

from kzoo.errors import InputError
from kzoo.tasks import Example, Task
from kzoo.tasks import get as get_task
from kzoo.tasks.hinting import parts
from kzoo.training.recipe import Recipe

FRESH = 10**6  # so far apart are the seeds of two runs' fresh examples; the seed of all other examples is 0


def training_batches(recipe: Recipe, model: Any) -> Any:
    """Returns the batches of the task, or where the model has hints, those of the task and its hints in turn."""
    from kzoo.data.batches import Batches
    from kzoo.data.interleaving import Alternating

    options: dict[str, Any] = {"lengths": recipe.lengths, "drop_remainder": True}
    options["bucketed"] = False if recipe.lengths == "mixed" else None  # mixed batches mostly hold a long row
    hints = getattr(model, "hints", [])
    preprocessors = [_preprocessor(recipe, model), *(model.hint_preprocessor(hint) for hint in hints)]
    steps = None if recipe.steps_per_epoch is None else -(-recipe.steps_per_epoch // len(preprocessors))
    found = []
    for name, preprocessor in zip([recipe.task, *hints], preprocessors, strict=True):
        examples = training_examples(recipe, get_task(name), steps)
        found.append(Batches(examples, preprocessor, recipe.batch_size, recipe.seed, steps=steps, **options))
    return Alternating(found, recipe.steps_per_epoch) if hints else found[0]


def _preprocessor(recipe: Recipe, model: Any) -> Any:
    """Returns what turns the examples of the task into arrays, with all that training is to learn from them."""
    from kzoo.preprocessing.intermediate_preprocessor import IntermediatePreprocessor
    from kzoo.preprocessing.supervised_attention import SupervisedAttention

    if recipe.intermediate:
        return IntermediatePreprocessor(model.preprocessor, get_task(recipe.task))
    if recipe.attention_supervision:
        return SupervisedAttention(model.preprocessor, get_task(recipe.task), recipe.attention_supervision)
    return model.preprocessor


def training_examples(recipe: Recipe, task: Task, steps: int | None) -> Any:
    """Returns the training examples, or the function of the epoch that draws them."""
    if not recipe.fresh:
        return task.examples(recipe.split, recipe.examples)
    size = recipe.batch_size * (steps or 1)

    def draw(epoch: int) -> list[Example]:
        seed = (recipe.seed + 1) * FRESH + epoch
        if not recipe.curriculum:
            return task.examples(recipe.split, size, seed)
        # After the last epoch the batches are put in order once more.
        stage = min(epoch, recipe.epochs - 1) * len(recipe.curriculum) // recipe.epochs
        longest = recipe.curriculum[stage]
        for often in (1, 4, 16, 64):  # as many as it takes; each draw begins as the one before
            drawn = task.examples(recipe.split, often * size, seed)
            short = [row for row in drawn if len(parts(row.source)[0]) <= longest]
            if len(short) >= size:
                # Of a split that is a list the shallow come first: any of them, not the first ones.
                chosen = np.random.default_rng(seed).choice(len(short), size, replace=False)
                return [short[i] for i in chosen]
        raise InputError(f"{recipe.split} of {task.name} has too few sources of at most {longest} tokens")

    return draw
