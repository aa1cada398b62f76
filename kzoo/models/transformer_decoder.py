"""The decoder-only Transformer of the task-hinting paper."""

from collections.abc import Sequence
from typing import Any, Self, Unpack

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, Inputs, Prepared, Shape, Spec, Structure, Tensor, Text
from kzoo.errors import InputError
from kzoo.layers.functional.causal import causal_mask, column_of
from kzoo.layers.functional.dense import dense
from kzoo.layers.positions.placed_encoding import PlacedEncoding
from kzoo.layers.transformer.transformer_block import EPSILON, TransformerBlock
from kzoo.models.cached_decoding import CachedDecoding
from kzoo.models.named_arrays import Trace
from kzoo.models.options import BlockOptions, split
from kzoo.models.tracing import trace_decoder
from kzoo.preprocessing.decoder_preprocessor import DecoderPreprocessor
from kzoo.preprocessing.preprocessor import Preprocessor
from kzoo.registry import get, register, serialize
from kzoo.tasks import Task
from kzoo.tasks import get as get_task


@register("model")
class TransformerDecoder(CachedDecoding):
    """A causal Transformer over 'source, delimiter, target', that is asked for the target only.

    From [Awasthi and Gupta, 2023](https://arxiv.org/abs/2310.00726), sections 3 and B.2:

        X_0 = E(source, delimiter, target),   X_t = block_t(X_(t-1)),   logits = W X_b + b

    With `segments` a trained vector is added to each token from the first delimiter on: whether a number stands before
    or behind it is then known at once, where the paper's models find out in their first layer
    (segment embeddings, [Devlin et al., 2019](https://arxiv.org/abs/1810.04805), section 3).

    Without `encoding` nothing but the causal mask tells positions apart. The blocks "pre_norm" and "tempered" are the
    paper's models with the standard and the tempered softmax. Each task in `hints` has a W and b of its own
    (`hint_classes`) over the shared blocks; see `kzoo.data.interleaving` for training with them.

    Args:
        vocabulary_size: int. Number of token ids V, 2 to 65,536.
        block: name, config or object of the kind "block": a `TransformerBlock`; every layer has one like it. Defaults
            to "pre_norm".
        layers: int. Number of blocks, 1 to 1,000. Defaults to 2.
        encoding: name, config or object of the kind "encoding", what is added to the embeddings. Defaults to None.
        units: int. Size of the states D, 1 to 65,536. Defaults to 128.
        hints: sequence of str. Names of the tasks that are trained beside. Defaults to none.
        segments: bool. Whether tokens before and behind the delimiter are told apart. Defaults to False, as in the
            paper.
        embedding_deviation: float. Standard deviation of the normal distribution that embeddings start from. Defaults
            to 1.
        preprocessor: DecoderPreprocessor or its config, for models that take texts.
        **options: of the block, where it does not say them itself: `heads`, by default 2; `hidden_units`, four times
            the states'; `dropout` and `attention_dropout`, 0.

    Call arguments:
        inputs: dict of `token_ids` int (B, T), real tokens at the left of every row; where hints are trained also
            `head` int (B,), 0 in rows of the task, k in those of the k-th hint. A `padding_mask` is not needed: under
            the causal mask no real token sees what stands behind it.
        training: bool.

    Returns:
        Logits of the next token at each position, float32 of shape (B, T, V).

    Raises:
        InputError: an argument is out of range or does not apply, or a part is unknown.

    Example:

    ```python
    model = kzoo.models.TransformerDecoder.from_task("sorter", block="tempered", units=8, hints=["sorted_successor"])
    x, y, weight = model.preprocessor([("5 3 1 4 2", "1 2 3 4 5")])
    assert model(x).shape == (1, 10, 103)
    assert len(model.generate("5 3 1 4 2").split()) <= 5
    ```

    Differences: the paper does not say where its norms stand; here before each part, with one before the logits.
    """

    preprocessor_class = DecoderPreprocessor
    input_names = ("token_ids",)

    def __init__(
        self,
        vocabulary_size: int,
        block: Spec = "pre_norm",
        layers: int = 2,
        encoding: Spec = None,
        units: int = 128,
        hints: Sequence[str] = (),
        segments: bool = False,
        embedding_deviation: float = 1.0,
        preprocessor: Preprocessor | Config | None = None,
        **options: Unpack[BlockOptions],
    ) -> None:
        block_options, kwargs = split(options, BlockOptions)
        vocabulary_size = checks.integer("vocabulary_size", vocabulary_size, 2, 65_536)
        layers = checks.integer("layers", layers, 1, 1000)
        if not isinstance(hints, (list, tuple)) or not all(isinstance(hint, str) for hint in hints):
            raise InputError(f"hints must be a list of names of tasks, not {hints!r:.60}")
        super().__init__(vocabulary_size, preprocessor, **kwargs)
        self.vocabulary_size, self.hints = vocabulary_size, list(hints)
        self.segments = checks.boolean("segments", segments)
        self.units = units = checks.integer("units", units, 1, 65_536)
        self.embedding_deviation = checks.number("embedding_deviation", embedding_deviation, 0.0, 100.0)
        policy = {"dtype": self.dtype_policy}
        first = get("block", block, block_options, heads=2, **policy)
        if not isinstance(first, TransformerBlock):
            raise InputError(f"the block of a TransformerDecoder is a TransformerBlock, not a {type(first).__name__}")
        bias = getattr(first.attention, "bias", None)
        if getattr(bias, "needs_source", False):
            raise InputError(f"{type(bias).__name__} counts from the end of a source, which a decoder reads as its own")
        self.blocks = [first, *(get("block", serialize(first), **policy) for _ in range(layers - 1))]
        steps = getattr(self.preprocessor, "target_steps", None)
        known = {} if steps is None else {"answer": steps}
        self.encoding = None if encoding is None else get("encoding", encoding, **known, **policy)
        normal = keras.initializers.RandomNormal(stddev=self.embedding_deviation)
        self.embedding = keras.layers.Embedding(vocabulary_size, units, normal, **policy)
        self.final_norm: keras.layers.Layer | None = None
        if first.norm == "before":
            self.final_norm = keras.layers.LayerNormalization(epsilon=EPSILON, **policy)
        self.classes, *self.hint_classes = (
            dense(vocabulary_size, units, units**-0.5, **policy) for _ in ["", *self.hints]
        )
        self.build()

    @classmethod
    def from_task(cls, task: str | Task, layout: Config | None = None, **config: Any) -> Self:
        """Returns an untrained model for a task: its vocabulary, and everything else from `config`.

        Args:
            task: str or Task.
            layout: dict. With `filled` true the numbers of a task are filled up with zeros, see `DecoderPreprocessor`.
            **config: arguments of the model.

        Raises:
            InputError: a hint has a token that the task does not have, or the task has no numbers to fill up.
        """
        model = super().from_task(task, layout, **config)
        for hint in model.hints:
            model.hint_preprocessor(hint)
        return model

    def hint_preprocessor(self, hint: str | Task) -> DecoderPreprocessor:
        """Returns what turns examples of a hint into arrays for this model."""
        tokens = self.text_preprocessor().tokenizer.tokens[:-3]
        return self.preprocessor_class.from_task(get_task(hint), tokens)

    def build(self, input_shape: Shape | None = None) -> None:
        states = (None, None, self.units)
        self.embedding.build((None, None))
        if self.segments:
            normal = keras.initializers.RandomNormal(stddev=self.embedding_deviation)
            self.behind = self.add_weight((self.units,), initializer=normal, name="behind")
        if self.encoding is not None:
            self.encoding.build(states)
        for layer in [*self.blocks, self.classes, *self.hint_classes]:
            layer.build(states)
        if self.final_norm is not None:
            self.final_norm.build(states)
        self.built = True

    def call(self, inputs: Inputs, training: bool = False) -> Tensor:
        states, mask, about = self.begin(inputs["token_ids"], training)
        for block in self.blocks:
            states, _ = block(states, mask, training=training, **about)
        return self.logits(states, inputs.get("head"))

    def begin(self, token_ids: Tensor, training: bool = False) -> tuple[Tensor, Tensor, Prepared]:
        """Returns X_0, the mask of the blocks, and what else they are called with: `delimiter` and `places`."""
        places, shared = self.places(token_ids, training)
        states = self.embed(token_ids, training, places=places)
        return states, causal_mask(ops.shape(states)[1]), {"delimiter": self.delimiter(token_ids), "places": shared}

    def embed(
        self, token_ids: Tensor, training: bool = False, offset: Tensor | None = None, places: Tensor | None = None
    ) -> Tensor:
        """Returns X_0, of shape (B, T, D), of tokens the first of which stands at `offset` (B,), or 0; `places` (B, S)
        are those of the whole sequence, where the encoding gives them.
        """
        states = self.embedding(token_ids)
        if self.segments:
            # What is generated, from `offset` on, all stands behind the delimiter.
            delimiters = ops.cast(token_ids == self.vocabulary_size - 3, "int32")
            behind = ops.cumsum(delimiters, axis=1) > 0 if offset is None else ops.ones_like(token_ids, dtype="bool")
            states = states + ops.where(behind[:, :, None], ops.cast(self.behind, states.dtype), 0)
        placed = {} if places is None else {"places": places}
        return states if self.encoding is None else self.encoding(states, training=training, offset=offset, **placed)

    def places(self, token_ids: Tensor, training: bool = False) -> tuple[Tensor | None, Tensor | None]:
        """Returns the places (B, T) of tokens that the encoding gives, and those that the blocks see, or None."""
        if not isinstance(self.encoding, PlacedEncoding):
            return None, None
        mask = token_ids != self.vocabulary_size - 1 if training else None  # how long outputs get is not known
        places = self.encoding.places(token_ids, mask, self.column_of_delimiter(token_ids), training)
        return places, places if self.encoding.shared else None

    def delimiter(self, token_ids: Tensor) -> Tensor:
        """Returns `column_of_delimiter` if the bias of the attention asks for it, else None."""
        asks = getattr(getattr(self.blocks[0].attention, "bias", None), "needs_delimiter", False)
        return self.column_of_delimiter(token_ids) if asks else None

    def column_of_delimiter(self, token_ids: Tensor) -> Tensor:
        """Returns the column of the first delimiter, int (B, 1), or that behind the last token where there is none."""
        return column_of(token_ids, self.vocabulary_size - 3, self.vocabulary_size - 1)

    def logits(self, states: Tensor, head: Tensor | None = None) -> Tensor:
        """Returns float32 logits (B, T, V) of the last states (B, T, D), of each row's head (B,) or the task's."""
        states = self.final_norm(states) if self.final_norm is not None else states
        states = ops.cast(states, "float32")
        logits = self._answer(self.classes, states)
        for number, classes in enumerate([] if head is None else self.hint_classes, 1):
            logits = ops.where(ops.equal(head, number)[:, None, None], self._answer(classes, states), logits)
        return logits

    def _answer(self, classes: keras.layers.Layer, states: Tensor) -> Tensor:
        # Under mixed precision Keras casts the variables in `call`, but not in `generate`: here it is the same.
        kernel, bias = (ops.cast(ops.cast(v, self.compute_dtype), "float32") for v in (classes.kernel, classes.bias))
        return ops.matmul(states, kernel) + bias

    def trace(self, text: Text, output: Text | None = None) -> Trace:
        """Returns what the heads did while the model wrote its output, or one that is forced: see `Trace`."""
        return trace_decoder(self, text, output)

    def trace_blocks(self, inputs: Inputs) -> list[Structure]:
        """Returns what each block did: `attended`, the states (B, T, D) before its feed-forward network; `states`,
        those after it; and `weights` (B, N, T, T).
        """
        (states, mask, about), found = self.begin(inputs["token_ids"]), []
        for block in self.blocks:
            attended, weights = block.attention_sublayer(states, mask, False, **about)
            states = block.feed_forward_sublayer(attended)
            found.append({"attended": attended, "states": states})
            found[-1] |= {} if weights is None else {"weights": weights}
        return found

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "block": serialize(self.blocks[0]),
            "layers": len(self.blocks),
            "encoding": None if self.encoding is None else serialize(self.encoding),
            "units": self.units,
            "hints": self.hints,
            "segments": self.segments,
            "embedding_deviation": self.embedding_deviation,
        }
