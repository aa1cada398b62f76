"""The recurrent decoder that attends."""

from typing import Any

import keras
from keras import ops

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

    Args:
        attention: name, config or object: an `AttentionCell`.

    Call arguments:
        inputs: tensor of shape (B, T, E), the embedded tokens y_{t-1}.
        memory: tensor of shape (B, S, D), D the size of the state.
        memory_mask: bool tensor of shape (B, S).
        summary: tensor of shape (B, D).

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

    def __init__(self, attention: Spec, **kwargs: Any) -> None:
        super().__init__(autocast=False, **kwargs)
        self.attention: AttentionCell = get("attention", attention, dtype=self.dtype_policy)

    def build(self, inputs_shape: Shape, memory_shape: Shape, *others: Shape) -> None:
        size = memory_shape[-1]
        self.cell = keras.layers.GRUCell(size, **recurrent_initializers(size), dtype=self.dtype_policy)
        self.cell.build((None, inputs_shape[-1] + size))
        self.attention.build((None, size), memory_shape)

    def call(self, inputs: Tensor, memory: Tensor, memory_mask: Tensor, summary: Tensor) -> tuple[Tensor, States]:
        prepared, state = self.start(memory, memory_mask, summary)

        def step(state: States, x: Tensor) -> tuple[States, Trace]:
            state, weights = self.step(x, prepared, state)
            return state, {"weights": weights, **state}

        _, trace = scan(step, state, ops.swapaxes(inputs, 0, 1))
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
        return {**super().get_config(), "attention": serialize(self.attention)}
