"""What the models with one answer a sequence have in common."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, overload

import keras
import numpy as np
from keras import ops

from kzoo import checks
from kzoo.annotations import Array, Config, Inputs, Tensor, Text, Texts, TokenIds
from kzoo.compiling import compile_for_backend, memory_errors
from kzoo.errors import InputError
from kzoo.generation import batches, full_batch
from kzoo.models.grammar import check_texts
from kzoo.models.sequence_model import SequenceModel
from kzoo.preprocessing.classifier_preprocessor import ClassifierPreprocessor
from kzoo.preprocessing.padding import bucket
from kzoo.preprocessing.preprocessor import Preprocessor
from kzoo.preprocessing.texts import texts_in, texts_of
from kzoo.tasks import Task


class Classifier(SequenceModel):
    """Base of the models that answer a sequence with one label.

    A subclass implements `call`, from a dict of `token_ids` int (B, T) and `padding_mask` bool (B, T) to float32 logits
    of shape (B, labels), and says with `boundaries` whether start and end symbols stand around its sequences.

    Args:
        vocabulary_size: int. Number of token ids, 2 to 65,536.
        labels: int. Number of labels, 2 to 65,536.
        preprocessor: ClassifierPreprocessor or its config, for models that take texts. Its vocabulary must have
            `vocabulary_size` ids, and `labels` labels. Defaults to None: the model takes arrays only.
    """

    preprocessor_class = ClassifierPreprocessor
    task_arguments = ("vocabulary_size", "labels")
    input_names = ("token_ids", "padding_mask")
    boundaries = True
    causal = False  # whether it is to give intermediate results from the tokens up to them alone

    def __init__(
        self, vocabulary_size: int, labels: int, preprocessor: Preprocessor | Config | None = None, **kwargs: Any
    ) -> None:
        vocabulary_size = checks.integer("vocabulary_size", vocabulary_size, 2, 65_536)
        labels = checks.integer("labels", labels, 2, 65_536)
        super().__init__(vocabulary_size, preprocessor, **kwargs)
        if self.preprocessor is not None and len(self.preprocessor.labels) != labels:
            raise InputError(f"the preprocessor has {len(self.preprocessor.labels)} labels, but labels is {labels}")
        self.vocabulary_size, self.labels = vocabulary_size, labels
        self._compiled_call: Callable[[Inputs, int], Tensor] | None = None

    def logits(self, states: Tensor, padding_mask: Tensor) -> Tensor:
        """Returns float32 logits of the answer, of states (B, T, D)."""
        raise NotImplementedError

    def classify(self, states: Tensor) -> Tensor:
        """Returns float32 logits of states, each by itself."""
        raise NotImplementedError

    def read(self, states: Tensor, inputs: Inputs) -> Tensor:
        """Returns float32 logits of states (B, T, D), of the answer and of the columns that the inputs name."""
        logits = self.logits(states, inputs["padding_mask"])
        if "columns" not in inputs:
            return logits
        others = ops.take_along_axis(states, ops.cast(inputs["columns"], "int32")[:, :, None], axis=1)
        return ops.concatenate([logits[:, None], self.classify(others)], axis=1)

    @classmethod
    def make_preprocessor(cls, task: Task, **layout: Any) -> ClassifierPreprocessor:
        return ClassifierPreprocessor.from_task(task, cls.boundaries)

    def compile(
        self, optimizer: Any = "auto", loss: Any = "auto", *, weighted_metrics: Any = "auto", **kwargs: Any
    ) -> None:
        """Configures training as `SequenceModel.compile` does; the "auto" metric is the share of right labels."""
        if isinstance(weighted_metrics, str) and weighted_metrics == "auto":
            weighted_metrics = [keras.metrics.SparseCategoricalAccuracy(name="sequence_accuracy")]
        super().compile(optimizer, loss, weighted_metrics=weighted_metrics, **kwargs)

    @overload
    def generate(  # type: ignore[overload-overlap]
        self, inputs: str, max_length: int | None = ..., strict: bool = ...
    ) -> str: ...

    @overload
    def generate(
        self, inputs: Iterable[Text] | Array, max_length: int | None = ..., strict: bool = ...
    ) -> list[str]: ...

    def generate(self, inputs: Texts, max_length: int | None = None, strict: bool = False) -> str | list[str]:
        """Returns the label of a text, or the list of labels of several.

        Args:
            inputs: str, or a list, tuple, array or iterator of texts, each a string or the list of its tokens.
            max_length: must be None: a label is one token.
            strict: bool. Whether to refuse, instead of a warning, what is no input of the model's task.

        Raises:
            InputError: an empty or too long input, one that is no text, an unknown token, or a model without
                preprocessor.
        """
        if max_length is not None:
            raise InputError(f"max_length does not apply: a {type(self).__name__} answers with one label")
        texts = [inputs] if isinstance(inputs, str) else texts_of(inputs)
        check_texts(self, texts, strict)
        encode = self.text_preprocessor().encode_source
        found = list(self._answers([encode(text) for text in texts]))
        return found[0] if isinstance(inputs, str) else found

    def stream(self, inputs: Iterable[Text], max_length: int | None = None) -> Iterator[str]:
        """Yields the label of each text, as `generate`, of texts that are read as they are needed."""
        if max_length is not None:
            raise InputError(f"max_length does not apply: a {type(self).__name__} answers with one label")
        return self._answers(map(self.text_preprocessor().encode_source, texts_in(inputs)))

    def _answers(self, sources: Iterable[TokenIds]) -> Iterator[str]:
        preprocessor = self.preprocessor
        for rows in batches(self, sources):
            longest = max(map(len, rows))
            with memory_errors(len(rows), longest):
                logits = self._compiled(preprocessor.sources(full_batch(rows), bucket(longest)))
                numbers = np.argmax(keras.ops.convert_to_numpy(logits)[: len(rows)], axis=-1)
            yield from (preprocessor.labels[k] for k in numbers)

    def _compiled(self, inputs: Inputs) -> Tensor:
        """Returns logits; any number of threads may ask for them, unlike with `predict_on_batch`."""
        if self._compiled_call is None:
            self._compiled_call = compile_for_backend(self, lambda inputs, _: self(inputs, training=False))
        return self._compiled_call(inputs, 0)

    def get_config(self) -> Config:
        return {**super().get_config(), "vocabulary_size": self.vocabulary_size, "labels": self.labels}
