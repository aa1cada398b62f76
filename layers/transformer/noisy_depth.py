"""Depth by repetition with noise on the states."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Spec, Tensor
from kzoo.layers.transformer.shared_depth import SharedDepth
from kzoo.registry import alias, register


@register("depth")
class NoisyDepth(SharedDepth):
    """Runs one block many times, while training with noise on the states before each step.

        h_t = block(h_(t-1) + noise * n_t),   n_t from N(0, 1)

    What is to arrive at the last step has to survive the noise of all steps, so the block learns to take small errors
    back. Those are what adds up where an input is deeper than the trained ones and a result is handed on more often;
    outside training there is no noise, and nothing else than `SharedDepth` computes.

    A mechanism of our own. Noise on the states of recurrent networks is from
    [Lim et al., 2021](https://arxiv.org/abs/2102.04877), whose networks run along a sequence.

    Args:
        block: name, config or object of the kind "block".
        steps: int. Steps while training, 1 to 10,000. Defaults to 14.
        inference_steps: int. Steps otherwise. Defaults to the same.
        noise: float. Standard deviation of the noise, 0 to 10. Defaults to 0.2.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        states: tensor of shape (B, T, D).
        mask: bool tensor of shape (B, T), True at real tokens.
        steps: int. The number of steps of this call.
        training: bool.
        trace: bool. Whether to return the trace of every step. Defaults to False.
        every_step: bool. Whether to return the states after every step. Defaults to False.
        places: int tensor of shape (B, T), see `MultiHeadAttention`.

    Returns:
        The last states, of shape (B, T, D), and the trace of `SharedDepth`.

    Raises:
        InputError: an argument is out of range, or the block is unknown.

    Example:

    ```python
    encoder = kzoo.layers.NoisyDepth("ndr", steps=3, noise=0.1)
    states, _ = encoder(np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool))
    assert states.shape == (2, 5, 6)
    ```
    """

    def __init__(
        self,
        block: Spec,
        steps: int = 14,
        inference_steps: int | None = None,
        noise: float = 0.2,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(block, steps, inference_steps, dtype, **kwargs)
        self.noise = checks.number("noise", noise, 0.0, 10.0)
        self.seed = keras.random.SeedGenerator()

    def seeds(self) -> list[keras.Variable]:
        return [*super().seeds(), self.seed.state]

    def before_step(self, states: Tensor, training: bool) -> Tensor:
        if not training:
            return states
        return states + self.noise * keras.random.normal(ops.shape(states), dtype=states.dtype, seed=self.seed)

    def get_config(self) -> Config:
        return {**super().get_config(), "noise": self.noise}


alias("depth", "noisy", "NoisyDepth")
