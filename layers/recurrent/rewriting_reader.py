"""A row of symbols that is rewritten, step by step, by another reader."""

from typing import Any

from keras import initializers, ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Spec, Tensor
from kzoo.errors import InputError
from kzoo.layers.functional.dense import dense
from kzoo.layers.functional.scan import scan
from kzoo.layers.recurrent.reader import Reader
from kzoo.registry import alias, get, register, serialize


@register("reader")
class RewritingReader(Reader):
    """Reads a sequence by writing a row of symbols under it, again and again, each from the row before.

    With e the embeddings of the tokens, R another reader, K values, V their vectors and n tokens:

        u_t = R.states(e + V[r_t]),   z_t = W u_t + b,   r_(t+1) = argmax z_t,   r_0 = K - 1 everywhere

    and the states are u_t of the last of n + `more` steps. Between two steps there is nothing but the row, one of K
    values for each token, so what is a little wrong is right again in the next row, and a step that is learned exactly
    may be made as often as one likes: a sequence of any length has as many steps as an algorithm needs for it.

    Each step is trained by itself, from the right row before: on the rows that an algorithm writes
    (`Task.execution_trace`), all rows of an example at once, see `RowsPreprocessor`. Through `argmax` no gradient
    flows, so without these rows only the last step learns.

    A mechanism of our own. Discrete states that are trained on each step of an algorithm, by the right state before it,
    are from [Rodionov and Prokhorenkova, 2024](https://arxiv.org/abs/2402.11628), on graphs and with hard attention.

    Args:
        reader: name, config or object of the kind "reader", a `Reader`: what makes a step. It has to see the whole row
            from every token. Defaults to "bidirectional_lstm".
        values: int. K, how many symbols there are, 2 to 65,536. Of a `SequenceTagger` the first are its answers, then
            come the `row_symbols` of the task; the last is that of the first row. Defaults to 16.
        more: int. How many steps more than tokens are made, 1 to 10,000. Defaults to 2.
        units: int. Of the reader, where it does not say itself. Defaults to its own.
        layers: int. Likewise, of a reader that has layers.
        dtype: str or DTypePolicy. As of every Keras layer; scores are float32 under any.

    Call arguments:
        sequence: tensor of shape (B, T, E).
        mask: bool tensor of shape (B, T), True at real tokens; every row has at least one.
        training: bool.

    Returns:
        Tensor of shape (B, D), the state of the last token, with D the size of the reader's states.

    Raises:
        InputError: an argument is out of range, or the reader is unknown, no `Reader`, or goes backwards.

    Example:

    ```python
    reader = kzoo.layers.RewritingReader(units=6, values=4)
    sequence, mask = np.ones((2, 5, 3), "float32"), np.ones((2, 5), bool)
    assert reader(sequence, mask).shape == (2, 12) and reader.rows(sequence, mask).shape == (7, 2, 5)
    ```
    """

    def __init__(
        self,
        reader: Spec = "bidirectional_lstm",
        values: int = 16,
        more: int = 2,
        units: int | None = None,
        layers: int | None = None,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.reader: Any = get("reader", reader, {"units": units, "layers": layers}, dtype=self.dtype_policy)
        if not isinstance(self.reader, Reader) or self.reader.go_backwards:
            raise InputError("a row is rewritten by a Reader whose states are in the order of the tokens")
        self.values = checks.integer("values", values, 2, 65_536)
        self.more = checks.integer("more", more, 1, 10_000)

    @property
    def units(self) -> int:  # type: ignore[override]
        """int. Size of the states."""
        return int(self.reader.compute_output_shape((None, None, 1))[-1])

    def build(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> None:
        size, normal = sequence_shape[-1], initializers.RandomNormal(stddev=1.0)
        self.vectors = self.add_weight(shape=(self.values, size), initializer=normal, name="vectors")
        self.reader.build((None, None, size))
        self.classes = dense(self.values, self.units, self.units**-0.5, dtype="float32")
        self.classes.build((None, None, self.units))
        self.built = True

    def states(self, sequence: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        row, _ = self._rewritten(sequence, mask, self.more - 1)
        return self._step(sequence, mask, row, training)

    def rows(self, sequence: Tensor, mask: Tensor) -> Tensor:
        """Returns the rows that are written, int32 of shape (T + more, B, T). A shorter sequence has its last row
        several times; at pads they may be anything.
        """
        return self._rewritten(sequence, mask, self.more)[1]

    def next_scores(self, sequence: Tensor, mask: Tensor, rows: Tensor, training: bool = False) -> Tensor:
        """Returns the scores z of the row after each of `rows`, float32 of shape (B, S, T, values).

        Args:
            sequence: tensor of shape (B, T, E).
            mask: bool tensor of shape (B, T).
            rows: int tensor of shape (B, S, T).
            training: bool.
        """
        number, columns = ops.shape(rows)[1:]
        repeated, masks = ops.repeat(sequence, number, axis=0), ops.repeat(mask, number, axis=0)
        states = self._step(repeated, masks, ops.reshape(rows, (-1, columns)), training)
        return ops.reshape(self.scores(states), (-1, number, columns, self.values))

    def scores(self, states: Tensor) -> Tensor:
        """Returns float32 scores of the values, of states (..., D)."""
        return self.classes(states)

    def _rewritten(self, sequence: Tensor, mask: Tensor, more: int) -> tuple[Tensor, Tensor]:
        """Returns the row after so many steps more than each sequence has tokens, (B, T), and those of all steps."""
        steps = ops.sum(ops.cast(mask, "int32"), axis=1)[:, None] + more  # of each sequence

        def step(row: Tensor, turn: Tensor) -> tuple[Tensor, Tensor]:
            row = ops.where(turn < steps, self._row(self._step(sequence, mask, row, False)), row)
            return row, row

        first = ops.full_like(ops.cast(mask, "int32"), self.values - 1)
        return scan(step, first, ops.arange(ops.shape(mask)[1] + more, dtype="int32"))

    def _step(self, sequence: Tensor, mask: Tensor, row: Tensor, training: bool) -> Tensor:
        """Returns u of a row (B, T)."""
        vectors = ops.cast(ops.take(self.vectors, row, axis=0), self.compute_dtype)
        return self.reader.states(ops.cast(sequence, self.compute_dtype) + vectors, mask, training=training)

    def _row(self, states: Tensor) -> Tensor:
        """Returns the next row, int32 (B, T), of u."""
        return ops.cast(ops.argmax(self.scores(states), axis=-1), "int32")

    def compute_output_shape(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> Shape:
        return (sequence_shape[0], self.units)

    def get_config(self) -> Config:
        return {**super().get_config(), "reader": serialize(self.reader), "values": self.values, "more": self.more}


alias("reader", "rewriting", "RewritingReader")
