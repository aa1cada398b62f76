"""Adaptive computation time."""

from typing import Any

from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Spec, Structure, Tensor, Trace
from kzoo.layers.functional.check_mask import check_mask
from kzoo.layers.functional.dense import dense
from kzoo.layers.functional.repeat import repeat
from kzoo.layers.transformer.shared_depth import SharedDepth, kept
from kzoo.registry import alias, register


@register("depth")
class AdaptiveComputation(SharedDepth):
    """Runs one block many times, with a learned number of steps for each position.

    From [Csordas et al., 2022](https://arxiv.org/abs/2110.07732), Appendix A, Eq. 11-15, after
    [Graves, 2016](https://arxiv.org/abs/1603.08983). Position i halts with probability p_t = sigmoid(w . h_(t-1) + b)
    at step t, at the latest once the sum exceeds the threshold. With T that step:

        o = sum over t <= T of P_t h_t,    P_t = p_t before T,    P_T = R = 1 - (p_1 + ... + p_(T-1))

    Halted positions are still updated, and attended to by the others. w and b are `halting`. While training,
    penalty * mean of R is an `add_loss`: the mean over the real positions of each sequence, then over the batch.

    Args:
        block: name, config or object of the kind "block".
        steps: int. The most steps while training. Defaults to 14.
        inference_steps: int. The most steps otherwise. Defaults to the same.
        variant: str. "graves", as above: at the last step everything halts. "universal"
            ([Dehghani et al., 2019](https://arxiv.org/abs/1807.03819)): o becomes (1 - P_t) o + P_t h_t at each step,
            and nothing is forced at the last. The paper's A and U. Defaults to "graves".
        threshold: float. 1 - epsilon. Defaults to 0.99.
        penalty: float. The paper's alpha. Defaults to 0.03.
        dtype: str or DTypePolicy. Probabilities are float32 under any.

    Call arguments:
        states: tensor of shape (B, T, D).
        mask: bool tensor of shape (B, T), True at real tokens.
        steps: int. The most steps of this call.
        training: bool.
        trace: bool. Whether to return the trace of every step. Defaults to False.
        every_step: bool. Whether to return o after every step. Defaults to False.
        places: int tensor of shape (B, T), see `MultiHeadAttention`.

    Returns:
        o, of shape (B, T, D), and the trace of `SharedDepth`, with `halting` (steps, B, T), P_t.

    Raises:
        InputError: an argument is out of range, or the block is unknown.

    Example:

    ```python
    encoder = kzoo.layers.AdaptiveComputation("rel", steps=3)
    states, trace = encoder(np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool), trace=True)
    assert abs(float(sum(trace["halting"])[0, 0]) - 1) < 1e-5
    ```

    Differences from the paper: p_t is taken of the state that enters step t, as in the authors' code; in Eq. 11 and 15
    both have one index. Their code takes the mean of R over padding too, the paper over the sequence; so here, and a
    batch's padding changes no loss. All steps are made, though the rest may have no weight.
    """

    def __init__(
        self,
        block: Spec,
        steps: int = 14,
        inference_steps: int | None = None,
        variant: str = "graves",
        threshold: float = 0.99,
        penalty: float = 0.03,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(block, steps, inference_steps, dtype, **kwargs)
        self.variant = checks.choice("variant", variant, ["graves", "universal"])
        self.threshold = checks.number("threshold", threshold, 0.0, 1.0)
        self.penalty = checks.number("penalty", penalty, 0.0, 1000.0)

    def build(self, states_shape: Shape, mask_shape: Shape | None = None) -> None:
        super().build(states_shape)
        self.halting = dense(1, states_shape[-1], states_shape[-1] ** -0.5, dtype=self.dtype_policy)
        self.halting.build(states_shape)

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
        number, states = self.number(steps, training), ops.cast(states, self.compute_dtype)
        real = ops.cast(mask, "float32")

        def step(carry: Structure, t: Tensor) -> tuple[Structure, Trace]:
            states, output, total, running, rest = carry
            halt = ops.sigmoid(ops.cast(self.halting(states), "float32"))[..., 0]
            states, found = self.block(states, mask, training=training, **placed)
            stops = total + halt * running > self.threshold
            if self.variant == "graves":
                stops = ops.logical_or(stops, t == number - 1)
            now = ops.cast(stops, "float32") * running  # who halts at this step
            running = running - now
            remainder = now * (1.0 - total)
            weight = halt * running + remainder
            share = ops.cast(weight, states.dtype)[..., None]
            output = output * (1.0 - share) if self.variant == "universal" else output
            output = output + share * states
            carry = (states, output, total + weight, running, rest + remainder)
            return carry, kept({**found, "halting": weight} if trace else {}, output, every_step)

        zeros = ops.zeros_like(real)
        first = (states, ops.zeros_like(states), zeros, real, zeros)
        (_, output, _, _, rest), found = repeat(step, first, number, self.seeds())
        if training:
            means = ops.sum(rest, axis=1) / ops.maximum(ops.sum(real, axis=1), 1.0)
            self.add_loss(self.penalty * ops.mean(means))
        return output, found

    def get_config(self) -> Config:
        own = {"variant": self.variant, "threshold": self.threshold, "penalty": self.penalty}
        return {**super().get_config(), **own}


alias("depth", "act", "AdaptiveComputation")
alias("depth", "act_universal", "AdaptiveComputation", variant="universal")
