"""Trees over a sequence that a beam search finds, as a reader of it."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, States, Tensor, Trace
from kzoo.layers.functional.check_mask import check_mask
from kzoo.layers.functional.dense import dense
from kzoo.layers.functional.scan import scan
from kzoo.layers.recurrent.gated_recursive_cell import GatedRecursiveCell
from kzoo.layers.recurrent.reader import Reader
from kzoo.layers.transformer.transformer_block import EPSILON
from kzoo.registry import alias, register

NEVER = -1e9  # the logarithm of the probability of what is not there


@register("reader")
class BeamTreeReader(Reader):
    """Composes two neighbours at a time until one vector is left, in the orders that a beam search finds best.

    Efficient beam tree recursion, EBT-GRC of [Ray Chowdhury and Caragea, 2023](https://arxiv.org/abs/2307.10779), after
    the beam trees of [2305.19999](https://arxiv.org/abs/2305.19999). Each of k beams has vectors v_1 .. v_n, at first
    those of the tokens, and a score, at first 0:

        v_i = LayerNorm(W x_i + b)
        p = softmax over i of scorer([v_i[:s]; v_(i+1)[:s]])
        the k best (beam, i) by score(beam) + ln p_i(beam) are the new beams, and that sum is their score
        v_i, v_(i+1) <- cell(v_i, v_(i+1)) in each

    After n - 1 steps each beam has one vector; the result is their mean, weighted by the softmax of the scores. Only by
    it is the scorer trained: the choice has no gradient. The scorer is a network of one hidden layer of s units with
    GELU, and sees the first s numbers of a vector alone, so that what decides about the tree does not depend on all
    that is computed along it.

    Args:
        units: int. Size of a vector, 1 to 8,192. Defaults to 128.
        beams: int. k, 1 to 64. Defaults to 5.
        score_units: int. s, 1 to 8,192, at most `units`. Defaults to 64, or to `units` if that is less.
        dropout: float. Rate in the cell while training. Defaults to 0.
        dtype: str or DTypePolicy. As of every Keras layer; it is float32 under any.

    Call arguments:
        sequence: tensor of shape (B, T, E).
        mask: bool tensor of shape (B, T), True at real tokens; every row has at least one.
        training: bool. If true, Gumbel noise on the sums that are compared draws the new beams at random, without
            replacement.

    Returns:
        Tensor of shape (B, units).

    Raises:
        InputError: an argument is out of range.

    Example:

    ```python
    reader = kzoo.layers.BeamTreeReader(6, beams=2)
    assert reader(np.ones((2, 5, 3), "float32"), np.ones((2, 5), bool)).shape == (2, 6)
    ```

    Differences: in the authors' code each beam first draws k of its pairs, and then k are drawn from all of these, with
    noise of its own; here they are drawn at once, which without noise is the same. There a pair beyond the end of a
    sequence has a probability of 1e-20, here of 0, and beams of sequences that have ended are drawn anew in training
    until the longest has, so that padding changes them. Dropout has one mask for all nodes of a tree.
    """

    def __init__(
        self,
        units: int = 128,
        beams: int = 5,
        score_units: int | None = None,
        dropout: float = 0.0,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(autocast=False, dtype=dtype, **kwargs)
        self.units = checks.integer("units", units, 1, 8192)
        self.beams = checks.integer("beams", beams, 1, 64)
        seen = min(units, 64) if score_units is None else score_units
        self.score_units = checks.integer("score_units", seen, 1, units)
        self.dropout = checks.number("dropout", dropout, 0.0, 0.99)
        self.seeds = keras.random.SeedGenerator()

    def build(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> None:
        size, seen, states = sequence_shape[-1], self.score_units, (None, None, self.units)
        self.leaves = dense(self.units, size, size**-0.5, dtype="float32")
        self.leaves.build((None, None, size))
        self.norm = keras.layers.LayerNormalization(epsilon=EPSILON, dtype="float32")
        self.norm.build(states)
        self.hidden = dense(seen, 2 * seen, (2 * seen) ** -0.5, activation="gelu", dtype="float32")
        self.hidden.build((None, 2 * seen))
        self.score = dense(1, seen, seen**-0.5, use_bias=False, dtype="float32")  # a bias would change no p
        self.score.build((None, seen))
        self.cell = GatedRecursiveCell(dtype="float32")
        self.cell.build(states)
        self.built = True

    def call(self, sequence: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        check_mask(mask)
        vectors = self.norm(self.leaves(ops.cast(sequence, "float32")))[:, None]
        drops = training and self.dropout
        kept = self.cell.kept(ops.shape(mask)[0], self.dropout, self.seeds) if drops else None
        vectors, scores = self.trees(vectors, mask, training, kept)
        weights = ops.softmax(scores, axis=-1)
        return ops.cast(ops.einsum("bk,bkd->bd", weights, vectors), self.compute_dtype)

    def trees(self, vectors: Tensor, mask: Tensor, training: bool, kept: Tensor | None) -> tuple[Tensor, Tensor]:
        """Returns the roots (B, k, D) of the trees over the vectors (B, 1, T, D), and their scores (B, k)."""
        return self.search(vectors, self.one_beam(vectors), mask, training, kept)

    def one_beam(self, vectors: Tensor) -> Tensor:
        """Returns the scores (B, k) of beams that are copies of the first."""
        first = ops.arange(self.beams, dtype="int32") == 0
        return ops.where(first, ops.zeros_like(vectors[:, 0, :1, 0]), NEVER)

    def search(
        self, vectors: Tensor, scores: Tensor, mask: Tensor, training: bool, kept: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Returns the roots (B, k, D) and scores (B, k) of the best trees over the vectors of k beams, or of one,
        (B, k or 1, T, D), which begin with `scores` (B, k)."""
        pairs = self.scores(vectors, following(vectors))
        copies = self.beams // vectors.shape[1]
        vectors, pairs = (ops.repeat(x, copies, axis=1) for x in (vectors, pairs))  # (B, k, T, D), (B, k, T)
        turns = ops.arange(ops.shape(mask)[1], dtype="int32")[:, None]
        inputs = {"left": ops.sum(ops.cast(mask, "int32"), axis=1) - turns}  # (T, B)
        if training:
            shape = (ops.shape(mask)[1], *ops.shape(pairs))
            drawn = keras.random.uniform(shape, 1e-7, 1.0, dtype="float32", seed=self.seeds)
            inputs["noise"] = -ops.log(-ops.log(drawn))
        state = {"vectors": vectors, "pairs": pairs, "scores": scores}
        last, _ = scan(lambda carry, x: self.step(carry, x, kept), state, inputs)
        return last["vectors"][:, :, 0], last["scores"]

    def step(self, state: States, inputs: dict[str, Tensor], kept: Tensor | None) -> tuple[States, Trace]:
        """Composes one pair in each beam of each sequence that has one; returns the new state."""
        vectors, pairs, left = state["vectors"], state["pairs"], inputs["left"][:, None, None]
        length = ops.shape(pairs)[2]
        places = ops.arange(length, dtype="int32")
        known = ops.log_softmax(ops.where(places < left - 1, pairs, NEVER), axis=-1)
        sums = state["scores"][..., None] + known
        compared = sums + inputs["noise"] if "noise" in inputs else sums
        chosen = best(ops.reshape(compared, (-1, self.beams * length)), self.beams)
        beam, place = chosen // length, (chosen % length)[..., None]
        from_beam = ops.cast(beam[..., None] == ops.arange(self.beams, dtype="int32"), "float32")
        vectors = ops.einsum("bjk,bktd->bjtd", from_beam, vectors)
        pairs, sums = (ops.einsum("bjk,bkt->bjt", from_beam, x) for x in (pairs, sums))
        scores = ops.sum(ops.where(places == place, sums, 0.0), axis=-1)
        before, first, second, after = (self.at(vectors, place + offset) for offset in (-1, 0, 1, 2))
        parent = self.cell(first, second, kept)
        pairs = ops.where(places < place, pairs, following(pairs))
        pairs = ops.where(places == place - 1, self.scores(before, parent)[..., None], pairs)
        pairs = ops.where(places == place, self.scores(parent, after)[..., None], pairs)
        places, place = places[:, None], place[..., None]
        moved = ops.where(places < place, vectors, following(vectors))
        vectors = ops.where(places == place, parent[:, :, None], moved)

        more = left > 1
        new = {
            "vectors": ops.where(more[..., None], vectors, state["vectors"]),
            "pairs": ops.where(more, pairs, state["pairs"]),
            "scores": ops.where(more[..., 0], scores, state["scores"]),
        }
        return new, {}

    def scores(self, left: Tensor, right: Tensor) -> Tensor:
        """Returns the scores (...) of pairs of vectors (..., D)."""
        seen = [vectors[..., : self.score_units] for vectors in (left, right)]
        return self.score(self.hidden(ops.concatenate(seen, axis=-1)))[..., 0]

    def at(self, vectors: Tensor, place: Tensor) -> Tensor:
        """Returns the vectors (B, k, D) at places (B, k, 1), zero where there is none."""
        here = ops.arange(ops.shape(vectors)[2], dtype="int32") == place
        return ops.einsum("bkt,bktd->bkd", ops.cast(here, vectors.dtype), vectors)

    def states(self, sequence: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        """Returns the state at each token: see `Reader.of_beginnings`."""
        return self.of_beginnings(sequence, mask, training)

    def largest_activation(self, length: int) -> int:
        """Returns the numbers of the vectors of all beams."""
        return self.beams * length * max(self.units, 4 * self.score_units)

    def get_config(self) -> Config:
        own = {"units": self.units, "beams": self.beams, "score_units": self.score_units, "dropout": self.dropout}
        return {**super().get_config(), **own}


def following(vectors: Tensor) -> Tensor:
    """Returns for each of the vectors (B, k, T, ...) the next one, and for the last the first."""
    return ops.roll(vectors, -1, axis=2)


def best(numbers: Tensor, k: int) -> Tensor:
    """Returns the indices (B, k) of the k largest numbers in each row (B, N), the largest first.

    Neither `top_k` nor `argsort` can be exported in every format from every backend.
    """
    places, found = ops.arange(ops.shape(numbers)[1], dtype="int32"), []
    for _ in range(k):
        found.append(ops.cast(ops.argmax(numbers, axis=-1), "int32")[:, None])
        numbers = ops.where(places == found[-1], -float("inf"), numbers)
    return ops.concatenate(found, axis=-1)


alias("reader", "beam_tree", "BeamTreeReader")
