"""Examples to arrays for a model whose attention is supervised by a learned alignment."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kzoo.annotations import Arrays
from kzoo.errors import InputError
from kzoo.losses import SHARPNESS
from kzoo.preprocessing.seq2seq_preprocessor import Seq2SeqPreprocessor

if TYPE_CHECKING:
    from kzoo.data.alignment import Alignment

NEVER = -1e4  # the logarithm of a chance that is 0
LEAST = 0.01  # less likely positions are left out, so that the loss of a distant look stays that of its distance


class LearnedAttention:
    """Turns aligned pairs into the `(x, y, sample_weight)` of training that also says where to look.

    As `SupervisedAttention`, with the posteriors of an alignment for gold attention: the loss of a step is

        -log sum_j a_j sum_l q_l exp(-3 |j - l|)

    where a is the attention and q the posterior. Where the posterior is sure of a position, it is the loss of
    `SupervisedAttention`; where it is not, any of its positions will do. Nothing is told of end symbols.

    Args:
        preprocessor: Seq2SeqPreprocessor, of the model.
        alignment: Alignment, of the pairs that are encoded.
        weight: float. What that loss is multiplied by. Defaults to 1.

    Raises:
        InputError: while encoding, a pair is none of the alignment's.

    Example:

    ```python
    from kzoo.data.batches import Batches
    from kzoo.preprocessing.learned_attention import LearnedAttention

    task = kzoo.tasks.get("reverse_copy")
    examples = task.examples("train", 500)
    model = kzoo.models.RecurrentSeq2Seq.from_task(task, embedding_units=8, encoder_units=8)
    data = Batches(examples[:1], LearnedAttention(model.preprocessor, kzoo.align(examples)))
    x, y, weight = data[0]
    # The start vector stands at 0, so the last of five source tokens at 5.
    assert x["gold_logs"][0, :5].argmax(axis=1).tolist() == [5, 4, 3, 2, 1]
    model.fit(data, verbose=0)
    ```
    """

    def __init__(self, preprocessor: Seq2SeqPreprocessor, alignment: "Alignment", weight: float = 1.0) -> None:
        self.preprocessor, self.weight = preprocessor, weight
        self.posteriors = dict(zip(map(_key, alignment.pairs), alignment.posteriors, strict=True))

    def encode(
        self, source: str | Sequence[str], target: str | Sequence[str]
    ) -> tuple[list[int], list[tuple[int, np.ndarray | None]]]:
        """Returns the ids of a source, and pairs (id, posterior) of its target; None at the end symbol."""
        ids, wanted = self.preprocessor.encode(source, target)
        rows = self.posteriors.get(_key((source, target)))
        if rows is None:
            raise InputError(f"the alignment has no pair {source!r:.60}, {target!r:.60}")
        found: list[np.ndarray | None] = [*rows, *[None] * (len(wanted) - len(rows))]
        return ids, list(zip(wanted, found, strict=True))

    def shape(self, source: int, target: int) -> tuple[int, int]:
        """Returns what to pad to where the longest source and target have these lengths."""
        return self.preprocessor.shape(source, target)

    def arrays(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[tuple[int, np.ndarray | None]]],
        pad_to: tuple[int, int] | None = None,
    ) -> Arrays:
        """Returns `(x, y, sample_weight)` of encoded sources and targets.

        Returns:
            As of the preprocessor; `x` also has `gold_logs`, float32 (B, T, S + 2), log sum_l q_l exp(-3 |j - l|) for
            each column j of the memory, and `gold_weight`, float32 (B, T), 0 at end symbols and padding.
        """
        x, y, weight = self.preprocessor.arrays(sources, [[token for token, _ in row] for row in targets], pad_to)
        logs = np.full((*y.shape, x["encoder_token_ids"].shape[1] + 2), NEVER, "float32")
        told = np.zeros(y.shape, "float32")
        for row, pairs in enumerate(targets):
            rows = np.array([posterior for _, posterior in pairs if posterior is not None])
            # Position 0 of the source is column 1; the last column of a posterior is the end of the source.
            own = logs[row, : len(rows), 1 : rows.shape[1] + 1]
            np.log(rows, out=own, where=rows >= LEAST)
            told[row, : len(rows)] = self.weight
        return {**x, "gold_logs": _spread(logs), "gold_weight": told}, y, weight


def _spread(logs: np.ndarray) -> np.ndarray:
    """Returns log sum_l exp(logs_l - 3 |j - l|) for each column j of the last axis."""
    left, right = logs.copy(), logs.copy()
    for j in range(1, logs.shape[2]):
        left[:, :, j] = np.logaddexp(left[:, :, j], left[:, :, j - 1] - SHARPNESS)
        right[:, :, -1 - j] = np.logaddexp(right[:, :, -1 - j], right[:, :, -j] - SHARPNESS)
    left[:, :, :-1] = np.logaddexp(left[:, :, :-1], right[:, :, 1:] - SHARPNESS)
    return left


def _key(pair: Sequence[str | Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(side.split() if isinstance(side, str) else side) for side in pair)
