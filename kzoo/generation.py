"""Greedy decoding, compiled."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from kzoo import checks
from kzoo.annotations import Inputs, Structure, Tensor, Text, TokenIds
from kzoo.compiling import compile_for_backend, memory_errors
from kzoo.layers.functional.scan import while_loop
from kzoo.models.activation import at_once
from kzoo.preprocessing.padding import bucket
from kzoo.preprocessing.preprocessor import MAX_LENGTH

BATCH = 256
MAX_NUMBERS = 2**26  # of a tensor that is computed at once


class Generator:
    """Greedy decoding of a model that has `start_generation` and `generate_step`.

    `start_generation(inputs, length)` returns what every step reads, and the state before the first step, with room for
    `length` steps; `generate_step(token_ids, prepared, state)` the logits of the next token and the new state.

    The whole loop is one compiled function on JAX and TensorFlow; it stops when every sequence has ended. Shapes are
    padded to few sizes, so that inputs of other lengths rarely compile again; padding never changes an output.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.compiled: Callable[[Structure, int], Structure] | None = None

    def __call__(self, texts: Sequence[Text], max_length: int | None = None) -> list[str]:
        """Returns the output for each text.

        Args:
            texts: sequence of texts, each a string or a list of tokens.
            max_length: int. At most so many tokens, 1 to 100,010. Defaults to ten times the input's own, plus 10, or
                to the number that the preprocessor says.
        """
        preprocessor = self.model.text_preprocessor()
        return list(self.write([preprocessor.encode_source(text) for text in texts], max_length))

    def stream(self, texts: Iterable[Text], max_length: int | None = None) -> Iterator[str]:
        """Yields the output for each text; texts are read as they are needed, a batch at a time."""
        return self.write(map(self.model.text_preprocessor().encode_source, texts), max_length)

    def write(self, sources: Iterable[TokenIds], max_length: int | None) -> Iterator[str]:
        """Yields the output for each encoded source."""
        for batch in batches(self.model, sources):
            yield from map(self.model.preprocessor.decode, self.decode(batch, max_length).tolist())

    def decode(self, sources: Sequence[TokenIds], max_length: int | None = None) -> np.ndarray:
        """Returns the output ids of encoded sources, int32 of shape (B, max_length), padded after the end symbol."""
        preprocessor = self.model.preprocessor
        longest = max(map(len, sources))
        columns = bucket(longest)
        if max_length is not None:
            checks.integer("max_length", max_length, 1, 10 * MAX_LENGTH + 10)
        limits = np.array([preprocessor.steps(source, max_length) for source in sources])
        rows = full_batch(sources)
        inputs = preprocessor.prompts(rows, pad_to=columns)
        inputs["limits"] = np.resize(limits, len(rows)).astype("int32")
        # The length follows the padded source, not the source: all sources of a bucket are one compilation.
        highest = preprocessor.max_target_length(columns)
        length = bucket(max(int(limits.max()), highest if max_length is None else min(max_length, highest)))
        if self.compiled is None:
            self.compiled = compile_for_backend(self.model, self.greedy)
        with memory_errors(len(rows), longest):
            ids = keras.ops.convert_to_numpy(self.compiled(inputs, length))
        return ids[: len(sources), : limits.max()]

    def greedy(self, inputs: Inputs, length: int) -> Tensor:
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
        positions = ops.arange(length, dtype="int32")[None, :]

        def unfinished(t: Tensor, token: Tensor, ended: Tensor, output: Tensor, state: Structure) -> Tensor:
            return ops.logical_not(ops.all(ended))

        def step(t: Tensor, token: Tensor, ended: Tensor, output: Tensor, state: Structure) -> Structure:
            logits, state = self.model.generate_step(token, prepared, state)
            token = ops.where(ended, tokenizer.pad_id, ops.cast(ops.argmax(logits, axis=-1), "int32"))
            # A where over the whole row instead of a slice update: the latter has no TensorFlow kernel outside XLA.
            output = ops.where(positions == t, token[:, None], output)
            # Each row stops at its own limit, whatever the others are.
            ends = ops.logical_or(token == tokenizer.end_id, limits <= t + 1)
            return t + 1, token, ops.logical_or(ended, ends), output, state

        output = ops.full((batch, length), tokenizer.pad_id, dtype="int32")
        first = (ops.convert_to_tensor(0, "int32"), start, ops.zeros((batch,), dtype="bool"), output, state)
        return while_loop(unfinished, step, first)[3]


def batches(model: Any, sources: Iterable[TokenIds]) -> Iterator[Sequence[TokenIds]]:
    """Yields encoded sources in batches, in their order: at most 256, and fewer where they are long.

    Raises:
        InputError: memory does not suffice for one of them; of a sequence, before the first batch.
    """
    sizes: dict[int, int] = {}

    def size(source: TokenIds) -> int:
        n = bucket(len(source))
        if n not in sizes:
            sizes[n] = at_once(model, n, BATCH, MAX_NUMBERS)
        return sizes[n]

    if isinstance(sources, Sequence):
        for source in sources:
            size(source)
    batch: list[TokenIds] = []
    most = BATCH
    for source in sources:
        if len(batch) >= min(most, size(source)):
            yield batch
            batch, most = [], BATCH
        most = min(most, size(source))
        batch.append(source)
    if batch:
        yield batch


def full_batch(sources: Sequence[TokenIds]) -> list[TokenIds]:
    """Returns the sources, the first one repeated until their number is a power of two: few shapes to compile."""
    return [*sources, *[sources[0]] * ((1 << (len(sources) - 1).bit_length()) - len(sources))]
