"""Depth by repetition with states of a finite set."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Spec, Structure, Tensor, Trace
from kzoo.layers.functional.check_mask import check_mask
from kzoo.layers.functional.dense import dense
from kzoo.layers.functional.repeat import repeat
from kzoo.layers.transformer.shared_depth import SharedDepth, kept
from kzoo.registry import alias, register

SMALLEST, LARGEST = 1e-6, 1.0 - 2.0**-24  # of the uniform numbers whose logarithm is taken twice


@register("depth")
class DiscreteDepth(SharedDepth):
    """Runs one block many times, and between two steps keeps of each position one of a few values.

    With e the embeddings, z the scores of the values and v_k their vectors:

        u_t = block(h_(t-1)),   z_t = W u_t + b,   h_t = e + v_k,   k = argmax z_t,   h_0 = e

    So a position is its token and a value, and after any number of steps nothing is left of small errors: what is right
    at each step stays right, at every depth. While training, v_k is a weighted mean, with g from the Gumbel
    distribution: h_t = e + softmax(z_t + g) V. The noise makes the scores grow until the mean is nearly one value.

    A `TransformerClassifier` answers with z_T: the first values are its labels; what the others mean is learned, as
    that nothing is known yet. It is trained with results within the sequence as targets (`intermediate` in recipes),
    read after several steps (`hold`). A deeper input needs more `inference_steps`.

    A mechanism of our own. States of a finite set are from
    [Rodionov and Prokhorenkova, 2024](https://arxiv.org/abs/2402.11628), who train on every step of an algorithm with
    hard attention; the noise is from [Jang et al., 2017](https://arxiv.org/abs/1611.01144).

    Args:
        block: name, config or object of the kind "block".
        steps: int. Steps while training, 1 to 10,000. Defaults to 14.
        inference_steps: int. Steps otherwise. Defaults to the same.
        values: int. How many values there are, 2 to 65,536. Defaults to 16.
        dtype: str or DTypePolicy. Scores are float32 under any.

    Call arguments:
        states: tensor of shape (B, T, D).
        mask: bool tensor of shape (B, T), True at real tokens.
        steps: int. The number of steps of this call.
        training: bool.
        trace: bool. Whether to return the trace of every step. Defaults to False.
        every_step: bool. Whether to return the states after every step. Defaults to False.
        places: int tensor of shape (B, T), see `MultiHeadAttention`.

    Returns:
        u of the last step, of shape (B, T, D), and the trace of `SharedDepth`, with `values` int32 (steps, B, T), the
        k of each position; `every_step` gives u.

    Raises:
        InputError: an argument is out of range, or the block is unknown.

    Example:

    ```python
    encoder = kzoo.layers.DiscreteDepth("ndr", steps=3, values=8)
    states, trace = encoder(np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool), trace=True)
    assert trace["values"].shape == (3, 2, 5) and int(np.max(np.array(trace["values"]))) < 8
    ```
    """

    def __init__(
        self,
        block: Spec,
        steps: int = 14,
        inference_steps: int | None = None,
        values: int = 16,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(block, steps, inference_steps, dtype, **kwargs)
        self.values = checks.integer("values", values, 2, 65_536)
        self.noise = keras.random.SeedGenerator()

    def build(self, states_shape: Shape, mask_shape: Shape | None = None) -> None:
        units = states_shape[-1]
        self.scores = dense(self.values, units, units**-0.5, dtype="float32")
        self.scores.build(states_shape)
        normal = keras.initializers.RandomNormal(stddev=1.0)
        self.vectors = self.add_weight(shape=(self.values, units), initializer=normal, name="vectors")
        super().build(states_shape)

    def seeds(self) -> list[keras.Variable]:
        return [*super().seeds(), self.noise.state]

    def call(
        self,
        states: Tensor,
        mask: Tensor,
        steps: int | None = None,
        training: bool = False,
        trace: bool = False,
        every_step: bool = False,
        places: Tensor | None = None,
    ) -> tuple[Tensor, Trace]:
        check_mask(mask)
        placed = {} if places is None else {"places": places}
        given = ops.cast(states, self.compute_dtype)
        vectors = ops.cast(self.vectors, given.dtype)

        def step(carry: Structure, t: Tensor) -> tuple[Structure, Trace]:
            updated, found = self.block(carry[0], mask, training=training, **placed)
            scores = self.scores(updated)
            next_states = given + ops.matmul(ops.cast(self.share(scores, training), given.dtype), vectors)
            found = {**found, "values": ops.cast(ops.argmax(scores, axis=-1), "int32")} if trace else {}
            return (next_states, updated), kept(found, updated, every_step)

        (_, last), found = repeat(step, (given, given), self.number(steps, training), self.seeds())
        return last, found

    def share(self, scores: Tensor, training: bool) -> Tensor:
        """Returns how much of each value a position has, of shape (B, T, values)."""
        if not training:
            return ops.one_hot(ops.argmax(scores, axis=-1), self.values, dtype="float32")
        uniform = keras.random.uniform(ops.shape(scores), SMALLEST, 1.0, dtype="float32", seed=self.noise)
        return ops.softmax(scores - ops.log(-ops.log(ops.minimum(uniform, LARGEST))), axis=-1)

    def get_config(self) -> Config:
        return {**super().get_config(), "values": self.values}


alias("depth", "discrete", "DiscreteDepth")
