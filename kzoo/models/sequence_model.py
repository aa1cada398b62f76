"""What every model of the zoo can do: presets, strings in and out, sensible defaults for `fit`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import keras

from kzoo.data.batches import Batches
from kzoo.errors import InputError
from kzoo.generation import Generator
from kzoo.metrics import SequenceAccuracy, TokenAccuracy
from kzoo.preprocessing.preprocessor import Seq2SeqPreprocessor
from kzoo.tasks import Task, TaskData
from kzoo.tasks import get as get_task


class SequenceModel(keras.Model):
    """Base of the models: an ordinary `keras.Model` that also takes examples and texts.

    Args:
        vocabulary_size: int. Number of token ids.
        preprocessor: Seq2SeqPreprocessor or its config, for models that take texts. Its vocabulary must have
            `vocabulary_size` ids. Defaults to None: the model takes arrays only.
    """

    preprocessor_class: type = Seq2SeqPreprocessor
    task_arguments: tuple[str, ...] = ("vocabulary_size",)  # what `from_task` takes from the task
    objectives: tuple[str, ...] = ()  # what a recipe may train it on besides its target

    def __init__(self, vocabulary_size: int, preprocessor: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if isinstance(preprocessor, dict):
            preprocessor = self.preprocessor_class(**preprocessor)
        if preprocessor is not None and preprocessor.tokenizer.vocabulary_size != vocabulary_size:
            size = preprocessor.tokenizer.vocabulary_size
            raise InputError(f"the preprocessor has {size} token ids, but vocabulary_size is {vocabulary_size}")
        self.preprocessor = preprocessor
        self.task_name: str | None = None
        self.generator = Generator(self)

    @classmethod
    def from_task(cls, task: str | Task, **config: Any) -> Self:
        """Returns an untrained model for a task: its vocabulary, and everything else from `config`.

        Args:
            task: str or Task.
            **config: arguments of the model.
        """
        task = get_task(task)
        preprocessor = Seq2SeqPreprocessor(task.vocabulary, source_end=task.source_end)
        model = cls(vocabulary_size=preprocessor.tokenizer.vocabulary_size, preprocessor=preprocessor, **config)
        model.task_name = task.name
        return model

    @classmethod
    def from_preset(cls, preset: str | Path, load_weights: bool = True) -> Self:
        """Returns the model of a preset, as `kzoo.from_preset` does, which must be of this class.

        Raises:
            PresetError: the preset is of another class, or `kzoo.from_preset` refuses it.
        """
        from kzoo.saving.presets_io import from_preset

        return from_preset(preset, load_weights=load_weights, expected=cls)

    def save_to_preset(self, folder: str | Path) -> None:
        """Writes the model as a preset folder; see `kzoo.saving.presets_io.save_to_preset`."""
        from kzoo.saving.presets_io import save_to_preset

        save_to_preset(self, folder)

    def generate(self, inputs: str | Sequence[str], max_length: int | None = None) -> str | list[str]:
        """Returns the greedy output for a text, or the list of outputs for a list of texts.

        Args:
            inputs: str or sequence of str, tokens separated by spaces.
            max_length: int. Stops there even without an end symbol. Defaults to ten times the input's own, plus 10, or
                to the number of tokens that a target has where it has no end symbol.

        Raises:
            InputError: an empty or too long input, an unknown token, or a model without preprocessor.
        """
        if isinstance(inputs, str):
            return self.generator([inputs], max_length)[0]
        return self.generator(list(inputs), max_length)

    def compile(
        self, optimizer: Any = "auto", loss: Any = "auto", *, weighted_metrics: Any = "auto", **kwargs: Any
    ) -> None:
        """Configures training as `keras.Model.compile` does, with the papers' defaults.

        Args:
            optimizer: "auto" is Adam at 1e-3 with global gradient norm clipped to 5.
            loss: "auto" is the cross-entropy averaged over the real tokens of the batch.
            weighted_metrics: "auto" is sequence and token accuracy.
            **kwargs: of `keras.Model.compile`.
        """
        if optimizer == "auto":
            optimizer = keras.optimizers.Adam(1e-3, epsilon=1e-8, global_clipnorm=5.0)
        if isinstance(loss, str) and loss == "auto":
            loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="mean_with_sample_weight")
        if weighted_metrics == "auto":
            weighted_metrics = [SequenceAccuracy(), TokenAccuracy()]
        super().compile(optimizer=optimizer, loss=loss, weighted_metrics=weighted_metrics, **kwargs)

    def compile_from_config(self, config: dict[str, Any]) -> None:
        """Compiles as a saved model was; Keras calls it when it loads a `.keras` file."""
        self.compile(**keras.saving.deserialize_keras_object(config))
        if self.optimizer is not None:
            self.optimizer.build(self.trainable_variables)

    def fit(self, x: Any = None, y: Any = None, batch_size: int | None = None, **kwargs: Any) -> Any:
        """Trains as `keras.Model.fit` does; a model that was not compiled is compiled with the defaults.

        Args:
            x: a task's data (`task.dataset("train")`), a list of (source, target) pairs, a list of source texts with
                their targets in `y`, or anything that `keras.Model.fit` takes.
            y: sequence of str, if `x` is a list of source texts.
            batch_size: int. Defaults to 32.
            **kwargs: of `keras.Model.fit`; `validation_data` takes the same forms as `x` (texts as a list of pairs).
        """
        if not self.compiled:
            self.compile()
        x, y, batch_size = self._batches(x, y, batch_size, shuffle=kwargs.get("shuffle", True))
        if kwargs.get("validation_data") is not None:
            kwargs["validation_data"] = self._batches(kwargs["validation_data"], None, batch_size, shuffle=False)[0]
        if self.optimizer is not None and not self.optimizer.built:
            self.optimizer.build(self.trainable_variables)  # or TensorFlow traces the step twice, to find its variables
        return super().fit(x, y, batch_size=batch_size, **kwargs)

    def evaluate(self, x: Any = None, y: Any = None, batch_size: int | None = None, **kwargs: Any) -> Any:
        """Evaluates as `keras.Model.evaluate` does, on the same forms of data as `fit`.

        `kzoo.evaluate` gives the accuracy by length.
        """
        if not self.compiled:
            self.compile()
        x, y, batch_size = self._batches(x, y, batch_size, shuffle=False)
        return super().evaluate(x, y, batch_size=batch_size, **kwargs)

    def _batches(self, x: Any, y: Any, batch_size: int | None, shuffle: bool) -> tuple[Any, Any, int | None]:
        texts = isinstance(x, (list, tuple)) and len(x) > 0 and isinstance(x[0], str)
        if texts:
            if y is None or len(y) != len(x):
                raise InputError(f"{len(x)} source texts need as many targets in y")
            x = list(zip(x, y, strict=True))
        pairs = isinstance(x, list) and len(x) > 0 and all(isinstance(p, tuple) and len(p) == 2 for p in x)
        if not isinstance(x, TaskData) and not pairs:
            return x, y, batch_size
        seed = int(keras.random.SeedGenerator().state.numpy()[0]) if shuffle else None
        return Batches(x, self.text_preprocessor(), batch_size or 32, seed=seed), None, None

    def text_preprocessor(self) -> Seq2SeqPreprocessor:
        """Returns the preprocessor.

        Raises:
            InputError: the model has none.
        """
        if self.preprocessor is None:
            raise InputError("this model takes arrays only: build it with from_task, or pass a preprocessor")
        return self.preprocessor

    def get_config(self) -> dict[str, Any]:
        preprocessor = None if self.preprocessor is None else self.preprocessor.get_config()
        return {**super().get_config(), "preprocessor": preprocessor}
