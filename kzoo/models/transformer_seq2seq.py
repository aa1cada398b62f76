"""The arithmetic Transformer: an optional encoder, and a decoder whose attention can be biased."""

from typing import Unpack

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, Inputs, Shape, Spec, Structure, Tensor, Text
from kzoo.errors import InputError
from kzoo.layers.functional.causal import causal_mask
from kzoo.layers.functional.dense import dense
from kzoo.layers.positions.placed_encoding import PlacedEncoding
from kzoo.layers.transformer.decoder_block import DecoderBlock
from kzoo.layers.transformer.transformer_block import TransformerBlock
from kzoo.models.named_arrays import Trace
from kzoo.models.options import LayerOptions, split
from kzoo.models.sequence_model import SequenceModel
from kzoo.models.tracing import trace_seq2seq
from kzoo.preprocessing.calculation_preprocessor import CalculationPreprocessor
from kzoo.preprocessing.preprocessor import Preprocessor
from kzoo.registry import get, register, serialize


@register("model")
class TransformerSeq2Seq(SequenceModel):
    """A Transformer that reads a source and writes a target, with a seam for a bias in each of its attentions.

    From [Duan et al., 2023](https://arxiv.org/abs/2310.11984), section 3.4, after
    [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762), the norms behind each part:

        m      = encoder(encoding(E(x)))             with no encoder layers, the encoded embeddings themselves
        h      = decoder(encoding(E(y)), m)
        logits = W h + b

    A target's positions count from its start, a source's back from its end symbol: the last digit of an operand then
    has the same position at every length, as it has in the paper, where everything is padded to one length. The
    biases are the same in every layer. The causal mask is always there, whatever the bias.

    Args:
        vocabulary_size: int. Number of token ids V, 2 to 65,536.
        layers: int. Decoder layers, 1 to 100. Defaults to 2.
        encoder_layers: int. 0 to 100. Defaults to 0: the authors' released code has none.
        encoding: name, config or object of the kind "encoding", what is added to the embeddings: "sinusoidal",
            "cyclic". Defaults to None: no positions.
        position: name, config or object of the kind "position", as "rotary". Defaults to None.
        self_bias: name, config or object of the kind "bias", for the decoder's attention to itself: "windowed",
            "alibi", "shaw", ... Defaults to None.
        cross_bias: the same for its attention to the source, as "windowed_cross". Defaults to None.
        encoder_bias: the same for the encoder's attention. Defaults to None.
        units: int. Size of the states D, 1 to 65,536. Defaults to 64.
        embedding_deviation: float. Standard deviation of the normal distribution that embeddings start from. Defaults
            to 1.
        preprocessor: CalculationPreprocessor or its config, for models that take texts.
        **options: of every block: `heads`, by default 4; `hidden_units`, four times the states'; `dropout`, 0; `norm`,
            where the norms stand, "after", "before" or "none", by default "after".

    Call arguments:
        inputs: dict of `encoder_token_ids` int (B, S), `encoder_padding_mask` bool (B, S), `decoder_token_ids` int
            (B, T), the target shifted right behind the start symbol; and `encoder_ends` int (B, K), the column that
            ends each part of a source, by default its last real column.
        training: bool.

    Returns:
        Logits, float32 of shape (B, T, V).

    Raises:
        InputError: an argument is out of range or does not apply, or a part is unknown.

    Example:

    ```python
    config = {"self_bias": "windowed", "cross_bias": "windowed_pairs", "encoding": "cyclic", "units": 8}
    model = kzoo.models.TransformerSeq2Seq.from_task("addition", layout={"aligned": True}, **config)
    x, y, weight = model.preprocessor([("123+748", "871")])
    assert model(x).shape == (1, 5, 14) and set(model.generate("123+748")) <= set("0123456789+")
    ```

    Differences from the paper, as in the authors' code: no encoder layer unless asked for. Differences from the code:
    embeddings start from a normal distribution and are not scaled; there is no norm behind the last block's own; there
    is no dropout on embeddings.
    """

    preprocessor_class = CalculationPreprocessor
    input_names = ("encoder_token_ids", "encoder_padding_mask", "decoder_token_ids")

    def __init__(
        self,
        vocabulary_size: int,
        layers: int = 2,
        encoder_layers: int = 0,
        encoding: Spec = None,
        position: Spec = None,
        self_bias: Spec = None,
        cross_bias: Spec = None,
        encoder_bias: Spec = None,
        units: int = 64,
        embedding_deviation: float = 1.0,
        preprocessor: Preprocessor | Config | None = None,
        **options: Unpack[LayerOptions],
    ) -> None:
        own, kwargs = split(options, LayerOptions)
        vocabulary_size = checks.integer("vocabulary_size", vocabulary_size, 2, 65_536)
        layers = checks.integer("layers", layers, 1, 100)
        encoder_layers = checks.integer("encoder_layers", encoder_layers, 0, 100)
        super().__init__(vocabulary_size, preprocessor, **kwargs)
        if encoder_bias is not None and encoder_layers == 0:
            raise InputError("encoder_bias does not apply: there are no encoder layers")
        self.vocabulary_size = vocabulary_size
        self.units = units = checks.integer("units", units, 1, 65_536)
        self.options = {"heads": 4, "hidden_units": None, "dropout": 0.0, "norm": "after", **own}
        self.embedding_deviation = checks.number("embedding_deviation", embedding_deviation, 0.0, 100.0)
        policy = {"dtype": self.dtype_policy}
        self.encoding = None if encoding is None else get("encoding", encoding, **policy)
        if isinstance(self.encoding, PlacedEncoding):
            raise InputError(f"{type(self.encoding).__name__} does not apply: source and target are apart here")
        # Each layer has a bias of its own, so these are only what they are made of.
        parts = {"self_bias": self_bias, "cross_bias": cross_bias, "encoder_bias": encoder_bias}
        self.biases = {name: None if bias is None else serialize(get("bias", bias)) for name, bias in parts.items()}
        self.position = None if position is None else serialize(get("position", position))

        def attention(bias: str) -> Config:
            config = {"heads": self.options["heads"], "bias": self.biases[bias], "position": self.position}
            return {"class": "MultiHeadAttention", "config": config}

        def block(bias: str) -> TransformerBlock:
            sizes: Config = {name: value for name, value in self.options.items() if name != "heads"}
            return TransformerBlock(attention(bias), **sizes, **policy)

        self.encoder = [block("encoder_bias") for _ in range(encoder_layers)]
        cross = attention("cross_bias")
        self.decoder = [DecoderBlock(block("self_bias"), cross, **policy) for _ in range(layers)]
        normal = keras.initializers.RandomNormal(stddev=self.embedding_deviation)
        self.embedding = keras.layers.Embedding(vocabulary_size, units, normal, **policy)
        self.final_norm: keras.layers.Layer | None = None
        if self.options["norm"] == "before":
            self.final_norm = keras.layers.LayerNormalization(epsilon=1e-5, **policy)
        self.classes = dense(vocabulary_size, units, units**-0.5, **policy)
        self.build()

    def build(self, input_shape: Shape | None = None) -> None:
        states = (None, None, self.units)
        self.embedding.build((None, None))
        for layer in [*self.encoder, *self.decoder, self.classes, *([self.encoding] if self.encoding else [])]:
            layer.build(states)
        if self.final_norm is not None:
            self.final_norm.build(states)
        self.built = True

    def call(self, inputs: Inputs, training: bool = False) -> Tensor:
        return self.decode(inputs, training)[0]

    def trace(self, text: Text, output: Text | None = None) -> Trace:
        """Returns what the heads did while the model wrote its output, or one that is forced: see `Trace`."""
        return trace_seq2seq(self, text, output)

    def trace_layers(self, inputs: Inputs) -> list[Structure]:
        """Returns the weights of every decoder layer: `self` (B, N, T, T) and `cross` (B, N, T, S)."""
        return self.decode(inputs, False)[1]

    def decode(self, inputs: Inputs, training: bool) -> tuple[Tensor, list[Structure]]:
        """Returns the logits (B, T, V) and the weights of every layer."""
        memory, source_mask, ends = self.encode(inputs, training)
        states, traces = self.embed(inputs["decoder_token_ids"], training), []
        mask = causal_mask(ops.shape(states)[1])
        for block in self.decoder:
            states, trace = block(states, block.prepare(memory, ends, training), mask, source_mask, training=training)
            traces.append(trace)
        return self.logits(states), traces

    def encode(self, inputs: Inputs, training: bool = False) -> tuple[Tensor, Tensor, Tensor]:
        """Returns the source's states (B, S, D), its mask (B, S) and the columns that end its parts (B, K)."""
        mask = ops.cast(inputs["encoder_padding_mask"], "bool")
        last = ops.sum(ops.cast(mask, "int32"), axis=1, keepdims=True) - 1
        ends = ops.cast(inputs.get("encoder_ends", last), "int32")
        states = self.embed(inputs["encoder_token_ids"], training, source_ends=ends)
        for block in self.encoder:
            states, _ = block(states, mask, training=training)
        return states, mask, ends

    def embed(self, token_ids: Tensor, training: bool = False, **where: Tensor) -> Tensor:
        """Returns encoded embeddings (B, T, D) of tokens; `offset` and `source_ends` are for the encoding."""
        states = self.embedding(token_ids)
        return states if self.encoding is None else self.encoding(states, training=training, **where)

    def logits(self, states: Tensor) -> Tensor:
        """Returns float32 logits (B, T, V) of the last states (B, T, D)."""
        states = self.final_norm(states) if self.final_norm is not None else states
        # Under mixed precision Keras casts variables in `call`, but not in `generate`: here it is the same.
        cast = (ops.cast(v, self.compute_dtype) for v in (self.classes.kernel, self.classes.bias))
        kernel, bias = (ops.cast(v, "float32") for v in cast)
        return ops.matmul(ops.cast(states, "float32"), kernel) + bias

    def start_generation(self, inputs: Inputs, length: int) -> tuple[Structure, Structure]:
        """Returns the keys and values of the source, and room for those of `length` written tokens."""
        memory, mask, ends = self.encode(inputs)
        memories = [block.prepare(memory, ends) for block in self.decoder]
        batch = ops.shape(memory)[0]
        blank = ops.zeros((batch, length, self.units), self.compute_dtype)
        empty = [layer.block.attention.prepare(blank) for layer in self.decoder]
        return {"memories": memories, "mask": mask}, {"caches": empty, "offset": ops.zeros((batch,), "int32")}

    def generate_step(self, token_ids: Tensor, prepared: Structure, state: Structure) -> tuple[Tensor, Structure]:
        """Reads token ids (B,); returns the logits of the next token (B, V) and the new state."""
        offset, caches = state["offset"], []
        states = self.embed(token_ids[:, None], offset=offset)
        columns = ops.arange(ops.shape(state["caches"][0]["keys"])[2], dtype="int32")
        mask = (columns[None, :] <= offset[:, None])[:, None, :]
        for block, cache, memory in zip(self.decoder, state["caches"], prepared["memories"], strict=True):
            states, cache = block.step(states, cache, memory, mask, prepared["mask"], offset)
            caches.append(cache)
        return self.logits(states)[:, 0], {"caches": caches, "offset": offset + 1}

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "layers": len(self.decoder),
            "encoder_layers": len(self.encoder),
            "encoding": None if self.encoding is None else serialize(self.encoding),
            "position": self.position,
            **self.biases,
            "units": self.units,
            **self.options,
            "embedding_deviation": self.embedding_deviation,
        }
