"""The shared-layer Transformer encoder of the Neural Data Router paper."""

from typing import Unpack

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, Inputs, Shape, Spec, Structure, Tensor, Text
from kzoo.errors import InputError
from kzoo.layers.functional.dense import dense
from kzoo.layers.functional.last_token import last_token
from kzoo.layers.positions.placed_encoding import PlacedEncoding
from kzoo.layers.transformer.discrete_depth import DiscreteDepth
from kzoo.layers.transformer.looped_depth import LoopedDepth
from kzoo.layers.transformer.shared_depth import SharedDepth
from kzoo.models.classifier import Classifier
from kzoo.models.named_arrays import Trace
from kzoo.models.options import BlockOptions, split
from kzoo.models.tracing import trace_classifier
from kzoo.preprocessing.preprocessor import Preprocessor
from kzoo.registry import get, register, serialize, states


@register("model")
class TransformerClassifier(Classifier):
    """A Transformer encoder that runs one block many times, and reads its answer from one column.

    From [Csordas et al., 2022](https://arxiv.org/abs/2110.07732). Start and end symbols stand around the sequence:

        h_0 = E(start, x_1 .. x_n, end),   h_t = block(h_(t-1)),   logits = W h_T[column] + b

    The blocks "ndr" (geometric attention and copy gate: the Neural Data Router), "abs_rel_gate", "rel_gate",
    "geometric", "rel" and "transformer" are the paper's models, the last with `encoding="sinusoidal"`; `depth="act"` or
    `"act_universal"` puts adaptive computation time around any of them, `depth="discrete"` keeps one of a few values at
    each position between two steps.

    Args:
        vocabulary_size: int. Number of token ids V, 2 to 65,536.
        labels: int. Number of labels, 2 to 65,536.
        block: name, config or object of the kind "block". Defaults to "ndr".
        depth: name, config or object of the kind "depth": what runs the block. Defaults to "shared".
        encoding: name, config or object of the kind "encoding", what is added to the embeddings. Defaults to None.
        units: int. Size of the states D, 1 to 65,536. Defaults to 256.
        steps: int. Steps while training, where the depth does not say itself. Defaults to 14.
        inference_steps: int. Steps otherwise, likewise. Defaults to the same.
        readout: str. The column of the answer: "first" or "last". Defaults to "last".
        embedding_deviation: float. Standard deviation of the normal distribution that embeddings start from. Defaults
            to 1.
        preprocessor: ClassifierPreprocessor or its config, for models that take texts.
        **options: of the block, where it does not say them itself: `heads`, by default 1; `hidden_units`, four times
            the states'; `dropout`, 0.5; `attention_dropout`, 0.1.

    Call arguments:
        inputs: dict of `token_ids` int (B, T) and `padding_mask` bool (B, T), start and end symbols included; with
            `columns` int (B, K) to read so many others too, and with `steps_before_last` int (B, H) to read them after
            so many other steps: of the last, 0, and those before.
        training: bool.
        steps: int. The number of steps of this call.

    Returns:
        Logits, float32 of shape (B, labels); with `columns` of shape (B, 1 + K, labels), the answer first; with
        `steps_before_last` too of shape (B, H, 1 + K, labels). Of a discrete depth and while training, those of all
        its values, the labels first.

    Raises:
        InputError: an argument is out of range or does not apply, or a part is unknown.

    Example:

    ```python
    model = kzoo.models.TransformerClassifier.from_task("ctl_forward", units=8, steps=3)
    x, y, weight = model.preprocessor([("101 d a b", "011")])
    assert model(x).shape == model(x, steps=9).shape == (1, 8)
    model.inference_steps = 9  # for `predict`, `kzoo.evaluate` and `generate`
    ```

    Differences from the paper, as in the authors' code: the column is the last (the end symbol's) on table lookup, and
    on arithmetic with a gate; it is the first on ListOps, and on arithmetic without gate. Models with a gate and
    "transformer" start their embeddings from N(0, 1), "rel" and "geometric" from a deviation of sqrt(2 / units), on
    ListOps of sqrt(2 / (units + V)). "transformer" has no `attention_dropout`. On ListOps "ndr" trains 20 steps and is
    tested with 24, "abs_rel_gate" with 20.
    """

    objectives = ("intermediate", "hold")

    def __init__(
        self,
        vocabulary_size: int,
        labels: int,
        block: Spec = None,
        depth: Spec = "shared",
        encoding: Spec = None,
        units: int = 256,
        steps: int | None = None,
        inference_steps: int | None = None,
        readout: str = "last",
        embedding_deviation: float = 1.0,
        preprocessor: Preprocessor | Config | None = None,
        **options: Unpack[BlockOptions],
    ) -> None:
        block_options, kwargs = split(options, BlockOptions)
        super().__init__(vocabulary_size, labels, preprocessor, **kwargs)
        self.units = units = checks.integer("units", units, 1, 65_536)
        self.readout = checks.choice("readout", readout, ["first", "last"])
        self.embedding_deviation = checks.number("embedding_deviation", embedding_deviation, 0.0, 100.0)
        policy = {"dtype": self.dtype_policy}
        numbers = {"steps": steps, "inference_steps": inference_steps}
        if states("depth", depth, "block"):
            for name in [*(["block"] if block is not None else []), *block_options]:
                raise InputError(f"{name} does not apply: the depth has a block already")
            self.encoder: SharedDepth = get("depth", depth, numbers, **policy)
        else:
            rates = {"dropout": 0.5, "attention_dropout": 0.1}
            block = get("block", "ndr" if block is None else block, block_options, **rates, **policy)
            self.encoder = get("depth", depth, numbers, block=block, **policy)
        self.encoding = None if encoding is None else get("encoding", encoding, **policy)
        normal = keras.initializers.RandomNormal(stddev=self.embedding_deviation)
        self.embedding = keras.layers.Embedding(self.vocabulary_size, units, normal, **policy)
        discrete = isinstance(self.encoder, DiscreteDepth)  # its first values are the labels
        if discrete and self.encoder.values < self.labels:
            raise InputError(f"values must be at least the number of labels, {self.labels}, not {self.encoder.values}")
        self.classes = None if discrete else dense(self.labels, units, units**-0.5, dtype="float32")
        self.build()

    def build(self, input_shape: Shape | None = None) -> None:
        shape = (None, None, self.units)
        self.embedding.build((None, None))
        if self.encoding is not None:
            self.encoding.build(shape)
        self.encoder.build(shape)
        if self.classes is not None:
            self.classes.build((None, self.units))
        self.built = True

    @property
    def inference_steps(self) -> int:
        """int. The steps of a call outside training; may be set."""
        return self.encoder.inference_steps

    @inference_steps.setter
    def inference_steps(self, steps: int | None) -> None:
        self.encoder.inference_steps = steps
        self.predict_function = self.test_function = self._compiled_call = None  # they are compiled again

    def call(self, inputs: Inputs, training: bool = False, steps: int | None = None) -> Tensor:
        if "steps_before_last" in inputs:
            logits = self.call_steps(inputs, training, steps)
        else:
            logits = self.read(self.encode(inputs, training, steps)[0], inputs)
        return logits if training else logits[..., : self.labels]

    def call_steps(self, inputs: Inputs, training: bool, steps: int | None) -> Tensor:
        """Returns the logits after the steps that the inputs name."""
        before = ops.cast(inputs["steps_before_last"], "int32")
        made, read = self.encoder.number(steps, training), before.shape[1]
        if read > made:
            raise InputError(f"{read} steps are to be read, and {made} are made")
        _, trace = self.encode(inputs, training, steps, every_step=True)
        states = ops.swapaxes(trace["states"], 0, 1)
        states = ops.take_along_axis(states, (made - 1 - before)[:, :, None, None], axis=1)
        return ops.stack([self.read(states[:, k], inputs) for k in range(read)], axis=1)

    def encode(
        self,
        inputs: Inputs,
        training: bool = False,
        steps: int | None = None,
        trace: bool = False,
        every_step: bool = False,
    ) -> tuple[Tensor, Structure]:
        """Returns the last states (B, T, D), and the trace of the steps, empty unless it is asked for."""
        states = self.embedding(inputs["token_ids"])
        mask, placed, shared = ops.cast(inputs["padding_mask"], "bool"), {}, {}
        if isinstance(self.encoding, PlacedEncoding):
            placed = {"places": self.encoding.places(inputs["token_ids"], mask, None, training)}
            shared = placed if self.encoding.shared else {}
        if self.encoding is not None:
            states = self.encoding(states, training=training, **placed)
        if isinstance(self.encoder, LoopedDepth):
            shared["readout"] = lambda states: self.logits(states, inputs["padding_mask"])
        if every_step:
            shared["every_step"] = True
        return self.encoder(states, mask, steps=steps, training=training, trace=trace, **shared)

    def logits(self, states: Tensor, padding_mask: Tensor) -> Tensor:
        """Returns float32 logits of states (B, T, D), of the labels or of all values."""
        if self.readout == "first":
            return self.classify(states[:, 0])
        return self.classify(last_token(states, padding_mask))

    def classify(self, states: Tensor) -> Tensor:
        """Returns float32 logits of states, of the labels or of all values."""
        return self.encoder.scores(states) if self.classes is None else self.classes(states)

    def trace(self, text: Text, steps: int | None = None) -> Trace:
        """Returns what every step did with a text, of `inference_steps` unless so many are given: see `Trace`."""
        return trace_classifier(self, text, steps)

    def trace_steps(self, inputs: Inputs, steps: int | None = None) -> Structure:
        """Returns what every step did, by batch: `weights` (B, steps, N, T, T), and of a gated block `gates`
        (B, steps, T, D), of adaptive computation time `halting` (B, steps, T).
        """
        _, found = self.encode(inputs, steps=steps, trace=True)
        return {key: ops.swapaxes(value, 0, 1) for key, value in found.items()}

    def get_config(self) -> Config:
        depth = serialize(self.encoder)
        return {
            **super().get_config(),
            "block": depth["config"].pop("block"),
            "depth": depth,
            "encoding": None if self.encoding is None else serialize(self.encoding),
            "units": self.units,
            "readout": self.readout,
            "embedding_deviation": self.embedding_deviation,
        }
