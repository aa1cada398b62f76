"""The recipe of a training on a file of pairs, where nobody wrote one."""

from kzoo.tasks import PairsFile
from kzoo.training.recipe import Recipe
from kzoo.training.stages import Budget, Optimizer, Stage

MECHANISM = "onestep"
STEPS = 2_500  # as the recipes of the papers' tables: 8 epochs of 10,000 examples
EPOCHS = (8, 500)  # at least and at most
BATCH = 32


def pairs_recipe(task: PairsFile) -> Recipe:
    """Returns a recipe for the pairs in a file: the one that the papers' tables of recurrent models are made with.

    A `RecurrentSeq2Seq` with OneStep attention is trained for about 2,500 steps on the shorter pairs; the weights of
    the epoch with the best accuracy on the validation split are kept.
    """
    per_epoch = max(1, task.splits["train"].size // BATCH)
    low, high = EPOCHS
    epochs = min(high, max(low, -(-STEPS // per_epoch)))
    return Recipe(
        task=task.name,
        task_version=task.version,
        model={"class": "RecurrentSeq2Seq", "config": {"attention": MECHANISM}},
        stages=(Stage(Budget(epochs), optimizer=Optimizer(schedule="cosine", warmup_steps=100)),),
        mechanism=MECHANISM,
        supervision=(),
    )
