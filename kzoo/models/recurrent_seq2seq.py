"""The GRU sequence-to-sequence model of the two location-attention papers."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, Inputs, Shape, Spec, States, Structure, Tensor, Text
from kzoo.errors import InputError
from kzoo.layers.functional.dense import dense
from kzoo.layers.recurrent.attention_decoder import AttentionDecoder
from kzoo.layers.recurrent.bidirectional_gru import BidirectionalGRU
from kzoo.layers.recurrent.boundary_vectors import BoundaryVectors
from kzoo.layers.recurrent.window_encoder import WindowEncoder
from kzoo.losses import attention_loss
from kzoo.models.named_arrays import Trace
from kzoo.models.sequence_model import SequenceModel
from kzoo.models.tracing import trace_recurrent
from kzoo.preprocessing.preprocessor import Preprocessor
from kzoo.registry import register, serialize

SYMBOLS = 3  # start, end and padding, the last ids of a vocabulary
UNLIKELY = -100.0  # the logit of what is not written this way
SMALLEST = 1e-9  # added to what a logarithm is taken of


@register("model")
class RecurrentSeq2Seq(SequenceModel):
    """A bidirectional GRU encoder and a GRU decoder, joined by any attention cell.

    From [Ray Chowdhury and Caragea, 2023](https://arxiv.org/abs/2305.20019), sections 3 and Appendix E:

        e, e_cls = BiGRU(dropout-free embeddings of [start, x_1 .. x_S, end])
        c_t      = attention(h_{t-1}; dropout(e))
        h_t      = GRU([E(y_{t-1}) ; c_t], h_{t-1}),  h_0 = e_cls
        logits_t = E (W h_t + b) + b_vocabulary

    One embedding E serves source, target and output.

    With `columns`, targets that name columns of the source are written by pointing, as in the pointer-generator of
    [See et al., 2017](https://arxiv.org/abs/1704.04368), Eq. 8 and 9, which copies words: with a_t the attention
    weights and q_t the softmax of the logits above without the tokens of columns,

        g_t         = sigmoid(w . h_t + b)
        p_t(v)      = g_t q_t(v)                    other tokens
        p_t(col j)  = (1 - g_t) a_tj                the token that names the source's column j, counted from 0

    and log p_t are the logits. The decoder reads one embedding for all columns. So a column is written that no training
    example names.

    Args:
        vocabulary_size: int. Number of token ids V, 2 to 65,536.
        attention: name, config or object: the `AttentionCell`. Defaults to "onestep".
        embedding_units: int. Size of the embeddings. Defaults to 64.
        encoder_units: int. Size of each encoder direction; the decoder has twice as many. Defaults to 64.
        dropout: float. Rate on the encodings while training. Defaults to 0.5.
        noise: float. Standard deviation of noise on the decoder's states while training, see `AttentionDecoder`.
            Defaults to 0.
        encoder_noise: float. The same on the encoder's, see `BidirectionalGRU`. Defaults to 0.
        window: int. With one, the encoder is a `WindowEncoder` of so many neighbours. Defaults to None, the GRU.
        columns: int. How many tokens name columns of the source, from column 0 on: the last of the vocabulary, before
            the symbols for start, end and padding. Defaults to 0.
        preprocessor: Seq2SeqPreprocessor or its config, for models that take texts.

    Call arguments:
        inputs: dict of `encoder_token_ids` int (B, S), `encoder_padding_mask` bool (B, S), and `decoder_token_ids`
            int (B, T), the target shifted right behind the start symbol.
        training: bool.

    Returns:
        Logits, float32 of shape (B, T, V).

    Raises:
        InputError: a size out of range, an unknown attention, or `encoder_noise` beside a `window`.

    Example:

    ```python
    model = kzoo.models.RecurrentSeq2Seq.from_task("recopy", attention="onestep", encoder_units=8)
    x, y, weight = model.preprocessor([("4 7", "4 4 4 7 7 7 7 7")])
    assert model(x).shape == (1, 9, 13)
    ```

    Differences from the paper, as in the authors' code: the learned start and end vectors around each source
    (`BoundaryVectors`), and the linear map and vocabulary bias before the tied output.
    """

    objectives = ("attention_supervision",)
    input_names = ("encoder_token_ids", "encoder_padding_mask", "decoder_token_ids")

    def __init__(
        self,
        vocabulary_size: int,
        attention: Spec = "onestep",
        embedding_units: int = 64,
        encoder_units: int = 64,
        dropout: float = 0.5,
        noise: float = 0.0,
        encoder_noise: float = 0.0,
        window: int | None = None,
        columns: int = 0,
        preprocessor: Preprocessor | Config | None = None,
        **kwargs: Any,
    ) -> None:
        vocabulary_size = checks.integer("vocabulary_size", vocabulary_size, 2, 65_536)
        embedding_units = checks.integer("embedding_units", embedding_units, 1, 4096)
        encoder_units = checks.integer("encoder_units", encoder_units, 1, 2048)
        checks.number("dropout", dropout, 0.0, 0.99)
        if window is not None and encoder_noise:
            raise InputError("encoder_noise is noise on the states of a GRU; an encoder with a window has none")
        columns = checks.integer("columns", columns, 0, max(0, vocabulary_size - SYMBOLS))
        super().__init__(vocabulary_size, preprocessor, **kwargs)
        self.vocabulary_size, self.dropout, self.columns = vocabulary_size, dropout, columns
        self.first_column = vocabulary_size - SYMBOLS - columns
        self.embedding_units, self.encoder_units = embedding_units, encoder_units
        self.encoder_noise, self.window = encoder_noise, window
        scale = keras.initializers.RandomNormal(stddev=(2 / vocabulary_size) ** 0.5)
        policy = {"dtype": self.dtype_policy}
        self.embedding = keras.layers.Embedding(vocabulary_size, embedding_units, scale, **policy)
        self.boundary = BoundaryVectors(**policy)
        encoder: keras.layers.Layer = BidirectionalGRU(encoder_units, encoder_noise, **policy)
        if window is not None:
            encoder = WindowEncoder(encoder_units, window, **policy)
        self.encoder = encoder  # assigned once: Keras tracks every layer that ever was an attribute
        self.encoding_dropout = keras.layers.Dropout(dropout, **policy)
        self.decoder = AttentionDecoder(attention, noise, **policy)
        self.projection = dense(embedding_units, 2 * encoder_units, **policy)
        self.written = dense(1, 2 * encoder_units, **policy) if columns else None
        self.build()

    def build(self, input_shape: Shape | None = None) -> None:
        size = 2 * self.encoder_units
        embedded = (None, None, self.embedding_units)
        self.embedding.build((None, None))
        self.boundary.build(embedded)
        self.encoder.build(embedded)
        self.decoder.build(embedded, (None, None, size))
        self.projection.build((None, None, size))
        if self.written is not None:
            self.written.build((None, None, size))
        self.vocabulary_bias = self.add_weight((self.vocabulary_size,), initializer="zeros", name="vocabulary_bias")
        self.built = True

    def call(self, inputs: Inputs, training: bool = False) -> Tensor:
        hidden, trace = self.trace_attention(inputs, training)
        if "gold_weight" in inputs:
            self.add_loss(attention_loss(trace, inputs))
        return self.logits(hidden, trace["weights"])

    def trace(self, text: Text, output: Text | None = None) -> Trace:
        """Returns what the attention did while the model wrote its output, or one that is forced: see `Trace`."""
        return trace_recurrent(self, text, output)

    def trace_attention(self, inputs: Inputs, training: bool = False) -> tuple[Tensor, States]:
        """Returns the decoder's hidden states (B, T, D), and what its attention did.

        The trace has `weights` (B, T, S + 2), over the start vector, the source and the end vector, and every state of
        the attention cell, as `center` (B, T).
        """
        embedded = self.embed_target(inputs["decoder_token_ids"])
        return self.decoder(embedded, *self.encode(inputs, training), training=training)

    def encode(self, inputs: Inputs, training: bool = False) -> tuple[Tensor, Tensor, Tensor]:
        """Returns the memory (B, S + 2, D), its mask (B, S + 2) and the summary (B, D)."""
        source = self.embedding(inputs["encoder_token_ids"])
        encodings, mask = self.boundary(source, ops.cast(inputs["encoder_padding_mask"], "bool"))
        memory, summary = self.encoder(encodings, mask, training=training)
        return self.encoding_dropout(memory, training=training), mask, summary

    def embed_target(self, token_ids: Tensor) -> Tensor:
        """Returns the embeddings of target tokens; tokens of columns have one."""
        named = self.names_column(token_ids)
        return self.embedding(ops.where(named, self.first_column, token_ids) if self.columns else token_ids)

    def names_column(self, token_ids: Tensor) -> Tensor:
        """Returns which token ids name a column of the source."""
        return (token_ids >= self.first_column) & (token_ids < self.first_column + self.columns)

    def logits(self, hidden: Tensor, weights: Tensor | None = None) -> Tensor:
        """Returns float32 logits (..., V) of hidden states (..., D); columns need attention weights (..., S + 2).

        Raises:
            InputError: there are columns, and no weights.
        """
        # Under mixed precision Keras casts the model's variables in `call`, but not in `generate`: here it is the same.
        table, bias = (ops.cast(v, self.compute_dtype) for v in (self.embedding.embeddings, self.vocabulary_bias))
        projected = ops.cast(self.projection(hidden), "float32")
        logits = ops.matmul(projected, ops.transpose(ops.cast(table, "float32"))) + ops.cast(bias, "float32")
        if self.written is None:
            return logits
        if weights is None:
            raise InputError("the logits of a model with columns need attention weights")
        return self.pointed(logits, self.written(hidden), weights)

    def pointed(self, logits: Tensor, score: Tensor, weights: Tensor) -> Tensor:
        """Returns logits (..., V), those of tokens of columns from the attention weights; by score (..., 1) a token is
        another.
        """
        named = self.names_column(ops.arange(self.vocabulary_size))
        score = ops.cast(score, "float32")
        others = ops.log_sigmoid(score) + ops.log_softmax(ops.where(named, UNLIKELY, logits), axis=-1)
        # The start vector stands at 0, so column j of the source at j + 1.
        shares = ops.log(ops.cast(weights, "float32")[..., 1:] + SMALLEST)
        axes = [[0, 0]] * (len(shares.shape) - 1)
        shares = ops.pad(shares, [*axes, [0, self.columns]], constant_values=UNLIKELY)[..., : self.columns]
        pointed = ops.pad(shares, [*axes, [self.first_column, SYMBOLS]], constant_values=UNLIKELY)
        return ops.where(named, ops.log_sigmoid(-score) + pointed, others)

    def start_generation(self, inputs: Inputs, length: int) -> tuple[Structure, Structure]:
        """Returns what every step of generation reads, and the state before the first step."""
        return self.decoder.start(*self.encode(inputs))

    def generate_step(self, token_ids: Tensor, prepared: Structure, state: Structure) -> tuple[Tensor, Structure]:
        """Reads token ids (B,); returns the logits of the next token (B, V) and the new state."""
        state, weights = self.decoder.step(self.embed_target(token_ids), prepared, state)
        return self.logits(state["hidden"], weights), state

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "attention": serialize(self.decoder.attention),
            "embedding_units": self.embedding_units,
            "encoder_units": self.encoder_units,
            "dropout": self.dropout,
            "noise": self.decoder.noise,
            "encoder_noise": self.encoder_noise,
            "window": self.window,
            "columns": self.columns,
        }
