"""The recurrent decoder that attends."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, Prepared, Shape, Spec, States, Tensor, Trace
from kzoo.layers.attention.attention_cell import AttentionCell
from kzoo.layers.functional.dense import recurrent_initializers
from kzoo.layers.functional.scan import scan
from kzoo.registry import get, register, serialize


@register("layer")
class AttentionDecoder(keras.layers.Layer):
    """A GRU that reads a memory through an attention cell before each step.

    As in [Ray Chowdhury and Caragea, 2023](https://arxiv.org/abs/2305.20019), section 3: the last hidden state is the
    query, its context joins the embedding of the last token, and the first hidden state is the encoder's summary:

        c_t = attention(h_{t-1}),   h_t = GRU([E(y_{t-1}) ; c_t], h_{t-1}),   h_0 = e_cls

    With `noise`, while training each h_{t-1} first gets noise from N(0, noise^2), as in
    [Lim et al., 2021](https://arxiv.org/abs/2102.04877): what the decoder has to remember for many steps must survive
    it, and then lasts at lengths that training does not have.

    Args:
        attention: name, config or object: an `AttentionCell`.
        noise: float. Standard deviation of the noise on the states while training, 0 to 10. Defaults to 0.

    Call arguments:
        inputs: tensor of shape (B, T, E), the embedded tokens y_{t-1}.
        memory: tensor of shape (B, S, D), D the size of the state.
        memory_mask: bool tensor of shape (B, S).
        summary: tensor of shape (B, D).
        training: bool.

    Returns:
        The hidden states (B, T, D), and the trace: `weights` (B, T, S) and the attention's states, each (B, T).

    Example:

    ```python
    decoder = kzoo.layers.AttentionDecoder("onestep")
    memory, mask, summary = np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool), np.ones((2, 6), "float32")
    hidden, trace = decoder(np.ones((2, 7, 3), "float32"), memory, mask, summary)
    assert hidden.shape == (2, 7, 6) and trace["weights"].shape == (2, 7, 5)
    ```
    """

    def __init__(self, attention: Spec, noise: float = 0.0, **kwargs: Any) -> None:
        super().__init__(autocast=False, **kwargs)
        self.attention: AttentionCell = get("attention", attention, dtype=self.dtype_policy)
        self.noise = checks.number("noise", noise, 0.0, 10.0)
        self.seeds = keras.random.SeedGenerator() if noise else None

    def build(self, inputs_shape: Shape, memory_shape: Shape, *others: Shape) -> None:
        size = memory_shape[-1]
        self.cell = keras.layers.GRUCell(size, **recurrent_initializers(size), dtype=self.dtype_policy)
        self.cell.build((None, inputs_shape[-1] + size))
        self.attention.build((None, size), memory_shape)

    def call(
        self, inputs: Tensor, memory: Tensor, memory_mask: Tensor, summary: Tensor, training: bool = False
    ) -> tuple[Tensor, States]:
        prepared, state = self.start(memory, memory_mask, summary)
        rows = {"inputs": ops.swapaxes(inputs, 0, 1)}
        if self.seeds and training:
            shape = (*ops.shape(rows["inputs"])[:2], summary.shape[-1])
            rows["noise"] = self.noise * keras.random.normal(shape, dtype=self.compute_dtype, seed=self.seeds)

        def step(state: States, row: Prepared) -> tuple[States, Trace]:
            if "noise" in row:
                state = {**state, "hidden": state["hidden"] + row["noise"]}
            state, weights = self.step(row["inputs"], prepared, state)
            return state, {"weights": weights, **state}

        _, trace = scan(step, state, rows)
        trace = keras.tree.map_structure(lambda x: ops.swapaxes(x, 0, 1), trace)
        return trace.pop("hidden"), trace

    def start(self, memory: Tensor, memory_mask: Tensor, summary: Tensor) -> tuple[Prepared, States]:
        """Returns what the steps need of the memory, and the state before the first."""
        prepared = self.attention.prepare(memory, memory_mask, summary)
        hidden = ops.cast(summary, self.compute_dtype)
        return prepared, {"hidden": hidden, **self.attention.get_initial_state(prepared)}

    def step(self, inputs: Tensor, prepared: Prepared, state: States) -> tuple[States, Tensor]:
        """Makes one step on embedded tokens (B, E); returns the new state and the weights (B, S)."""
        hidden = state["hidden"]
        attention_state = {key: value for key, value in state.items() if key != "hidden"}
        context, weights, attention_state = self.attention(hidden, prepared, attention_state)
        _, [hidden] = self.cell(ops.concatenate([inputs, context], axis=-1), [hidden])
        return {"hidden": hidden, **attention_state}, weights

    def compute_mask(self, *args: Any, **kwargs: Any) -> None:
        return None

    def get_config(self) -> Config:
        return {**super().get_config(), "attention": serialize(self.attention), "noise": self.noise}
