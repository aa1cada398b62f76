"""What every model of the zoo can do: presets, strings in and out, sensible defaults for `fit`."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, overload

import keras

from kzoo import checks
from kzoo.annotations import Array, Config, Text, Texts
from kzoo.errors import InputError, did_you_mean
from kzoo.generation import Generator
from kzoo.losses import cross_entropy
from kzoo.metrics import SequenceAccuracy, TokenAccuracy
from kzoo.models.grammar import check_texts
from kzoo.models.training_data import (
    ARRAYS,
    CONSTRUCTED,
    EXAMPLES,
    PREDICTED,
    UNROLLED,
    as_pairs,
    batches_of,
    check_arrays,
)
from kzoo.models.weights_kept import WeightsKept
from kzoo.preprocessing.preprocessor import Preprocessor
from kzoo.preprocessing.seq2seq_preprocessor import Seq2SeqPreprocessor
from kzoo.preprocessing.texts import texts_in, texts_of
from kzoo.registry import KERAS_ARGUMENTS, construct, parameters_of
from kzoo.tasks import Task, TaskData
from kzoo.tasks import get as get_task


class SequenceModel(WeightsKept):
    """Base of the models: an ordinary `keras.Model` that also takes examples and texts.

    A subclass says in `input_names` which arrays its `call` needs. A call of `fit`, `evaluate` or `predict` that fails
    leaves the weights as they were after the last step.

    Args:
        vocabulary_size: int. Number of token ids.
        preprocessor: Seq2SeqPreprocessor or its config, for models that take texts. Its vocabulary must have
            `vocabulary_size` ids. Defaults to None: the model takes arrays only.
    """

    objectives: ClassVar[tuple[str, ...]] = ()  # what a recipe may train it on besides its target
    preprocessor_class: ClassVar[Any] = Seq2SeqPreprocessor
    task_arguments: ClassVar[tuple[str, ...]] = ("vocabulary_size",)  # what `from_task` takes from the task
    input_names: ClassVar[tuple[str, ...]] = ()
    hints: Sequence[str] = ()  # tasks that are trained beside

    def __init__(self, vocabulary_size: int, preprocessor: Preprocessor | Config | None = None, **kwargs: Any) -> None:
        for key in kwargs:
            if key not in KERAS_ARGUMENTS:
                raise InputError(did_you_mean(f"argument of {type(self).__name__}", key, parameters_of(type(self))))
        super().__init__(**kwargs)
        made: Preprocessor | None
        made = self.preprocessor_class(**preprocessor) if isinstance(preprocessor, dict) else preprocessor
        if made is not None and (size := made.tokenizer.vocabulary_size) != vocabulary_size:
            raise InputError(f"the preprocessor has {size} token ids, but vocabulary_size is {vocabulary_size}")
        self.preprocessor: Any = made  # of the model's own family
        self.task_name: str | None = None
        self.preset_name: str | None = None
        self.mechanism: str | None = None
        self.supervision: list[str] | None = None
        self._by_default = False  # whether the optimizer is ours
        self.generator = Generator(self)

    @classmethod
    def from_task(cls, task: str | Task, layout: Config | None = None, **config: Any) -> Self:
        """Returns an untrained model for a task: its vocabulary, and everything else from `config`.

        Args:
            task: str or Task.
            layout: dict. How examples are laid out: `digits`, `aligned` and `running` of `CalculationPreprocessor`,
                `filled` of `DecoderPreprocessor`.
            **config: arguments of the model.

        Raises:
            InputError: the model or its preprocessor has no such argument, or the task is not for such a model.
        """
        task = get_task(task)
        if layout is not None and not isinstance(layout, dict):
            raise InputError(f"layout must be a mapping, not {checks.short(layout)}")
        allowed = cls.preprocessor_class.layout
        for name in layout or {}:
            if name not in allowed:
                raise InputError(did_you_mean(f"layout of a {cls.__name__}", name, allowed))
        preprocessor = cls.make_preprocessor(task, **(layout or {}))
        sizes: Config = {"vocabulary_size": preprocessor.tokenizer.vocabulary_size}
        if "labels" in cls.task_arguments:
            sizes["labels"] = len(preprocessor.labels)
        model: Self = construct(cls, {**sizes, "preprocessor": preprocessor, **config})
        model.task_name = task.name
        return model

    @classmethod
    def make_preprocessor(cls, task: Task, **layout: Any) -> Any:
        """Returns the preprocessor of a task for models of this class."""
        return cls.preprocessor_class.from_task(task, **layout)

    @classmethod
    def from_preset(cls, preset: str | Path, load_weights: bool = True, budget: float = 1.0) -> Self:
        """Returns the model of a preset, as `kzoo.from_preset` does, which must be of this class.

        Raises:
            PresetError: the preset is of another class, or `kzoo.from_preset` refuses it.
        """
        from kzoo.saving.preset import from_preset

        return from_preset(preset, load_weights=load_weights, expected=cls, budget=budget)

    def save_to_preset(self, folder: str | Path) -> None:
        """Writes the model as a preset folder; see `kzoo.saving.save.save_to_preset`."""
        from kzoo.saving.save import save_to_preset

        save_to_preset(self, folder)

    @overload
    def generate(  # type: ignore[overload-overlap]
        self, inputs: str, max_length: int | None = ..., strict: bool = ...
    ) -> str: ...

    @overload
    def generate(
        self, inputs: Iterable[Text] | Array, max_length: int | None = ..., strict: bool = ...
    ) -> list[str]: ...

    def generate(self, inputs: Texts, max_length: int | None = None, strict: bool = False) -> str | list[str]:
        """Returns the greedy output for a text, or the list of outputs for several.

        Args:
            inputs: str, tokens separated by spaces (without spaces where a token is a character); or a list, tuple,
                array or iterator of texts, each such a string or the list of its tokens; see `stream` for very many.
            max_length: int. Stops there even without an end symbol. Defaults to ten times the input's own, plus 10, or
                to the number of tokens that a target has where it has no end symbol.
            strict: bool. Whether to refuse, instead of a warning, what is no input of the model's task.

        Raises:
            InputError: an empty or too long input, one that is no text, an unknown token, a model without
                preprocessor, or an output that memory does not suffice for.
        """
        texts = [inputs] if isinstance(inputs, str) else texts_of(inputs)
        check_texts(self, texts, strict)
        outputs = self.generator(texts, max_length)
        return outputs[0] if isinstance(inputs, str) else outputs

    def stream(self, inputs: Iterable[Text], max_length: int | None = None) -> Iterator[str]:
        """Yields the output for each of any number of texts, as `generate`; at most 256 are read and held at a time."""
        return self.generator.stream(texts_in(inputs), max_length)

    def compile(
        self, optimizer: Any = "auto", loss: Any = "auto", *, weighted_metrics: Any = "auto", **kwargs: Any
    ) -> None:
        """Configures training as `keras.Model.compile` does, with the papers' defaults.

        Args:
            optimizer: "auto" is Adam at 1e-3, of a preset at 1e-4, with global gradient norm clipped to 5.
            loss: "auto" is the cross-entropy averaged over the real tokens of the batch.
            weighted_metrics: "auto" is sequence and token accuracy.
            **kwargs: of `keras.Model.compile`.
        """
        self._by_default = isinstance(optimizer, str) and optimizer == "auto"
        if self._by_default:
            rate = 1e-3 if self.preset_name is None else 1e-4  # what was trained is not to be lost
            optimizer = keras.optimizers.Adam(rate, epsilon=1e-8, global_clipnorm=5.0)
        if isinstance(loss, str) and loss == "auto":
            loss = cross_entropy()
        if kwargs.get("jit_compile") is True and keras.config.backend() == "torch":
            warnings.warn(UNROLLED, stacklevel=2)
        if weighted_metrics == "auto":
            weighted_metrics = [SequenceAccuracy(), TokenAccuracy()]
        super().compile(optimizer=optimizer, loss=loss, weighted_metrics=weighted_metrics, **kwargs)

    def compile_from_config(self, config: Config) -> None:
        """Compiles as a saved model was; Keras calls it when it loads a `.keras` file."""
        self.compile(**keras.saving.deserialize_keras_object(config))
        if self.optimizer is not None:
            self.optimizer.build(self.trainable_variables)

    def fit(self, x: Any = None, y: Any = None, batch_size: int | None = None, **kwargs: Any) -> Any:
        """Trains as `keras.Model.fit` does; a model that was not compiled is compiled with the defaults.

        Args:
            x: a task's data (`task.dataset("train")`), a list of (source, target) pairs or of mappings with "source"
                and "target", a data set of the package datasets or a pandas DataFrame with these columns, a list of
                source texts with their targets in `y`, a dict of arrays, or a data set or generator of batches; or an
                alignment, on whose pairs a `RecurrentSeq2Seq` is trained with supervised attention: see `kzoo.align`,
                `LearnedAttention`.
            y: sequence of str, if `x` is a list of source texts.
            batch_size: int. Defaults to 32.
            **kwargs: of `keras.Model.fit`; `validation_data` takes the same forms as `x` (texts as a list of pairs).

        Raises:
            InputError: the data is in no such form, or there is a `validation_split` of anything but arrays; the
                weights are constructed and the optimizer is the default.
        """
        if not self.compiled:
            self.compile()
        if self._by_default and "constructed" in (self.supervision or ()):
            raise InputError(CONSTRUCTED)
        if isinstance(x, TaskData):
            self.task_name = x.task.name  # as a preset that is saved then says
        x, y, batch_size = batches_of(self, x, y, batch_size, shuffle=kwargs.get("shuffle", True))
        if kwargs.get("validation_split") and not isinstance(x, dict):
            raise InputError("validation_split is of arrays; of pairs keep some apart and give them as validation_data")
        validation = kwargs.get("validation_data")
        if as_pairs(validation) is not None:
            kwargs["validation_data"] = batches_of(self, validation, None, batch_size, shuffle=False)[0]
        elif validation is not None:
            first = validation[0] if isinstance(validation, (tuple, list)) and validation else validation
            checked = check_arrays(first, self.input_names, EXAMPLES)
            kwargs["validation_data"] = checked if first is validation else (checked, *validation[1:])
        if self.optimizer is not None and not self.optimizer.built:
            self.optimizer.build(self.trainable_variables)  # or TensorFlow traces the step twice, to find its variables
        self.supervision = None  # of what it was trained on now, nobody says so
        with self._weights_kept():
            return super().fit(x, y, batch_size=batch_size, **kwargs)

    def evaluate(self, x: Any = None, y: Any = None, batch_size: int | None = None, **kwargs: Any) -> Any:
        """Evaluates as `keras.Model.evaluate` does, on the data of `fit`; `kzoo.evaluate` gives accuracy by length."""
        if not self.compiled:
            self.compile()
        x, y, batch_size = batches_of(self, x, y, batch_size, shuffle=False)
        with self._weights_kept():
            return super().evaluate(x, y, batch_size=batch_size, **kwargs)

    def predict(self, x: Any, batch_size: int | None = None, **kwargs: Any) -> Any:
        """Returns logits as `keras.Model.predict` does, of a dict of arrays or batches; `generate` takes texts."""
        x = check_arrays(x, self.input_names, PREDICTED)
        with self._weights_kept():
            return super().predict(x, batch_size=batch_size, **kwargs)

    def predict_on_batch(self, x: Any) -> Any:
        x = check_arrays(x, self.input_names, PREDICTED)
        with self._weights_kept():
            return super().predict_on_batch(x)

    def train_on_batch(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        with self._weights_kept():
            return super().train_on_batch(check_arrays(x, self.input_names, ARRAYS), *args, **kwargs)

    def test_on_batch(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        with self._weights_kept():
            return super().test_on_batch(check_arrays(x, self.input_names, ARRAYS), *args, **kwargs)

    def text_preprocessor(self) -> Any:
        """Returns the preprocessor.

        Raises:
            InputError: the model has none.
        """
        if self.preprocessor is None:
            raise InputError("this model takes arrays only: build it with from_task, or pass a preprocessor")
        return self.preprocessor

    def get_config(self) -> Config:
        preprocessor = None if self.preprocessor is None else self.preprocessor.get_config()
        return {**super().get_config(), "preprocessor": preprocessor}
