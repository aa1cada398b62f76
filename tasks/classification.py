"""What the tasks with one answer a sequence have in common."""

import zlib
from collections import Counter

from kzoo.tasks.base import Task, Tokens

CSORDAS = "Csordas et al., 2022 (arXiv:2110.07732)"


class ClassificationTask(Task):
    """Base of the tasks whose target is one token: a label.

    Beside what every task declares, it has

    - `labels`: tuple of str, the tokens that a target can be, in their order.
    """

    labels: Tokens

    def majority_label(self) -> str:
        """Returns the label that is the most frequent in the training split, or its first 5,000 examples."""
        size = min(5_000, self.splits["train"].size)
        counts = Counter(example.target[0] for example in self.examples("train", size))
        return max(counts, key=lambda label: (counts[label], label))


def held_out(source: Tokens, share: int = 8) -> bool:
    """Returns whether a source is one of the 1 in `share` that training never sees, by its checksum."""
    return zlib.crc32(" ".join(source).encode()) % share == 0


def published(**shares: float) -> dict[str, dict[int | None, float]]:
    """Returns accuracies by mechanism, all of the test split as a whole, in the form of `Task.paper_accuracy`."""
    return {mechanism: {None: share} for mechanism, share in shares.items()}
