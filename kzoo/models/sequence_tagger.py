"""A network that reads a sequence and answers at its tokens."""

from typing import Any

from keras import ops

from kzoo import checks
from kzoo.annotations import Config, Inputs, Spec, Structure, Tensor, Text
from kzoo.errors import InputError
from kzoo.layers.recurrent.reader import Reader
from kzoo.models.named_arrays import Trace
from kzoo.models.reader_model import ReaderModel
from kzoo.models.tracing import trace_tagger
from kzoo.preprocessing.preprocessor import Preprocessor
from kzoo.preprocessing.tagger_preprocessor import TaggerPreprocessor
from kzoo.registry import register


@register("model")
class SequenceTagger(ReaderModel):
    """A network that reads a sequence and answers at each of its tokens that is asked.

    So [Merrill et al., 2024](https://arxiv.org/abs/2404.08819) ask for the word problems of groups, and
    [Arora et al., 2024](https://arxiv.org/abs/2312.04927) for associative recall. It is a `RecurrentClassifier` that
    answers not at the last token alone:

        h_1 .. h_n = reader(dropout(E(x_1 .. x_n))),   logits_t = W h_t + b

    Where a task says so (`Task.target_room`), a target and its end symbol are written into the first columns, whatever
    tokens stand there, as by the Neural GPU of [Kaiser and Sutskever, 2016](https://arxiv.org/abs/1511.08228). That
    needs a reader that sees the whole source from every column. With `layout={"behind": True}` they stand behind the
    source, and a reader that goes from left to right can write, as the networks of
    [Deletang et al., 2023](https://arxiv.org/abs/2207.02098); see `TaggerPreprocessor`.

    With a `RewritingReader` the answers are the first of its values, and each of its steps is trained on the rows that
    the task gives, see `RowsPreprocessor`.

    Args:
        vocabulary_size: int. Number of token ids V, 4 to 65,536: answers are all but the last three, which are the
            symbols for start, end and padding; where the preprocessor says that targets have an end symbol, all but the
            last.
        reader: name, config or object of the kind "reader", a `Reader`. Defaults to "lstm".
        embedding_units: int. Size of the embeddings. Defaults to 16.
        units: int. Size of the state, where the reader does not say itself. Defaults to its own.
        layers: int. Likewise, of a reader that has layers. Defaults to 1.
        dropout: float. Rate on the embeddings while training, and between the layers of the reader where it has several
            and does not say itself. Defaults to 0.
        preprocessor: TaggerPreprocessor or its config, for models that take texts.

    Call arguments:
        inputs: dict of `token_ids` int (B, T) and `padding_mask` bool (B, T); with `rows` int (B, S, T), of a
            `RewritingReader`, to read what it writes after each of so many rows.
        training: bool.

    Returns:
        Logits of the answer at each token, float32 of shape (B, T, A) with A the number of answers; with `rows` those
        of the values in the row after each, of shape (B, S, T, values).

    Raises:
        InputError: an argument is out of range or does not apply, or the reader is unknown or has one state only.

    Example:

    ```python
    model = kzoo.models.SequenceTagger.from_task("s3", units=8)
    x, y, weight = model.preprocessor([("g1 g1 g2", "g1 g0 g2")])
    assert model(x).shape == (1, 3, 6) and len(model.generate("g1 g1 g2").split()) == 3
    ```
    """

    preprocessor_class = TaggerPreprocessor
    objectives = ("intermediate",)
    input_names = ("token_ids", "padding_mask")

    def __init__(
        self,
        vocabulary_size: int,
        reader: Spec = "lstm",
        embedding_units: int = 16,
        units: int | None = None,
        layers: int | None = None,
        dropout: float = 0.0,
        preprocessor: Preprocessor | Config | None = None,
        **kwargs: Any,
    ) -> None:
        vocabulary_size = checks.integer("vocabulary_size", vocabulary_size, 4, 65_536)
        super().__init__(vocabulary_size, preprocessor, **kwargs)
        self.vocabulary_size = vocabulary_size
        self.add_reader(vocabulary_size, reader, embedding_units, units, layers, dropout)
        if not isinstance(self.reader, Reader):
            raise InputError(f"the reader of a SequenceTagger is a Reader, not a {type(self.reader).__name__}")
        self.build()

    @property
    def answers(self) -> int:
        return self.vocabulary_size - 3 if self.preprocessor is None else int(self.preprocessor.answers)

    def call(self, inputs: Inputs, training: bool = False) -> Tensor:
        if "rows" in inputs:
            return self.reader.next_scores(*self.embed(inputs, training), inputs["rows"], training=training)
        return self.classify(self.states(inputs, training))

    def states(self, inputs: Inputs, training: bool = False) -> Tensor:
        """Returns the states h, of shape (B, T, units)."""
        return self.reader.states(*self.embed(inputs, training), training=training)

    def start_generation(self, inputs: Inputs, length: int) -> tuple[Structure, Structure]:
        """Returns the states and the turn of each token that is asked, 0 of others; and the turn of the first answer.

        The whole source is read here, and each step gives the answer that is next.
        """
        asked = ops.cast(self.preprocessor.are_asked(inputs["token_ids"]), "int32")
        prepared = {"states": self.states(inputs), "turns": asked * ops.cumsum(asked, axis=1)}
        return prepared, ops.ones_like(asked[:, 0])

    def generate_step(self, token_ids: Tensor, prepared: Structure, state: Structure) -> tuple[Tensor, Structure]:
        """Returns the logits (B, A) of the next answer and the turn after it; the last answer is not read."""
        is_next = ops.cast(prepared["turns"] == state[:, None], self.compute_dtype)
        return self.classify(ops.einsum("bt,btd->bd", is_next, prepared["states"])), state + 1

    def trace(self, text: Text) -> Trace:
        """Returns the probabilities of the answers at every token of a text: see `Trace`."""
        return trace_tagger(self, text)

    def get_config(self) -> Config:
        return {**super().get_config(), "vocabulary_size": self.vocabulary_size}
