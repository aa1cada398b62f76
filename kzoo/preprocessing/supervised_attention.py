"""Examples to arrays for a model that is trained with attention supervision."""

from collections.abc import Sequence

from kzoo.annotations import Arrays
from kzoo.errors import InputError
from kzoo.preprocessing.padding import pad
from kzoo.preprocessing.seq2seq_preprocessor import Seq2SeqPreprocessor
from kzoo.tasks import Task


class SupervisedAttention:
    """Turns sources and targets into the `(x, y, sample_weight)` of training that also says where to look.

    A `RecurrentSeq2Seq` adds to its loss, from what is in `x`, how far its attention is from the task's gold attention,
    see `kzoo.losses.attention_loss`. Nothing changes in a trained model. Supervised attention is that of
    [Liu et al., 2016](https://arxiv.org/abs/1609.04186), there with other distances; no paper of the zoo trains so.

    Where to look for the end symbol is left to the model. Of a source that is read backward the gold attention has it
    at the other end, and a model that is to jump there learns when by counting, up to the trained lengths.

    Args:
        preprocessor: Seq2SeqPreprocessor, of the model.
        task: Task, one with gold attention.
        weight: float. What that loss is multiplied by. Defaults to 0.1.

    Raises:
        InputError: while encoding, the task has no gold attention.

    Example:

    ```python
    from kzoo.data.batches import Batches
    from kzoo.preprocessing.supervised_attention import SupervisedAttention

    task = kzoo.tasks.get("reverse_copy")
    model = kzoo.models.RecurrentSeq2Seq.from_task(task, embedding_units=8, encoder_units=8)
    data = Batches([("4 7 9", "9 7 4")], SupervisedAttention(model.preprocessor, task))
    x, y, weight = data[0]
    assert x["gold"][0, :4].tolist() == [3, 2, 1, 4]  # the start vector stands at 0, the end vector at 4
    model.fit(data, verbose=0)
    ```
    """

    def __init__(self, preprocessor: Seq2SeqPreprocessor, task: Task, weight: float = 0.1) -> None:
        self.preprocessor, self.task, self.weight = preprocessor, task, weight

    def encode(
        self, source: str | Sequence[str], target: str | Sequence[str]
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Returns the ids of a source, and pairs (id, position) of its target and its gold attention."""
        ids, wanted = self.preprocessor.encode(source, target)
        tokens = [self.preprocessor.tokenizer.tokens[k] for k in self.preprocessor.tokenizer.encode(source)]
        positions = self.task.gold_attention(tuple(tokens))
        if positions is None:
            raise InputError(f"{self.task.name} has no gold attention")
        return ids, [(token, position + 1) for token, position in zip(wanted, positions, strict=True)]

    def shape(self, source: int, target: int) -> tuple[int, int]:
        """Returns what to pad to where the longest source and target have these lengths."""
        return self.preprocessor.shape(source, target)

    def arrays(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[tuple[int, int]]],
        pad_to: tuple[int, int] | None = None,
    ) -> Arrays:
        """Returns `(x, y, sample_weight)` of encoded sources and targets.

        Returns:
            As of the preprocessor; `x` also has `gold`, int32 (B, T), the columns of the memory to look at, and
            `gold_weight`, float32 (B, T), 0 at end symbols and padding.
        """
        x, y, weight = self.preprocessor.arrays(sources, [[token for token, _ in row] for row in targets], pad_to)
        gold = pad([[position for _, position in row] for row in targets], 0, y.shape[1])
        told = weight * (y != self.preprocessor.tokenizer.end_id)
        return {**x, "gold": gold, "gold_weight": (self.weight * told).astype("float32")}, y, weight
