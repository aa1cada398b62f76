"""Depth by repetition with the input injected anew, for as many steps as the input is long."""

from typing import Any

import keras
import numpy as np
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Spec, Structure, Tensor, Trace
from kzoo.errors import InputError
from kzoo.layers.functional.check_mask import check_mask
from kzoo.layers.functional.repeat import repeat
from kzoo.layers.transformer.shared_depth import MAX_STEPS, SharedDepth, kept
from kzoo.registry import alias, get, register, serialize


@register("depth")
class LoopedDepth(SharedDepth):
    """Runs a few blocks in a loop, and adds the input to the states before each round.

    Looped Transformers of [Fan et al., 2025](https://arxiv.org/abs/2409.15647): with M the blocks and e the
    embeddings,

        h_0 = e,   h_t = M(h_(t-1) + e),   the output is h_T

    T is a number of the task: an input of n tokens needs T(n) = `per_token` n + `extra` rounds, so the same blocks do
    longer inputs with more rounds. A sequence's states stay once its own T is reached. With `stop="confidence"` no T is
    given outside training: of all rounds that one answers in which the model is surest, the one whose most likely label
    has the highest probability.

    Args:
        block: name, config or object of the kind "block".
        steps: int. The number of rounds while training; with `per_token` the most. Defaults to 14.
        inference_steps: int. Likewise otherwise. Defaults to the same.
        per_token: float. Rounds for each token, start and end symbol included, 0.01 to 100. Defaults to None: every
            sequence has `steps`.
        extra: int. Rounds more, -1,000 to 1,000; at least one round is made. Defaults to 0.
        injection: bool. Whether the input is added before each round. Defaults to True; without, h_t = M(h_(t-1)).
        layers: int. Number of blocks in M, 1 to 100. Defaults to 1.
        stop: str. "given" or "confidence". Defaults to "given".
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        states: tensor of shape (B, T, D).
        mask: bool tensor of shape (B, T), True at real tokens.
        steps: int. The most rounds of this call.
        training: bool.
        trace: bool. Whether to return the trace of every round, of the last block. Defaults to False.
        every_step: bool. Whether to return the states after every round. Defaults to False.
        places: int tensor of shape (B, T), see `MultiHeadAttention`.
        readout: callable of states (B, T, D) to logits (B, labels), which "confidence" needs.

    Returns:
        The last states of each sequence, of shape (B, T, D), and the trace of `SharedDepth`.

    Raises:
        InputError: an argument is out of range, the block is unknown, or there is no readout where one is needed.

    Example:

    ```python
    encoder = kzoo.layers.LoopedDepth("rel", steps=20, per_token=1.0)
    states, trace = encoder(np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool), trace=True)
    assert trace["weights"].shape[0] == 5
    ```

    A block whose norm is before its parts adds to its states, which then grow with the rounds; one whose norm is after
    them has states of the same size in any round. Only the latter goes on at many more rounds than in training:
    `looped_parity_check`, trained on 3 to 40 bits, is right in 100 % at 400 (two of three seeds; the third is at
    chance); with the norm before its parts it is right in 84 % at 80 bits and at chance from 120 on (one seed).

    Differences: the paper's criterion is summed over a batch of test sequences, here each has its own. The paper's
    blocks are causal and read all answer columns at once; a classifier reads its one column. A causal block is one with
    the bias `{"class": "WindowedBias", "config": {"before": 10000}}`, or with a mixer.
    """

    def __init__(
        self,
        block: Spec,
        steps: int = 14,
        inference_steps: int | None = None,
        per_token: float | None = None,
        extra: int = 0,
        injection: bool = True,
        layers: int = 1,
        stop: str = "given",
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(block, steps, inference_steps, dtype, **kwargs)
        self.per_token = None if per_token is None else checks.number("per_token", per_token, 0.01, 100.0)
        self.extra = checks.integer("extra", extra, -1000, 1000)
        if extra and per_token is None:
            raise InputError("extra does not apply: without per_token every sequence has the same steps")
        self.injection = checks.boolean("injection", injection)
        self.stop = checks.choice("stop", stop, ["given", "confidence"])
        number = checks.integer("layers", layers, 1, 100)
        policy = {"dtype": self.dtype_policy}
        self.others = [get("block", serialize(self.block), **policy) for _ in range(number - 1)]

    def build(self, states_shape: Shape, mask_shape: Shape | None = None) -> None:
        for block in self.others:
            block.build(states_shape)
        super().build(states_shape)

    def seeds(self) -> list[keras.Variable]:
        weights = {id(variable) for variable in self.weights}
        return [v for block in [self.block, *self.others] for v in block.variables if id(v) not in weights]

    def call(
        self,
        states: Tensor,
        mask: Tensor,
        steps: int | None = None,
        training: bool = False,
        trace: bool = False,
        every_step: bool = False,
        places: Tensor | None = None,
        readout: Any = None,
    ) -> tuple[Tensor, Trace]:
        check_mask(mask)
        confident = self.stop == "confidence" and not training
        if confident and readout is None:
            raise InputError('stop="confidence" needs a readout, which a classifier passes')
        placed = {} if places is None else {"places": places}
        given = ops.cast(states, self.compute_dtype)
        most = self.number(steps, training)
        rounds = self.rounds(mask, most)
        if self.per_token is not None and not confident and isinstance(mask.shape[1], int):
            most = min(most, self.needed(mask.shape[1]))

        def step(carry: Structure, t: Tensor) -> tuple[Structure, Trace]:
            states, answer, best = carry
            inputs = states + given if self.injection else states
            for block in [self.block, *self.others]:
                inputs, found = block(inputs, mask, training=training, **placed)
            goes_on = (t < rounds)[:, None, None]
            states = inputs if confident else ops.where(goes_on, inputs, states)
            if confident:
                sure = ops.max(ops.log_softmax(ops.cast(readout(states), "float32"), axis=-1), axis=-1)
                better = sure > best
                answer, best = ops.where(better[:, None, None], states, answer), ops.where(better, sure, best)
            return (states, answer, best), kept(found if trace else {}, states, every_step)

        best = ops.zeros_like(ops.cast(given[:, 0, 0], "float32")) - 1e30
        (states, answer, _), found = repeat(step, (given, given, best), most, self.seeds())
        return answer if confident else states, found

    def needed(self, tokens: int) -> int:
        """Returns T of so many tokens, rounded from float32 as in `rounds`."""
        per_token = np.float32(1.0 if self.per_token is None else self.per_token)
        return min(max(int(np.round(per_token * np.float32(tokens))) + self.extra, 1), MAX_STEPS)

    def rounds(self, mask: Tensor, most: int) -> Tensor:
        """Returns the number of rounds of each sequence, int32 of shape (B,)."""
        tokens = ops.sum(ops.cast(mask, "int32"), axis=1)
        if self.per_token is None:
            return ops.full_like(tokens, most)
        wanted = ops.cast(ops.round(self.per_token * ops.cast(tokens, "float32")), "int32") + self.extra
        return ops.clip(wanted, 1, most)

    def get_config(self) -> Config:
        own = {"per_token": self.per_token, "extra": self.extra, "injection": self.injection, "stop": self.stop}
        return {**super().get_config(), **own, "layers": 1 + len(self.others)}


alias("depth", "looped", "LoopedDepth")
