"""What the models with one answer a sequence have in common."""

from collections.abc import Sequence
from typing import Any, Self

import keras
import numpy as np

from kzoo import checks
from kzoo.errors import InputError
from kzoo.models.sequence_model import SequenceModel
from kzoo.preprocessing.classifier_preprocessor import ClassifierPreprocessor
from kzoo.preprocessing.preprocessor import bucket
from kzoo.tasks import Task
from kzoo.tasks import get as get_task
from kzoo.tasks.classification import ClassificationTask

BATCH = 256


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
    boundaries = True

    def __init__(self, vocabulary_size: int, labels: int, preprocessor: Any = None, **kwargs: Any) -> None:
        checks.integer("vocabulary_size", vocabulary_size, 2, 65_536)
        checks.integer("labels", labels, 2, 65_536)
        super().__init__(vocabulary_size, preprocessor, **kwargs)
        if self.preprocessor is not None and len(self.preprocessor.labels) != labels:
            raise InputError(f"the preprocessor has {len(self.preprocessor.labels)} labels, but labels is {labels}")
        self.vocabulary_size, self.labels = vocabulary_size, labels

    @classmethod
    def from_task(cls, task: str | Task, **config: Any) -> Self:
        """Returns an untrained model for a task: its vocabulary and labels, and everything else from `config`.

        Args:
            task: str or ClassificationTask.
            **config: arguments of the model.

        Raises:
            InputError: the targets of the task are no labels.
        """
        task = get_task(task)
        if not isinstance(task, ClassificationTask):
            raise InputError(f"{cls.__name__} answers with one label, and the targets of {task.name} are sequences")
        preprocessor = ClassifierPreprocessor(task.vocabulary, task.labels, cls.boundaries, task.characters)
        sizes = {"vocabulary_size": preprocessor.tokenizer.vocabulary_size, "labels": len(task.labels)}
        model = cls(**sizes, preprocessor=preprocessor, **config)
        model.task_name = task.name
        return model

    def compile(
        self, optimizer: Any = "auto", loss: Any = "auto", *, weighted_metrics: Any = "auto", **kwargs: Any
    ) -> None:
        """Configures training as `SequenceModel.compile` does; the "auto" metric is the share of right labels."""
        if isinstance(weighted_metrics, str) and weighted_metrics == "auto":
            weighted_metrics = [keras.metrics.SparseCategoricalAccuracy(name="sequence_accuracy")]
        super().compile(optimizer, loss, weighted_metrics=weighted_metrics, **kwargs)

    def generate(self, inputs: str | Sequence[str], max_length: int | None = None) -> str | list[str]:
        """Returns the label of a text, or the list of labels of a list of texts.

        Args:
            inputs: str or sequence of str.
            max_length: int. Means nothing here: a label is one token.

        Raises:
            InputError: an empty or too long input, an unknown token, or a model without preprocessor.
        """
        if isinstance(inputs, str):
            return self.generate([inputs])[0]
        preprocessor: Any = self.text_preprocessor()
        sources = [preprocessor.encode_source(text) for text in inputs]
        found: list[str] = []
        for i in range(0, len(sources), BATCH):
            rows = sources[i : i + BATCH]
            # Padded to few sizes, so that other inputs rarely compile again.
            full = [*rows, *[rows[0]] * ((1 << (len(rows) - 1).bit_length()) - len(rows))]
            logits = self.predict_on_batch(preprocessor.sources(full, bucket(max(map(len, full)))))
            found += [preprocessor.labels[k] for k in np.argmax(logits[: len(rows)], axis=-1)]
        return found

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "vocabulary_size": self.vocabulary_size, "labels": self.labels}
