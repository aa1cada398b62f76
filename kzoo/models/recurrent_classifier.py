"""The recurrent baselines of the Neural Data Router paper."""

from typing import Any

from kzoo.annotations import Config, Inputs, Spec, Tensor, Text
from kzoo.errors import InputError
from kzoo.layers.functional.last_token import last_token
from kzoo.models.classifier import Classifier
from kzoo.models.named_arrays import Trace
from kzoo.models.reader_model import ReaderModel
from kzoo.models.tracing import trace_reader
from kzoo.preprocessing.preprocessor import Preprocessor
from kzoo.registry import register


@register("model")
class RecurrentClassifier(ReaderModel, Classifier):
    """A recurrent network that reads a sequence and answers from its last state.

    The baselines of [Csordas et al., 2022](https://arxiv.org/abs/2110.07732): "lstm", "bidirectional_lstm" and "dnc".
    No start and end symbols stand around the sequence.

        h_1 .. h_n = reader(dropout(E(x_1 .. x_n))),   logits = W h_n + b

    Args:
        vocabulary_size: int. Number of token ids V, 2 to 65,536.
        labels: int. Number of labels, 2 to 65,536.
        reader: name, config or object of the kind "reader". Defaults to "lstm".
        embedding_units: int. Size of the embeddings. Defaults to 16.
        units: int. Size of the state, where the reader does not say itself. Defaults to 200.
        layers: int. Likewise, of a reader that has layers. Defaults to 1.
        dropout: float. Rate on the embeddings while training, and between the layers of the reader where it has several
            and does not say itself. Defaults to 0.5.
        preprocessor: ClassifierPreprocessor or its config, for models that take texts.

    Call arguments:
        inputs: dict of `token_ids` int (B, T) and `padding_mask` bool (B, T); with `columns` int (B, K) to read so many
            other states too, of a reader that does not go backwards.
        training: bool.

    Returns:
        Logits, float32 of shape (B, labels); with `columns` of shape (B, 1 + K, labels), the answer first.

    Raises:
        InputError: an argument is out of range or does not apply, or the reader is unknown.

    Example:

    ```python
    model = kzoo.models.RecurrentClassifier.from_task("ctl_forward", reader="bidirectional_lstm", units=8)
    x, y, weight = model.preprocessor([("101 d a b", "011")])
    assert model(x).shape == (1, 8)
    ```

    Differences: in the code of Csordas et al. token 1 has no embedding, by accident, and an end symbol is read but not
    used, but by the bidirectional LSTM; the paper has neither.
    """

    boundaries = False
    causal = True
    objectives = ("intermediate",)

    def __init__(
        self,
        vocabulary_size: int,
        labels: int,
        reader: Spec = "lstm",
        embedding_units: int = 16,
        units: int | None = None,
        layers: int | None = None,
        dropout: float = 0.5,
        preprocessor: Preprocessor | Config | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocabulary_size, labels, preprocessor, **kwargs)
        self.add_reader(self.vocabulary_size, reader, embedding_units, units, layers, dropout)
        self.build()

    @property
    def answers(self) -> int:
        return self.labels

    def call(self, inputs: Inputs, training: bool = False) -> Tensor:
        embedded, mask = self.embed(inputs, training)
        if "columns" not in inputs:
            return self.classify(self.reader(embedded, mask, training=training))
        if self.reader.go_backwards:
            raise InputError("columns are read from left to right, and the reader goes backwards")
        return self.read(self.reader.states(embedded, mask, training=training), inputs)

    def logits(self, states: Tensor, padding_mask: Tensor) -> Tensor:
        return self.classify(last_token(states, padding_mask))

    def trace(self, text: Text) -> Trace:
        """Returns what the model would answer if a text ended after each of its tokens: see `Trace`."""
        return trace_reader(self, text)
