"""Examples to arrays for a classifier that learns intermediate results too."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kzoo.annotations import Arrays
from kzoo.preprocessing.classifier_preprocessor import ClassifierPreprocessor
from kzoo.preprocessing.padding import bucket, pad
from kzoo.tasks import Task


class IntermediatePreprocessor:
    """Turns sources and their labels into the `(x, y, sample_weight)` of training on every operation's result.

    A model that is to answer with the value of a whole expression gets little from a deep one before it knows the
    operations within. Here each of them has a target, at the tokens that the task says, in the same forward pass; what
    the model answers with afterwards, and how, does not change. With `hold` they are read after several steps, the
    last ones, so that a result has to stay. No paper of the zoo trains so.

    Args:
        preprocessor: ClassifierPreprocessor, of the model.
        task: Task, one with intermediate results.
        hold: int. How many of the last steps are read. Defaults to 1.
        answer_only: bool. Whether intermediate results are left out. Defaults to False.
        causal: bool. Whether only those are targets that follow from the tokens up to theirs, see
            `Task.causal_results`. Defaults to False.

    Raises:
        InputError: while encoding, the task has no intermediate results.

    Example:

    ```python
    from kzoo.data.batches import Batches
    from kzoo.preprocessing.intermediate_preprocessor import IntermediatePreprocessor

    task = kzoo.tasks.get("arithmetic")
    model = kzoo.models.TransformerClassifier.from_task(task, units=8, steps=3)
    data = Batches([("((4*7)+2)", "0")], IntermediatePreprocessor(model.preprocessor, task))
    x, y, weight = data[0]
    assert y[0, :3].tolist() == [0, 8, 0] and x["columns"][0, :2].tolist() == [6, 9]  # all of it, 4*7, all of it
    model.fit(data, verbose=0)
    ```
    """

    def __init__(
        self,
        preprocessor: ClassifierPreprocessor,
        task: Task,
        hold: int = 1,
        answer_only: bool = False,
        causal: bool = False,
    ) -> None:
        self.preprocessor, self.task, self.hold, self.answer_only = preprocessor, task, hold, answer_only
        self.results = task.causal_results if causal else task.intermediate

    def encode(
        self, source: str | Sequence[str], target: str | Sequence[str]
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Returns the ids of a source, and pairs (column, class): its answer, for which the column is 0, and those
        within.
        """
        ids, (answer,) = self.preprocessor.encode(source, target)
        if self.answer_only:
            return ids, [(0, answer)]
        first = int(self.preprocessor.boundaries)
        tokens = tuple(self.preprocessor.tokenizer.tokens[k] for k in ids[first : len(ids) - first])
        within = self.results(tokens)
        return ids, [(0, answer), *((first + index, self.preprocessor.encode_target([x])[0]) for index, x in within)]

    def shape(self, source: int, target: int) -> tuple[int, int]:
        """Returns what to pad to where the longest source and the most targets are these."""
        return bucket(source), bucket(target)

    def arrays(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[tuple[int, int]]],
        pad_to: tuple[int, int] | None = None,
    ) -> Arrays:
        """Returns `(x, y, sample_weight)` of encoded sources and targets.

        Returns:
            `x`, as of the preprocessor, with `columns` int32 (B, K); `y`, the classes, int32 (B, 1 + K); and the
            weight, float32 (B, 1 + K), 0 where a source has fewer operations. With `hold` H of more than 1, `x` also
            has `steps_before_last` int32 (B, H), and both others are of shape (B, H, 1 + K).
        """
        length, number = pad_to or (None, None)
        columns, y = (pad([[pair[k] for pair in row] for row in targets], 0, number) for k in (0, 1))
        real = np.arange(y.shape[1]) < np.array([[len(row)] for row in targets])
        x: dict[str, Any] = self.preprocessor.sources(sources, length)
        x["columns"], weight = columns[:, 1:], real.astype("float32")
        if self.hold == 1:
            return x, y, weight
        x["steps_before_last"] = np.tile(np.arange(self.hold, dtype="int32"), (len(sources), 1))
        y, weight = (np.repeat(array[:, None], self.hold, axis=1) for array in (y, weight))
        return x, y, weight
