"""What is exported of a model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from keras import ops

from kzoo import tasks
from kzoo.annotations import Config, Inputs, Tensor
from kzoo.backend import no_other_backend
from kzoo.errors import InputError
from kzoo.models.protocols import Generates
from kzoo.preprocessing.padding import pad


class Program:
    """One function from the ids of sources to a model's answer: all of greedy decoding, for a model that generates.

    Args:
        model: a model of kzoo with a preprocessor.

    Call arguments:
        token_ids: int32 tensor of shape (B, S): encoded sources (`preprocessor.encode_source`), padded at the right
            with the padding symbol. B and S are any.

    Returns:
        dict of tensors. Of a model that generates `output_ids` int32 (B, L), padded after the end symbol, L the most
        that S columns can ask for. Of a classifier `label_ids` int32 (B,) and `logits` float32 (B, labels).
    """

    def __init__(self, model: Any) -> None:
        self.model, self.preprocessor = model, model.text_preprocessor()
        self.generates = isinstance(model, Generates)
        self.outputs = ("output_ids",) if self.generates else ("label_ids", "logits")

    def __call__(self, token_ids: Tensor) -> Inputs:
        inputs = self.preprocessor.tensors(token_ids)
        if self.generates:
            length = self.preprocessor.max_target_length(ops.shape(token_ids)[1])
            return {"output_ids": self.model.generator.greedy(inputs, length)}
        logits = self.model(inputs, training=False)
        return {"label_ids": ops.cast(ops.argmax(logits, axis=-1), "int32"), "logits": logits}

    def padded(self, sources: Sequence[Sequence[int]]) -> np.ndarray:
        """Returns encoded sources as the int32 array (B, S) that artifacts take."""
        return pad(sources, self.preprocessor.tokenizer.pad_id)

    def example(self, length: int) -> list[str]:
        """Returns the tokens of a source of the model's task, or of its vocabulary where no task has such a length."""
        try:
            source = list(tasks.get(self.model.task_name).examples("test", 1, length=length)[0].source)
            self.preprocessor.encode_source(source)
            return source
        except (InputError, LookupError):
            return self.preprocessor.any_source(np.random.default_rng(length), length)

    def text_rule(self) -> Config:
        """Returns how a text becomes ids and ids a text, with an example and its answer."""
        rule: Config = self.preprocessor.text_rule()
        source = ("" if rule["characters"] else " ").join(self.example(4))
        return {**rule, "example": {"source": source, "answer": self.model.generate(source)}}

    def description(self) -> Config:
        """Returns what a reader of the artifact needs: plain data."""
        with no_other_backend():
            config = {k: v for k, v in self.model.get_config().items() if k not in ("name", "dtype", "trainable")}
        tokenizer = self.preprocessor.tokenizer
        symbols = {"start_id": tokenizer.start_id, "end_id": tokenizer.end_id, "pad_id": tokenizer.pad_id}
        return {
            "class": type(self.model).__name__,
            "preset": self.model.preset_name,
            "task": self.model.task_name,
            "tokens": tokenizer.tokens,
            **symbols,
            "text": self.text_rule(),
            "preprocessor": {"class": type(self.preprocessor).__name__, "config": config.pop("preprocessor")},
            "config": config,
        }
