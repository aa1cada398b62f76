"""Linear recurrence by the delta rule, with eigenvalues from -1 on."""

from collections.abc import Sequence
from typing import Any

from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, Shape, Tensor
from kzoo.errors import InputError
from kzoo.layers.functional.dense import dense, glorot
from kzoo.layers.functional.normalized import normalized, rms_norm
from kzoo.layers.functional.scan import scan
from kzoo.layers.functional.solve_unit_lower import solve_unit_lower
from kzoo.layers.functional.traced import is_symbolic
from kzoo.layers.mixers.mixer import Mixer
from kzoo.registry import alias, register

CHUNK = 64  # reflections that are one triangular system


@register("mixer")
@register("multi_head")
class DeltaMixer(Mixer):
    """Mixes positions by a linear recurrence whose state is turned by a reflection at each of them.

    DeltaNet with negative eigenvalues, [Grazzi et al., 2025](https://arxiv.org/abs/2411.12537), section 4.2, Eq. 2;
    with several reflections a position, DeltaProduct, [Siems et al., 2025](https://arxiv.org/abs/2502.10297), section
    4, Eq. 3. For each head, with k of norm 1, so q:

        S_t = (I - beta_t k_t k_t^T) S_(t-1) + beta_t k_t v_t^T,   o_t = S_t^T q_t,   S_0 = 0
        beta_t = (1 - low) sigmoid(w . x_t)

    so that the eigenvalue along k_t lies between `low` and 1. From 0 on no such network tells odd from even; from -1 on
    one reflection does, and two reflections a position do the permutations of three. Then

        output = W_o [RMSNorm(o_t) of each head]

    Positions are computed by chunks of 64 reflections ([Yang et al., 2024](https://arxiv.org/abs/2406.06484), Eq.
    8-11), so that time and memory are linear in T. In a chunk that begins with the state S, all positions are computed
    at once: with U = (I + strictly_lower(diag(beta) K K^T))^-1 diag(beta) (V - K S), which is one triangular system,
    the outputs are o = Q S + lower(Q K^T) U, and the next chunk begins with S + K^T U.

    Args:
        heads: int. Number of heads N. Defaults to 1.
        head_units: int. Size H of a head, of keys and values. Defaults to D / N.
        reflections: int. Reflections a position, each with k, v and beta of its own from the same x; the output is read
            behind the last. 1 to 16. Defaults to 1.
        low: float. The least eigenvalue, -1 to 0. Defaults to -1; the DeltaNet of before has 0.
        dtype: str or DTypePolicy. The recurrence is float32 under any.

    Call arguments:
        inputs: tensor of shape (B, T, D).
        mask: not used: what stands behind a position is not seen. So the next two.
        training: bool.
        delimiter: tensor.
        places: tensor.

    Returns:
        The output, of shape (B, T, D), and None.

    Raises:
        InputError: an argument is out of range, or D is no multiple of the heads.

    Example:

    ```python
    block = kzoo.layers.TransformerBlock("delta", heads=2, hidden_units=8)
    states, trace = block(np.ones((3, 5, 6), "float32"), np.ones((3, 5), bool))
    assert states.shape == (3, 5, 6) and trace == {}
    ```

    Differences from the authors' models: no convolutions before the projections, which would see four tokens at once;
    q, k and v go through SiLU, as theirs do without convolutions; no output gate and no forget gate. o is not divided
    by sqrt(H): the norm takes that out. The epsilon of the norms is 1e-6.
    """

    def __init__(
        self,
        heads: int = 1,
        head_units: int | None = None,
        reflections: int = 1,
        low: float = -1.0,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(heads, dtype=dtype, **kwargs)
        self.head_units = None if head_units is None else checks.integer("head_units", head_units, 1, 65_536)
        self.reflections = checks.integer("reflections", reflections, 1, 16)
        self.low = checks.number("low", low, -1.0, 0.0)

    def build(self, inputs_shape: Shape, mask_shape: Shape | None = None) -> None:
        size = inputs_shape[-1]
        if self.head_units is None and size % self.heads:
            raise InputError(f"states of size {size} cannot be split between {self.heads} heads")
        self.size = self.head_units or size // self.heads
        units, steps = self.heads * self.size, self.reflections
        sizes = {"query": units, "key": steps * units, "value": steps * units, "strength": steps * self.heads}
        for name, outputs in sizes.items():
            layer = dense(outputs, size, glorot(size, outputs), use_bias=False, dtype=self.dtype_policy)
            layer.build((None, None, size))
            setattr(self, name, layer)
        self.gain = self.add_weight((self.size,), initializer="ones", name="gain")
        self.projection = dense(size, units, glorot(units, size), use_bias=False, dtype=self.dtype_policy)
        self.projection.build((None, None, units))
        self.built = True

    def call(
        self,
        inputs: Tensor,
        mask: Tensor | None = None,
        training: bool = False,
        delimiter: Tensor | None = None,
        places: Tensor | None = None,
    ) -> tuple[Tensor, None]:
        return self.mixed(inputs, None)[0], None

    def start(
        self,
        inputs: Tensor,
        mask: Tensor | None = None,
        real: Tensor | None = None,
        delimiter: Tensor | None = None,
        places: Tensor | None = None,
    ) -> tuple[Tensor, Prepared]:
        output, memory = self.mixed(inputs, real)
        return output, {"memory": memory}

    def step(
        self,
        inputs: Tensor,
        prepared: Prepared,
        mask: Tensor | None = None,
        index: Tensor | None = None,
        places: Tensor | None = None,
    ) -> tuple[Tensor, Prepared]:
        query, keys, values, strengths = self.parts(inputs, None)
        memory = prepared["memory"]  # (B, N, H, H)
        for r in range(self.reflections):
            key, value, strength = keys[:, :, r], values[:, :, r], strengths[:, :, r, None]
            error = value - ops.einsum("bnkv,bnk->bnv", memory, key)
            memory = memory + key[..., None] * (strength * error)[..., None, :]
        found = ops.einsum("bnkv,bntk->bntv", memory, query)
        return self.output(found, inputs), {"memory": memory}

    def mixed(self, inputs: Tensor, real: Tensor | None) -> tuple[Tensor, Tensor]:
        """Returns the output (B, T, D) and the state (B, N, H, H) behind the last real position."""
        parts, steps = self.parts(inputs, real), self.reflections
        batch, times = ops.shape(inputs)[:2]
        memory = ops.zeros((batch, self.heads, self.size, self.size), dtype="float32")
        if isinstance(times, int) and times * steps <= CHUNK:
            memory, found = self.chunk(memory, parts)
            return self.output(found, inputs), memory
        size = 1 if is_symbolic(times) else max(1, CHUNK // steps)  # chunks could not divide a symbol
        memory, found = scan(
            self.chunk,
            memory,
            [in_chunks(part, size * r) for part, r in zip(parts, (1, steps, steps, steps), strict=True)],
        )
        found = ops.reshape(ops.transpose(found, (1, 2, 0, 3, 4)), (batch, self.heads, -1, self.size))[:, :, :times]
        return self.output(found, inputs), memory

    def chunk(self, memory: Tensor, parts: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Returns the state (B, N, H, H) behind a chunk that begins with another, and what its positions read."""
        query, keys, values, strengths = parts
        count, size, across = keys.shape[2], query.shape[2], ops.swapaxes(keys, -1, -2)
        place = ops.arange(count, dtype="int32")
        lower = ops.cast(place[None, :] < place[:, None], "float32")
        last = (ops.arange(size, dtype="int32") + 1) * self.reflections - 1  # a position's last reflection
        seen = ops.cast(place[None, :] <= last[:, None], "float32")
        overlaps = strengths[..., None] * ops.matmul(keys, across) * lower
        updates = solve_unit_lower(overlaps, strengths[..., None] * (values - ops.matmul(keys, memory)))
        found = ops.matmul(query, memory) + ops.matmul(ops.matmul(query, across) * seen, updates)
        return memory + ops.matmul(across, updates), found

    def parts(self, inputs: Tensor, real: Tensor | None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Returns queries (B, N, T, H), and keys and values (B, N, T R, H) and strengths beta (B, N, T R) of the
        reflections in their order, 0 where a position is not real.
        """
        query = normalized(self.split(ops.silu(self.query(inputs))))
        keys = normalized(self.split(ops.silu(self.key(inputs))))
        values = self.split(ops.silu(self.value(inputs)))
        batch, times = ops.shape(inputs)[:2]
        strengths = (1.0 - self.low) * ops.sigmoid(ops.cast(self.strength(inputs), "float32"))
        if real is not None:
            strengths = strengths * ops.cast(real, "float32")[..., None]
        strengths = ops.reshape(strengths, (batch, times * self.reflections, self.heads))
        return query, keys, values, ops.transpose(strengths, (0, 2, 1))

    def split(self, x: Tensor) -> Tensor:
        """Returns vectors (B, T, R N H) as float32 (B, N, T R, H)."""
        batch, times = ops.shape(x)[:2]
        shape = (batch, times * (x.shape[-1] // (self.heads * self.size)), self.heads, self.size)
        return ops.transpose(ops.reshape(ops.cast(x, "float32"), shape), (0, 2, 1, 3))

    def output(self, found: Tensor, inputs: Tensor) -> Tensor:
        """Returns the output (B, T, D) of what was read (B, N, T, H)."""
        found = rms_norm(found) * ops.cast(self.gain, "float32")
        joined = ops.reshape(ops.transpose(found, (0, 2, 1, 3)), (*ops.shape(inputs)[:2], self.heads * self.size))
        return self.projection(ops.cast(joined, self.compute_dtype))

    def get_config(self) -> Config:
        own = {"head_units": self.head_units, "reflections": self.reflections, "low": self.low}
        return {**super().get_config(), **own}


def in_chunks(x: Tensor, size: int) -> Tensor:
    """Returns a tensor (B, N, T, ...) in chunks of so many positions, (T / size, B, N, size, ...), 0 behind its end."""
    batch, heads, times = ops.shape(x)[:3]
    rest = x.shape[3:]
    if size > 1:
        x = ops.pad(x, [[0, 0], [0, 0], [0, -times % size], *[[0, 0]] * len(rest)])
    return ops.moveaxis(ops.reshape(x, (batch, heads, -1, size, *rest)), 2, 0)


alias("mixer", "delta", "DeltaMixer")
alias("multi_head", "delta", "DeltaMixer")
alias("mixer", "delta_product", "DeltaMixer", reflections=2)
alias("multi_head", "delta_product", "DeltaMixer", reflections=2)
