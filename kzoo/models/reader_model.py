"""What the models with a reader have in common."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, Inputs, Shape, Spec, Tensor
from kzoo.errors import InputError
from kzoo.layers.functional.dense import dense
from kzoo.layers.recurrent.rewriting_reader import RewritingReader
from kzoo.models.sequence_model import SequenceModel
from kzoo.registry import get, parameters_of, resolve, serialize


class ReaderModel(SequenceModel):
    """Base of the models that embed a sequence, read it, and answer from the states of the reader.

    A subclass calls `add_reader` in its constructor, and says with `answers` how many there are to choose from.
    """

    @property
    def answers(self) -> int:
        """int. Number of classes."""
        raise NotImplementedError

    def add_reader(
        self,
        vocabulary_size: int,
        reader: Spec,
        embedding_units: int,
        units: int | None,
        layers: int | None,
        dropout: float,
    ) -> None:
        """Makes the embeddings, their dropout and the reader, of arguments that subclasses document."""
        self.embedding_units = embedding_units = checks.integer("embedding_units", embedding_units, 1, 65_536)
        policy: Config = {"dtype": self.dtype_policy}
        self.dropout = keras.layers.Dropout(checks.number("dropout", dropout, 0.0, 0.99), **policy)
        between = {"dropout": dropout} if _has_layers(reader, layers) else {}
        self.reader: Any = get("reader", reader, {"units": units, "layers": layers}, **policy, **between)
        normal = keras.initializers.RandomNormal(stddev=1.0)
        self.embedding = keras.layers.Embedding(vocabulary_size, embedding_units, normal, **policy)

    def build(self, input_shape: Shape | None = None) -> None:
        self.embedding.build((None, None))
        self.reader.build((None, None, self.embedding_units))
        size = self.reader.compute_output_shape((None, None, self.embedding_units))[-1]
        if isinstance(self.reader, RewritingReader):  # its first values are the answers
            if self.reader.values <= self.answers:
                raise InputError(
                    f"values must be more than the number of answers, {self.answers}, not {self.reader.values}"
                )
        else:
            self.classes = dense(self.answers, size, size**-0.5, dtype="float32")
            self.classes.build((None, size))
        self.built = True

    def embed(self, inputs: Inputs, training: bool) -> tuple[Tensor, Tensor]:
        """Returns what the reader reads: the embeddings (B, T, E), and their mask (B, T)."""
        embedded = self.dropout(self.embedding(inputs["token_ids"]), training=training)
        return embedded, ops.cast(inputs["padding_mask"], "bool")

    def classify(self, states: Tensor) -> Tensor:
        """Returns float32 logits of the answers, of states of the reader."""
        if isinstance(self.reader, RewritingReader):
            return self.reader.scores(states)[..., : self.answers]
        return self.classes(states)

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "reader": serialize(self.reader),
            "embedding_units": self.embedding_units,
            "dropout": self.dropout.rate,
        }


def _has_layers(reader: Spec, layers: int | None) -> bool:
    """Whether a reader that is yet to be made has layers that dropout can be between."""
    if not isinstance(reader, (str, dict)):
        return False
    cls, config = resolve("reader", reader)
    default = parameters_of(cls).get("layers")
    return default is not None and (layers or config.get("layers") or default.default) != 1
