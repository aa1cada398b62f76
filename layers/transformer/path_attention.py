"""Attention whose keys are reflected by every position between them and the query."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, Shape, Spec, Tensor
from kzoo.errors import InputError
from kzoo.layers.functional.causal import causal_filter, causal_mask, vectors_before
from kzoo.layers.functional.check_mask import check_boolean
from kzoo.layers.functional.dense import dense, glorot
from kzoo.layers.functional.normalized import normalized
from kzoo.layers.functional.place import place
from kzoo.layers.functional.solve_unit_lower import solve_unit_lower
from kzoo.layers.transformer.multi_head_attention import MultiHeadAttention
from kzoo.registry import alias, register


@register("multi_head")
class PathAttention(MultiHeadAttention):
    """Attention whose scores depend on the path from key to query: each position on it reflects the key.

    PaTH, [Yang et al., 2025](https://arxiv.org/abs/2505.16381), section 2.2. With x_t the state of position t, for each
    head:

        w_t  = c_t / |c_t|,  c_t = SiLU(sum over r < width of F_r * (W_2 W_1 x)_(t-r))
        b_t  = 2 sigmoid(u . x_t + a)
        R_t  = I - b_t w_t w_t^T
        z_ij = q_i . R_i R_(i-1) .. R_(j+1) k_j / sqrt(H) + bias        for j <= i

    and then as in `MultiHeadAttention`. Rotary positions are the case of fixed rotations; here what stands between
    decides what a key looks like from the query, so that a state can be tracked. Keys behind the query are never
    attended to, so it is for decoders.

    All scores are computed at once, as in its section 3.2: with L = strictly_lower(W W^T) and D = diag(b),

        Z = lower(Q K^T) - lower(Q W^T) (I + D L)^-1 D strictly_lower(W K^T)

    which is one triangular system a head. Step by step the reflected keys are kept, and a new position reflects all
    (section 3.4).

    Args:
        heads: int. Number of heads N. Defaults to 1.
        head_units: int. Size H of a head. Defaults to the size of the states divided by the number of heads.
        bias: name, config or object of the kind "bias". Defaults to None; with "forgetting" it is PaTH-FoX.
        weighting: name, config or object of the kind "weighting". Defaults to "softmax".
        rank: int. Size between the maps W_1 and W_2. Defaults to 32.
        width: int. Positions that the filter F sees, its own and those before it; 1 to 64. Defaults to 3.
        dropout: float. Rate on the keys, and on the keys of a bias, while training. Defaults to 0.
        dtype: str or DTypePolicy. Scores and weights are float32 under any.

    Call arguments:
        inputs: tensor of shape (B, T, D).
        memory: not used: it attends to its own sequence.
        mask: bool tensor of shape (B, T) or (B, T, T), True at unmasked keys. Defaults to no key masked.
        training: bool.
        delimiter: int tensor of shape (B, 1), its index in the sequence, for a bias that needs it.
        places: int tensor of shape (B, T), for a bias that needs them.

    Returns:
        The output, of shape (B, T, D), and the weights, float32 of shape (B, N, T, T).

    Raises:
        InputError: an argument is out of range, there is a memory, D is no multiple of the heads, or a part is unknown.

    Example:

    ```python
    block = kzoo.layers.TransformerBlock("path", heads=2, hidden_units=8)
    states, trace = block(np.ones((3, 5, 6), "float32"), np.ones((3, 5), bool))
    assert states.shape == (3, 5, 6) and trace["weights"].shape == (3, 2, 5, 5)
    ```

    Differences from the authors' code: the bias is not divided by sqrt(H), where their gate of PaTH-FoX is; queries and
    keys have no norm, as in theirs by default; the initial weights. A filter of width 1 only scales, so that nothing
    but the reflections tells positions apart.
    """

    reads_source = False

    def __init__(
        self,
        heads: int = 1,
        head_units: int | None = None,
        bias: Spec | None = None,
        weighting: Spec = "softmax",
        rank: int = 32,
        width: int = 3,
        dropout: float = 0.0,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        about = {"bias": bias, "weighting": weighting, "dropout": dropout, "dtype": dtype}
        super().__init__(heads, head_units, **about, **kwargs)
        self.rank = checks.integer("rank", rank, 1, 65_536)
        self.width = checks.integer("width", width, 1, 64)

    def build(self, inputs_shape: Shape, memory_shape: Shape | None = None, mask_shape: Shape | None = None) -> None:
        super().build(inputs_shape)
        size, units = inputs_shape[-1], self.heads * self.size
        for name, inputs, outputs in (("narrow", size, self.rank), ("widen", self.rank, units)):
            layer = dense(outputs, inputs, glorot(inputs, outputs), use_bias=False, dtype=self.dtype_policy)
            layer.build((None, None, inputs))
            setattr(self, name, layer)
        self.strength = keras.layers.Dense(self.heads, dtype="float32")
        self.strength.build((None, None, size))
        bound = self.width**-0.5
        start = keras.initializers.RandomUniform(-bound, bound)
        self.filter = self.add_weight((self.width, self.heads, 1, self.size), initializer=start, name="filter")

    def call(
        self,
        inputs: Tensor,
        memory: Tensor | None = None,
        mask: Tensor | None = None,
        training: bool = False,
        delimiter: Tensor | None = None,
        places: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        if memory is not None:
            raise InputError("PathAttention attends to its own sequence, not to a memory")
        return super().call(inputs, None, causal(inputs, mask), training, delimiter, places)

    def prepare(self, memory: Tensor, training: bool = False) -> Prepared:
        """Returns `keys`, `values` and `unfiltered` W_2 W_1 x, each (B, N, S, H), `strengths` b (B, N, S, 1), and what
        the bias prepares; without `strengths`, keys have been reflected.
        """
        strengths = 2.0 * ops.sigmoid(self.strength(ops.cast(memory, "float32")))
        own = {"unfiltered": self.split(self.widen(self.narrow(memory)))}
        own["strengths"] = ops.transpose(strengths, (0, 2, 1))[..., None]
        return {**super().prepare(memory, training), **own}

    def score(self, queries: Tensor, keys: Tensor, prepared: Prepared) -> Tensor:
        scores = super().score(queries, keys, prepared)
        if "strengths" not in prepared:
            return scores
        marks = self.marks(prepared["unfiltered"])
        before = ops.cast(causal_mask(ops.shape(marks)[2]), "float32")
        own = ops.matmul(ops.cast(queries, "float32"), ops.swapaxes(marks, -1, -2)) * before
        return scores - ops.matmul(own, changes(marks, prepared["strengths"], keys))

    def marks(self, unfiltered: Tensor) -> Tensor:
        """Returns the w of every position, float32 (B, N, S, H)."""
        filtered = causal_filter(ops.cast(unfiltered, "float32"), ops.cast(self.filter, "float32"))
        return normalized(ops.silu(filtered))

    def mark(self, unfiltered: Tensor, index: Tensor) -> Tensor:
        """Returns the w of one position of each row, float32 (B, N, 1, H)."""
        return self.marks(vectors_before(unfiltered, index + 1, self.width))[:, :, -1:]

    def start(
        self,
        inputs: Tensor,
        mask: Tensor,
        real: Tensor | None = None,
        delimiter: Tensor | None = None,
        places: Tensor | None = None,
    ) -> tuple[Tensor, Prepared]:
        output, prepared = super().start(inputs, causal(inputs, mask), real, delimiter, places)
        marks, strengths = self.marks(prepared["unfiltered"]), prepared.pop("strengths")
        if real is not None:
            strengths = strengths * ops.cast(real, "float32")[:, None, :, None]
        keys = prepared["keys"]
        moved = ops.matmul(ops.swapaxes(changes(marks, strengths, keys), -1, -2), marks)
        return output, prepared | {"keys": keys - ops.cast(moved, keys.dtype)}

    def update_cache(self, state: Tensor, prepared: Prepared, index: Tensor) -> Prepared:
        new = self.prepare(state)
        strength, unfiltered = new.pop("strengths"), place(new["unfiltered"], prepared["unfiltered"], index)
        mark = self.mark(unfiltered, index)
        keys = ops.cast(prepared["keys"], "float32")
        overlap = ops.sum(keys * mark, axis=-1, keepdims=True)
        reflected = ops.cast(keys - strength * overlap * mark, self.compute_dtype)
        old = prepared | {"keys": reflected}
        found = {name: place(x, old[name], index) for name, x in new.items() if name != "unfiltered"}
        return old | found | {"unfiltered": unfiltered}

    def get_config(self) -> Config:
        fixed = ("position", "query_bias", "trainable_scale", "initialization")
        config = {name: value for name, value in super().get_config().items() if name not in fixed}
        return {**config, "rank": self.rank, "width": self.width}


def causal(inputs: Tensor, mask: Tensor | None) -> Tensor:
    """Returns a mask (B, S) or (B, T, S), or None for no key masked, without the keys behind each query."""
    before = causal_mask(ops.shape(inputs)[1])
    if mask is None:
        return before
    mask = ops.convert_to_tensor(mask)
    check_boolean(mask)
    return ops.logical_and(before, mask[:, None, :] if len(mask.shape) == 2 else mask)


def changes(marks: Tensor, strengths: Tensor, keys: Tensor) -> Tensor:
    """Returns how much of w_t is taken from key j when position t reflects it, (B, N, S, S) by t and j; 0 for t <= j.

    Args:
        marks: tensor w of shape (B, N, S, H).
        strengths: tensor b of shape (B, N, S, 1).
        keys: tensor of shape (B, N, S, H), as they are before any reflection.
    """
    positions = ops.arange(ops.shape(marks)[2], dtype="int32")
    later = ops.cast(positions[None, :] < positions[:, None], "float32")
    overlaps = strengths * ops.matmul(marks, ops.swapaxes(marks, -1, -2)) * later
    first = strengths * ops.matmul(marks, ops.swapaxes(ops.cast(keys, "float32"), -1, -2)) * later
    return solve_unit_lower(overlaps, first)


alias("multi_head", "path", "PathAttention")
