"""Beam trees over chunks of a sequence, and over the results of the chunks."""

from typing import Any

from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Tensor
from kzoo.layers.recurrent.beam_tree_reader import NEVER, BeamTreeReader
from kzoo.registry import alias, register


@register("reader")
class RecursionInRecursionReader(BeamTreeReader):
    """Reads a sequence in chunks, each by beam trees, and the vectors of the chunks in chunks again.

    Recursion in recursion, RIR-EBT-GRC of [Ray Chowdhury and Caragea, 2023](https://arxiv.org/abs/2311.04449): an outer
    balanced tree of K children a node, whose nodes are the trees of a `BeamTreeReader` over their children. The j-th
    beam of a node begins with the j-th beams of all of its children, and with the sum of their scores. So there are
    about K log_K T steps in place of T.

    Args:
        units: int. Size of a vector, 1 to 8,192. Defaults to 128.
        chunk: int. K, 2 to 65,536. Defaults to 30.
        levels: int. Depth of the outer tree, 1 to 16; the last level is one chunk, of all that is left. 1 is a
            `BeamTreeReader`. Defaults to 3.
        beams: int. Of each node, 1 to 64. Defaults to 5.
        score_units: int or None. As in `BeamTreeReader`.
        dropout: float. Rate in the cell while training. Defaults to 0.
        dtype: str or DTypePolicy. As of every Keras layer; it is float32 under any.

    Call arguments:
        sequence: tensor of shape (B, T, E).
        mask: bool tensor of shape (B, T), True at real tokens; every row has at least one.
        training: bool. As in `BeamTreeReader`.

    Returns:
        Tensor of shape (B, units).

    Raises:
        InputError: an argument is out of range.

    Example:

    ```python
    reader = kzoo.layers.RecursionInRecursionReader(6, chunk=3, beams=2)
    assert reader(np.ones((2, 8, 3), "float32"), np.ones((2, 8), bool)).shape == (2, 6)
    ```

    Differences: in the authors' code the beams of a chunk are drawn anew by their scores, in training and at test, so
    that an answer varies; here they keep their ranks. There the longest sequence of a batch is cut from one and a half
    chunks on, here each from one chunk on, so that padding changes nothing. A layer before it (theirs is an S4D) is the
    caller's. `BeamTreeReader` names those of the beam search.
    """

    def __init__(
        self,
        units: int = 128,
        chunk: int = 30,
        levels: int = 3,
        beams: int = 5,
        score_units: int | None = None,
        dropout: float = 0.0,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(units, beams, score_units, dropout, dtype, **kwargs)
        self.chunk = checks.integer("chunk", chunk, 2, 65_536)
        self.levels = checks.integer("levels", levels, 1, 16)

    def trees(self, vectors: Tensor, mask: Tensor, training: bool, kept: Tensor | None) -> tuple[Tensor, Tensor]:
        known, mask = None, ops.cast(mask, "int32")
        for _ in range(self.levels - 1):
            if isinstance(vectors.shape[2], int) and vectors.shape[2] == 1:
                break  # in an export the length is no number: there the other levels change nothing
            count = (ops.shape(mask)[1] + self.chunk - 1) // self.chunk
            vectors, chunk_mask = (self.cut(x, axis, count) for x, axis in ((vectors, 2), (mask, 1)))
            scores = self.one_beam(vectors) if known is None else ops.sum(self.cut(known, 2, count), axis=-1)
            repeated = None if kept is None else ops.repeat(kept, count, axis=0)
            vectors, scores = self.search(vectors, scores, chunk_mask, training, repeated)
            vectors, scores = self.copied(vectors, scores)
            # (B chunks, k, ...) to (B, k, chunks, ...)
            vectors, known = (
                ops.swapaxes(ops.reshape(x, (-1, count, *ops.shape(x)[1:])), 1, 2) for x in (vectors, scores)
            )
            mask = ops.max(ops.reshape(chunk_mask, (-1, count, self.chunk)), axis=-1)
            known = ops.where(mask[:, None] > 0, known, 0.0)
        scores = self.one_beam(vectors) if known is None else ops.sum(known, axis=-1)
        return self.search(vectors, scores, mask, training, kept)

    def cut(self, x: Tensor, axis: int, count: int) -> Tensor:
        """Returns so many chunks of a tensor (B, ..., T, ...) along an axis, padded: (B count, ..., K, ...)."""
        x = ops.moveaxis(x, axis, 1)
        x = ops.pad(x, [(0, (self.chunk - 1) * (i == 1)) for i in range(x.ndim)])[:, : count * self.chunk]
        return ops.moveaxis(ops.reshape(x, (-1, self.chunk, *ops.shape(x)[2:])), 1, axis)

    def copied(self, vectors: Tensor, scores: Tensor) -> tuple[Tensor, Tensor]:
        """Returns beams, of which those that are not there, as there are fewer trees, are copies of the first."""
        there = scores > NEVER / 2
        return ops.where(there[..., None], vectors, vectors[:, :1]), ops.where(there, scores, scores[:, :1])

    def get_config(self) -> Config:
        return {**super().get_config(), "chunk": self.chunk, "levels": self.levels}


alias("reader", "rir", "RecursionInRecursionReader")
