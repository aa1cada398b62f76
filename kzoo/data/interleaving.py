"""Batches of several tasks in turn, for one model with a head for each."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from kzoo.annotations import Arrays
from kzoo.data.batches import Batches
from kzoo.errors import InputError


class Alternating(keras.utils.PyDataset):
    """Batches of a task and its hints in turn: one step for the task, one for each hint, and again.

    Task hinting of [Awasthi and Gupta, 2023](https://arxiv.org/abs/2310.00726), section 3.1, as data: `model.fit` and
    its training step stay what they are, on every backend. Each batch says in `head` (B,) whose it is, 0 the task's, k
    the k-th hint's, and the model answers from that head; a head's weights get no gradient from others' batches.

    Args:
        batches: sequence of Batches, the task's and then those of its hints, in the order of the model's heads.
        steps: int or None. Batches an epoch. None takes as many of each as the first has.

    Raises:
        InputError: there are no batches.

    Example:

    ```python
    from kzoo.data.interleaving import Alternating
    from kzoo.data.batches import Batches

    model = kzoo.models.TransformerDecoder.from_task("sorter", units=8, hints=["sorted_successor"])
    tasks = [kzoo.tasks.get(name).examples(size=64) for name in ("sorter", "sorted_successor")]
    encoders = [model.preprocessor, model.hint_preprocessor("sorted_successor")]
    data = Alternating([Batches(rows, encoder, 32) for rows, encoder in zip(tasks, encoders)])
    model.fit(data, epochs=1, shuffle=False, verbose=0)
    assert len(data) == 4 and [int(data[i][0]["head"][0]) for i in range(4)] == [0, 1, 0, 1]
    ```
    """

    def __init__(self, batches: Sequence[Batches], steps: int | None = None) -> None:
        super().__init__()
        if not batches:
            raise InputError("there are no batches to alternate between")
        self.batches, self.steps = list(batches), steps
        self.batch_size = batches[0].batch_size

    @property
    def error(self) -> BaseException | None:
        """BaseException or None. Of drawing examples, the first."""
        return next((batches.error for batches in self.batches if batches.error), None)

    def begin(self, epoch: int) -> None:
        """Puts all batches into the order of an epoch."""
        for batches in self.batches:
            batches.begin(epoch)

    def __len__(self) -> int:
        return self.steps or len(self.batches) * len(self.batches[0])

    def __getitem__(self, index: int) -> Arrays:
        position, head = divmod(index, len(self.batches))
        own: Any = self.batches[head]
        x, y, weight = own[position % len(own)]
        return {**x, "head": np.full(len(y), head, "int32")}, y, weight

    def on_epoch_end(self) -> None:
        for batches in self.batches:
            batches.on_epoch_end()

    def close(self) -> None:
        """Ends the processes that draw ahead."""
        for batches in self.batches:
            batches.close()
