"""The recipe of a training on a file of pairs, where nobody wrote one."""

from kzoo.tasks import PairsFile
from kzoo.training.alignment.pairs import can_be_aligned
from kzoo.training.learned_alignment import LearnedAlignment
from kzoo.training.recipe import Recipe
from kzoo.training.stages import Budget, Objective, Optimizer, Stage

STEPS = 2_500  # as the recipes of the papers' tables: 8 epochs of 10,000 examples
EPOCHS = (8, 500)  # at least and at most
BATCH = 32


def pairs_recipe(task: PairsFile) -> Recipe:
    """Returns a recipe for the pairs in a file.

    A `RecurrentSeq2Seq` is trained for about 2,500 steps on the shorter pairs; the weights of the epoch with the best
    accuracy on the validation split are kept. It has waypoint attention, supervised by an alignment that is learned
    from the same pairs: see `kzoo.align`. Where they are too long for that, or have too many different tokens, it has
    OneStep attention without supervision, as in the papers' tables.
    """
    learned = can_be_aligned(task.rows("train"))
    mechanism = "waypoint" if learned else "onestep"
    objective = Objective(attention_supervision=LearnedAlignment()) if learned else Objective()
    rate = 2e-3 if learned else 1e-3
    per_epoch = max(1, task.splits["train"].size // BATCH)
    low, high = EPOCHS
    epochs = min(high, max(low, -(-STEPS // per_epoch)))
    return Recipe(
        task=task.name,
        task_version=task.version,
        model={"class": "RecurrentSeq2Seq", "config": {"attention": mechanism}},
        stages=(
            Stage(Budget(epochs), objective=objective, optimizer=Optimizer(rate, schedule="cosine", warmup_steps=100)),
        ),
        mechanism=mechanism,
        supervision=(),
    )
