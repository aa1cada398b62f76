"""Composition of neighbours to degrees, in all places at once, as a reader of a sequence."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, States, Tensor
from kzoo.layers.functional.check_mask import check_mask
from kzoo.layers.functional.dense import dense
from kzoo.layers.functional.scan import scan, while_loop
from kzoo.layers.functional.traced import exporting
from kzoo.layers.recurrent.boundary_vectors import BoundaryVectors
from kzoo.layers.recurrent.gated_recursive_cell import GatedRecursiveCell
from kzoo.layers.recurrent.reader import Reader
from kzoo.layers.transformer.transformer_block import EPSILON
from kzoo.registry import alias, register

HALT = 0.01  # what exists less than this is taken for gone


@register("reader")
class ContinuousRecursiveReader(Reader):
    """Composes each vector into the next one to a degree, everywhere at once, until only the last exists.

    The continuous recursive neural network, CRvNN, of
    [Ray Chowdhury and Caragea, 2021](https://arxiv.org/abs/2106.06038). The i-th of n tokens has the vector
    v_i = LayerNorm(W x_i + b) and the existence e_i = 1; a learned vector stands at each end. A step is:

        R_ij = min(1, sum of e_l, i < l <= j) - min(1, sum of e_l, i < l < j), and L likewise to the left
        s = scorer([L L v; L v; v; R v; R R v; q])
        p = exp(s) / (exp(s) + 1 + L exp(s) + R exp(s)), with exp(s) = 0 at the ends and the last token
        q <- L p
        v <- q cell(L v, v) + (1 - q) v
        e <- e (1 - p)

    R_ij is how much j is the next that exists after i, p_i how much i is composed into it, and q_i, at first 0, how
    much i has received. A sequence halts once at most one of its tokens has an existence above 0.01, or after n steps;
    the result is v_n. In training, `penalty` times the mean of ln(sum of e_i) is added to the loss, 0 for sequences of
    which only the last token is left. The scorer is a network of one hidden layer with GELU.

    Args:
        units: int. Size of a vector, 1 to 8,192. Defaults to 128.
        penalty: float. Weight of what is left in the loss, 0 to 100. Defaults to 0.01.
        dropout: float. Rate in the cell while training. Defaults to 0.
        dtype: str or DTypePolicy. As of every Keras layer; it is float32 under any.

    Call arguments:
        sequence: tensor of shape (B, T, E).
        mask: bool tensor of shape (B, T), True at real tokens; every row has at least one.
        training: bool. If false, no steps are made once all sequences have halted, and JAX has no gradient.

    Returns:
        Tensor of shape (B, units).

    Raises:
        InputError: an argument is out of range.

    Example:

    ```python
    reader = kzoo.layers.ContinuousRecursiveReader(6)
    assert reader(np.ones((2, 5, 3), "float32"), np.ones((2, 5), bool)).shape == (2, 6)
    ```

    Differences: in the authors' code the vectors at the ends pass through W and the norm too, and are drawn from N(0,
    1) where these begin at zero; q chooses between two vectors, of which only their difference matters, here one number
    of the scorer's input. There a sequence may take one step more where the batch has a longer one, and one norm serves
    the tokens and the cell. Dropout has one mask for all nodes.
    """

    def __init__(
        self, units: int = 128, penalty: float = 0.01, dropout: float = 0.0, dtype: DType = None, **kwargs: Any
    ) -> None:
        super().__init__(autocast=False, dtype=dtype, **kwargs)
        self.units = checks.integer("units", units, 1, 8192)
        self.penalty = checks.number("penalty", penalty, 0.0, 100.0)
        self.dropout = checks.number("dropout", dropout, 0.0, 0.99)
        self.seeds = keras.random.SeedGenerator()

    def build(self, sequence_shape: Shape, mask_shape: Shape | None = None) -> None:
        size, units = sequence_shape[-1], self.units
        self.leaves = dense(units, size, size**-0.5, dtype="float32")
        self.leaves.build((None, None, size))
        self.norm = keras.layers.LayerNormalization(epsilon=EPSILON, dtype="float32")
        self.norm.build((None, None, units))
        self.ends = BoundaryVectors(dtype="float32")
        self.ends.build((None, None, units))
        self.hidden = dense(units, 5 * units + 1, (5 * units) ** -0.5, activation="gelu", dtype="float32")
        self.hidden.build((None, None, 5 * units + 1))
        self.score = dense(1, units, units**-0.5, dtype="float32")
        self.score.build((None, None, units))
        self.cell = GatedRecursiveCell(dtype="float32")
        self.cell.build((None, None, units))
        self.built = True

    def call(self, sequence: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        check_mask(mask)
        vectors, whole = self.ends(self.norm(self.leaves(ops.cast(sequence, "float32"))), mask)
        length = ops.sum(ops.cast(mask, "int32"), axis=1)  # (B,), and the place of the last token
        places = ops.arange(ops.shape(whole)[1], dtype="int32")
        is_last = ops.cast(places == length[:, None], "float32")
        free = (places > 0) & (places < length[:, None])
        drops = training and self.dropout
        kept = self.cell.kept(ops.shape(mask)[0], self.dropout, self.seeds) if drops else None
        exist = ops.cast(whole, "float32")
        state = {"vectors": vectors, "exist": exist, "received": ops.zeros_like(exist)}

        def going(exist: Tensor, turn: Tensor) -> Tensor:
            return (turn < length) & ops.any(free & (exist > HALT), axis=-1)

        def step(state: States, turn: Tensor) -> States:
            return self.step(state, going(state["exist"], turn), free, kept)

        if training or exporting():  # ONNX takes this loop
            turns = ops.arange(ops.shape(mask)[1], dtype="int32")
            last, _ = scan(lambda state, turn: (step(state, turn), {}), state, turns)
        else:  # JAX has no gradient of such a loop
            zero = ops.zeros((), dtype="int32")
            _, last = while_loop(
                lambda turn, state: ops.any(going(state["exist"], turn)),
                lambda turn, state: (turn + 1, step(state, turn)),
                (zero, state),
            )
        if training and self.penalty:
            left = ops.sum(ops.where(free, last["exist"], is_last), axis=-1)
            halted = ops.all(~free | (last["exist"] <= HALT), axis=-1)
            self.add_loss(self.penalty * ops.mean(ops.where(halted, 0.0, ops.log(left))))
        return ops.cast(ops.einsum("bs,bsd->bd", is_last, last["vectors"]), self.compute_dtype)

    def step(self, state: States, going: Tensor, free: Tensor, kept: Tensor | None) -> States:
        """Composes once in each sequence that is `going` (B,); returns the new state.

        `free` (B, S) is True at the tokens that may be composed into the next.
        """
        vectors, exist, received = state["vectors"], state["exist"], state["received"]
        left, right = neighbours(exist)
        before, after = ops.matmul(left, vectors), ops.matmul(right, vectors)
        window = [ops.matmul(left, before), before, vectors, after, ops.matmul(right, after), received[..., None]]
        scores = self.score(self.hidden(ops.concatenate(window, axis=-1)))[..., 0]
        largest = ops.max(ops.where(free, ops.maximum(scores, 0.0), 0.0), axis=-1, keepdims=True)
        largest = ops.stop_gradient(largest)  # p does not depend on it
        weights = ops.where(free, ops.exp(ops.minimum(scores - largest, 0.0)), 0.0)[..., None]
        others = ops.matmul(left, weights) + ops.matmul(right, weights) + ops.exp(-largest)[..., None]
        composed = weights / (weights + others + 1e-8)
        share = ops.matmul(left, composed)
        new = {
            "vectors": share * self.cell(before, vectors, kept) + (1.0 - share) * vectors,
            "exist": exist * (1.0 - composed[..., 0]),
            "received": share[..., 0],
        }
        going = going[:, None]
        wide = {"vectors": going[..., None]}
        return {name: ops.where(wide.get(name, going), new[name], state[name]) for name in state}

    def states(self, sequence: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        """Returns the state at each token: see `Reader.of_beginnings`."""
        return self.of_beginnings(sequence, mask, training)

    def largest_activation(self, length: int) -> int:
        """Returns the numbers of the neighbours, or of the inner layer of the cell."""
        return (length + 2) * max(length + 2, 5 * self.units)

    def get_config(self) -> Config:
        return {**super().get_config(), "units": self.units, "penalty": self.penalty, "dropout": self.dropout}


def neighbours(exist: Tensor) -> tuple[Tensor, Tensor]:
    """Returns L and R (B, S, S) from existences (B, S): how much j is the last that exists before i, and the next."""
    through = ops.cumsum(exist, axis=-1)
    up_to = through - exist
    first, last = up_to[:, :, None], through[:, :, None]  # of i; those of j are in the last axis
    left = unit(first - up_to[:, None]) - unit(first - through[:, None])
    right = unit(through[:, None] - last) - unit(up_to[:, None] - last)
    return left, right


def unit(x: Tensor) -> Tensor:
    return ops.clip(x, 0.0, 1.0)


alias("reader", "crvnn", "ContinuousRecursiveReader")
