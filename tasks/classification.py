"""What the tasks with one answer a sequence have in common."""

import zlib
from collections import Counter

from kzoo.errors import InputError
from kzoo.tasks.base import Task, Tokens

CSORDAS = "Csordas et al., 2022 (arXiv:2110.07732)"


class ClassificationTask(Task):
    """Base of the tasks whose target is one token: a label.

    Beside what every task declares, it has

    - `labels`: tuple of str, the tokens that a target can be, in their order.
    """

    labels: Tokens

    def majority_accuracy(
        self, split: str = "test", size: int | None = None, seed: int = 0, length: int | None = None
    ) -> float:
        """Returns the accuracy of always giving the label that is the most frequent in the training split.

        Args:
            split, size, seed, length: of the examples that are answered, as in `examples`.
        """
        counts = Counter(example.target for example in self.examples("train", min(20_000, self.splits["train"].size)))
        label = max(counts, key=lambda target: (counts[target], target))
        answered = self.examples(split, size, seed, length)
        if not answered:
            raise InputError("there are no examples to answer")
        return sum(example.target == label for example in answered) / len(answered)


def held_out(source: Tokens, share: int = 8) -> bool:
    """Returns whether a source is one of the 1 in `share` that training never sees, by its checksum."""
    return zlib.crc32(" ".join(source).encode()) % share == 0


def published(**shares: float) -> dict[str, dict[int | None, float]]:
    """Returns accuracies by mechanism, all of the test split as a whole, in the form of `Task.paper_accuracy`."""
    return {mechanism: {None: share} for mechanism, share in shares.items()}
