"""What the tasks with one answer a sequence have in common."""

import zlib
from collections import Counter
from collections.abc import Mapping

from kzoo.tasks.base import Task, Tokens
from kzoo.tasks.published import Published, percent

CSORDAS = "Csordas et al., 2022 (arXiv:2110.07732)"
DEEP_BUDGET = "100,000 batches of 512, 200,000 without a gate"


class ClassificationTask(Task):
    """Base of the tasks whose target is one token: a label.

    Beside what every task declares, it has

    - `labels`: tuple of str, the tokens that a target or an intermediate result can be, in their order.
    """

    labels: Tokens

    def majority_label(self) -> str:
        """Returns the label that is the most frequent in the training split, or its first 5,000 examples."""
        return most_frequent(self, 5_000)


def most_frequent(task: Task, size: int) -> str:
    """Returns the token that targets end with most often, among so many examples of a task's training split."""
    counts = Counter(example.target[-1] for example in task.examples("train", min(size, task.splits["train"].size)))
    return max(counts, key=lambda token: (counts[token], token))


def held_out(source: Tokens, share: int = 8) -> bool:
    """Returns whether a source is one of the 1 in `share` that training never sees, by its checksum."""
    return zlib.crc32(" ".join(source).encode()) % share == 0


def published_means(budget: str, not_comparable: Mapping[str, str] | None = None, **percents: float) -> Published:
    """Returns the numbers of Csordas et al., in percent: means of five runs on the test split as a whole."""
    accuracy = percent((None,), **{mechanism: (value,) for mechanism, value in percents.items()})
    return Published(accuracy, "mean", 5, not_comparable or {}, budget=budget)
