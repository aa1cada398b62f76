"""Greedy decoding, compiled."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from kzoo import checks
from kzoo.layers.functional.scan import while_loop
from kzoo.preprocessing.preprocessor import MAX_LENGTH, bucket

BATCH = 256


class Generator:
    """Greedy decoding of a model that has `start_generation` and `generate_step`.

    `start_generation(inputs, length)` returns what every step reads, and the state before the first step, with room for
    `length` steps; `generate_step(token_ids, prepared, state)` the logits of the next token and the new state.

    The whole loop is one compiled function on JAX and TensorFlow; it stops when every sequence has ended. Shapes are
    padded to few sizes, so that inputs of other lengths rarely compile again; padding never changes an output.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.compiled: Any = None

    def __call__(self, texts: Sequence[str], max_length: int | None = None) -> list[str]:
        """Returns the output for each text.

        Args:
            texts: sequence of str.
            max_length: int. At most so many tokens, 1 to 100,010. Defaults to ten times the input's own, plus 10, or
                to the number that the preprocessor says.
        """
        preprocessor = self.model.text_preprocessor()
        sources = [preprocessor.encode_source(text) for text in texts]
        outputs: list[str] = []
        for i in range(0, len(sources), BATCH):
            ids = self.decode(sources[i : i + BATCH], max_length)
            outputs += [preprocessor.decode(row) for row in ids.tolist()]
        return outputs

    def decode(self, sources: Sequence[Sequence[int]], max_length: int | None = None) -> np.ndarray:
        """Returns the output ids of encoded sources, int32 of shape (B, max_length), padded after the end symbol."""
        preprocessor = self.model.preprocessor
        longest = max(map(len, sources))
        if max_length is not None:
            checks.integer("max_length", max_length, 1, 10 * MAX_LENGTH + 10)
        limits = np.array([preprocessor.steps(source, max_length) for source in sources])
        rows = [*sources, *[sources[0]] * ((1 << (len(sources) - 1).bit_length()) - len(sources))]
        inputs = preprocessor.prompts(rows, pad_to=bucket(longest))
        inputs["limits"] = np.resize(limits, len(rows)).astype("int32")
        if self.compiled is None:
            self.compiled = compile_for_backend(self.model, self.greedy)
        ids = keras.ops.convert_to_numpy(self.compiled(inputs, bucket(int(limits.max()))))
        return ids[: len(sources), : limits.max()]

    def greedy(self, inputs: dict[str, Any], length: Any) -> Any:
        """Returns the output ids, an int32 tensor of shape (B, length), padded after the end symbol.

        Args:
            inputs: dict of tensors: what generation begins with, as `prompts` of the preprocessor has it, and `limits`
                int (B,), the most tokens of each row.
            length: int, at least the highest limit.
        """
        tokenizer = self.model.preprocessor.tokenizer
        start, limits = inputs["last_token_ids"], inputs["limits"]
        prepared, state = self.model.start_generation(inputs, length)
        batch = ops.shape(start)[0]
        places = ops.arange(length, dtype="int32")[None, :]

        def unfinished(t: Any, token: Any, ended: Any, output: Any, state: Any) -> Any:
            return ops.logical_not(ops.all(ended))

        def step(t: Any, token: Any, ended: Any, output: Any, state: Any) -> tuple[Any, ...]:
            logits, state = self.model.generate_step(token, prepared, state)
            token = ops.where(ended, tokenizer.pad_id, ops.cast(ops.argmax(logits, axis=-1), "int32"))
            # A where over the whole row instead of a slice update: the latter has no TensorFlow kernel outside XLA.
            output = ops.where(places == t, token[:, None], output)
            # Each row stops at its own limit, whatever the others are.
            ends = ops.logical_or(token == tokenizer.end_id, limits <= t + 1)
            return t + 1, token, ops.logical_or(ended, ends), output, state

        output = ops.full((batch, length), tokenizer.pad_id, dtype="int32")
        first = (ops.convert_to_tensor(0, "int32"), start, ops.zeros((batch,), dtype="bool"), output, state)
        return while_loop(unfinished, step, first)[3]


def compile_for_backend(model: Any, function: Any) -> Any:
    """Returns `function(arrays, length)` compiled where the backend compiles, without gradients.

    Weights are arguments of the compiled function, so it stays right, and is not compiled again, when they change.
    """
    backend = keras.config.backend()
    if backend == "jax":
        import jax

        def stateless(values: Any, arrays: Any, length: int) -> Any:
            with keras.StatelessScope(state_mapping=list(zip(model.variables, values, strict=True))):
                return function(arrays, length)

        run = jax.jit(stateless, static_argnums=2)
        return lambda arrays, length: run([v.value for v in model.variables], arrays, length)
    if backend == "tensorflow":
        import tensorflow as tf

        return tf.function(function)
    import torch

    return torch.no_grad()(
        lambda arrays, length: function(keras.tree.map_structure(ops.convert_to_tensor, arrays), length)
    )
