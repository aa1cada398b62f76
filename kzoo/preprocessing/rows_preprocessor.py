"""Examples to arrays for a tagger that learns each step of an algorithm."""

from collections.abc import Sequence

import numpy as np

from kzoo.annotations import Arrays, Text
from kzoo.errors import InputError
from kzoo.layers.recurrent.reader import Reader
from kzoo.layers.recurrent.rewriting_reader import RewritingReader
from kzoo.preprocessing.padding import bucket
from kzoo.preprocessing.tagger_preprocessor import TaggerPreprocessor
from kzoo.tasks import Task


class RowsPreprocessor:
    """Turns sources and targets into the `(x, y, sample_weight)` of training each step of a `RewritingReader`.

    The rows of an example are one with nothing in it; those of `Task.execution_trace`; and the target with end symbols
    in all columns behind it, twice: what is done stays. Each row is an input, and the one after it what is to be
    written. All rows of a batch are trained on in one pass. What the model answers with afterwards, and how, does not
    change.

    Args:
        preprocessor: TaggerPreprocessor, of the model; it writes targets into the first columns.
        task: Task, one with an execution trace.
        reader: Reader, of the model, a `RewritingReader`.

    Raises:
        InputError: the reader is another, or targets are written elsewhere; the task has no trace, or more
            symbols than the reader has values beside the answers.

    Example:

    ```python
    from kzoo.data.batches import Batches
    from kzoo.preprocessing.rows_preprocessor import RowsPreprocessor

    task = kzoo.tasks.get("compute_sqrt")
    reader = {"class": "RewritingReader", "config": {"reader": "bidirectional_lstm"}}
    model = kzoo.models.SequenceTagger.from_task(task, reader=reader, units=8)
    data = Batches([("1011", "11")], RowsPreprocessor(model.preprocessor, task, model.reader))
    x, y, weight = data[0]
    assert x["rows"].shape == y.shape == (1, 8, 8) and weight[0].sum() == 6 * 5  # six rows, of four bits and the end
    model.fit(data, verbose=0)
    ```
    """

    def __init__(self, preprocessor: TaggerPreprocessor, task: Task, reader: Reader) -> None:
        if not isinstance(reader, RewritingReader):
            raise InputError(f"rows are for a RewritingReader, not for a {type(reader).__name__}")
        if preprocessor.room is None or preprocessor.reversed_target:
            raise InputError("rows are for a model that writes targets into the first columns, in their order")
        if not task.row_symbols:
            raise InputError(f"{task.name} has no execution trace")
        least = preprocessor.answers + len(task.row_symbols) + 1
        if reader.values < least:
            raise InputError(f"for the rows of {task.name} a reader needs at least {least} values, not {reader.values}")
        self.preprocessor, self.task, self.first = preprocessor, task, reader.values - 1
        self.ids = {symbol: preprocessor.answers + k for k, symbol in enumerate(task.row_symbols)}

    def encode(self, source: Text, target: Text) -> tuple[list[int], list[list[int]]]:
        """Returns the ids of a source, and its rows, the first and the last included."""
        ids, answer = self.preprocessor.encode(source, target)
        written = self.task.execution_trace(tuple(self.preprocessor.tokens(source)))
        end, columns = self.preprocessor.tokenizer.end_id, len(ids)
        last = [*answer, *[end] * (columns - len(answer))]
        return ids, [[self.first] * columns, *([self.ids[s] for s in row] for row in written), last, last]

    def shape(self, source: int, target: int) -> tuple[int, int]:
        """Returns what to pad to where the longest source and the most rows are these."""
        return bucket(source), bucket(target - 1)

    def arrays(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[Sequence[int]]],
        pad_to: tuple[int, int] | None = None,
    ) -> Arrays:
        """Returns `(x, y, sample_weight)` of encoded sources and their rows.

        Returns:
            `x`, as of the preprocessor, with `rows` int32 (B, S, T); `y`, the rows after these, int32 (B, S, T); and
            the weight, float32 (B, S, T), 0 at pads.
        """
        length, number = pad_to or (None, max(map(len, targets)) - 1)
        x = self.preprocessor.sources(sources, length)
        shape = (len(sources), number, x["token_ids"].shape[1])
        x["rows"], y, weight = np.zeros(shape, "int32"), np.zeros(shape, "int32"), np.zeros(shape, "float32")
        for k, rows in enumerate(targets):
            here = (k, slice(len(rows) - 1), slice(len(rows[0])))
            x["rows"][here], y[here], weight[here] = rows[:-1], rows[1:], 1.0
        return x, y, weight
