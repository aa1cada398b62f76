"""Examples to arrays for a model that answers a sequence with one label."""

from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np

from kzoo import checks
from kzoo.annotations import Arrays, Config, Text, TokenIds
from kzoo.errors import InputError, did_you_mean
from kzoo.preprocessing.padding import bucket
from kzoo.preprocessing.preprocessor import Preprocessor
from kzoo.tasks import ClassificationTask, Task


class ClassifierPreprocessor(Preprocessor):
    """Turns sources and their labels into the `(x, y, sample_weight)` of a classifier.

    Args:
        tokens: iterable of str. The vocabulary, see `Tokenizer`.
        labels: iterable of str. The labels, in order; label k is class k.
        boundaries: bool. Whether start and end symbols stand around each source. Defaults to True.
        characters: bool. Whether a text is read character by character, without spaces. Defaults to False.
        last_answers: bool. Whether targets are sequences, and the last token of each is its label. Defaults to False.

    Example:

    ```python
    preprocessor = kzoo.ClassifierPreprocessor("0123456789+", "0123456789", characters=True)
    x, y, weight = preprocessor([("4+7", "1"), ("2", "2")])
    assert x["token_ids"].tolist() == [[11, 4, 10, 7, 12], [11, 2, 12, 13, 13]]
    assert x["padding_mask"].sum() == 8 and y.tolist() == [[1], [2]] and weight.tolist() == [[1], [1]]
    ```
    """

    arguments = ("labels", "boundaries", "characters", "last_answers")

    def __init__(
        self,
        tokens: Iterable[str],
        labels: Iterable[str],
        boundaries: bool = True,
        characters: bool = False,
        last_answers: bool = False,
    ) -> None:
        super().__init__(tokens, characters)
        self.labels = list(labels)
        if len(set(self.labels)) != len(self.labels) or not all(isinstance(label, str) for label in self.labels):
            raise InputError("labels are different strings")
        self.boundaries = checks.boolean("boundaries", boundaries)
        self.last_answers = checks.boolean("last_answers", last_answers)

    @classmethod
    def from_task(cls, task: Task, boundaries: bool = True) -> Self:
        """Returns the preprocessor of a task.

        Raises:
            InputError: the targets of the task are no labels.
        """
        if task.last_answers:
            return cls(task.vocabulary, task.vocabulary, boundaries, task.characters, last_answers=True)
        if not isinstance(task, ClassificationTask):
            raise InputError(f"a classifier answers with one label, and the targets of {task.name} are sequences")
        return cls(task.vocabulary, task.labels, boundaries, task.characters)

    def closed(self, ids: list[int]) -> list[int]:
        return [self.tokenizer.start_id, *ids, self.tokenizer.end_id] if self.boundaries else ids

    def encode_target(self, target: Text) -> list[int]:
        """Returns the class of a label, alone in a list.

        Raises:
            InputError: it is no label, or more than one.
        """
        words = target.split() if isinstance(target, str) else list(target)
        words = words[-1:] if self.last_answers else words
        if len(words) != 1 or words[0] not in self.labels:
            raise InputError(did_you_mean("label", " ".join(words), self.labels))
        return [self.labels.index(words[0])]

    def shape(self, source: int, target: int) -> tuple[int, int]:
        """Returns what to pad to where the longest source has this length."""
        return bucket(source), 1

    def arrays(
        self, sources: Sequence[TokenIds], targets: Sequence[TokenIds], pad_to: tuple[int, int] | None = None
    ) -> Arrays:
        """Returns `(x, y, sample_weight)` of encoded sources and targets.

        Args:
            sources: sequence of id lists, from `encode_source`.
            targets: sequence of lists of one class, from `encode_target`.
            pad_to: (int, int). The length T, and a number that means nothing here. Defaults to the longest of the
                batch.

        Returns:
            `x`, see `sources`; `y`, the classes, int32 (B, 1); and the weight, 1.0 everywhere.
        """
        y = np.array(targets, "int32")
        return self.sources(sources, pad_to and pad_to[0]), y, np.ones(y.shape, "float32")

    def get_config(self) -> Config:
        config = super().get_config()
        if not self.last_answers:
            del config["last_answers"]  # presets from before it say the same
        return config

    def text_rule(self) -> Config:
        return {**super().text_rule(), "labels": self.labels}
