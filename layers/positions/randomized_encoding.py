"""Randomized positions, for any way to encode them."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Tensor
from kzoo.errors import InputError
from kzoo.layers.functional.causal import lengths_of_answers
from kzoo.layers.functional.sinusoid import check_even, sinusoid
from kzoo.layers.positions.placed_encoding import PlacedEncoding
from kzoo.registry import alias, register


@register("encoding")
class RandomizedEncoding(PlacedEncoding):
    """Gives the tokens of a sequence places that are drawn from a longer range, in their order.

    Randomized positional encodings of [Ruoss et al., 2023](https://arxiv.org/abs/2305.16843): of the
    places 0 .. `limit` - 1 as many as the sequence is long are drawn without replacement, and sorted. So every place
    that a long sequence has was met in training. The embeddings get the sinusoids of these places, or nothing; and the
    attention of every block counts by them: its position "rotary", or its bias "alibi", "relative", "t5", "kerple",
    "fire".

    Args:
        limit: int. Number of places, 2 to 65,536. Defaults to 2,048, as in the paper.
        answer: (float, int). While a model writes, how long its answer gets is not known, and places are drawn for one
            of a * (source tokens) + b tokens, at least one; tokens beyond that all have the last place. Defaults to
            (1, 1), or in a `TransformerDecoder` to the `target_steps` of its task, where that has them.
        encode_places: str. What is added to the embeddings: "sinusoidal" or "nothing". Defaults to "sinusoidal".
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        inputs: tensor of shape (B, T, D).
        places: int tensor of shape (B, S), from `places`.
        training: bool.
        offset: int tensor of shape (B,), the column of the first input in each row. Defaults to 0.

    Returns:
        Tensor of shape (B, T, D).

    Raises:
        InputError: an argument is out of range, or a sequence is longer than `limit`.

    Example:

    ```python
    encoding = kzoo.layers.RandomizedEncoding(limit=64)
    places = np.array(encoding.places(np.zeros((2, 9), "int32"), np.ones((2, 9), bool), training=True))
    assert (np.diff(places, axis=1) > 0).all() and places.max() < 64
    ```

    Differences from the authors' code: a draw belongs to a sequence, not to a batch; all layers have the same one, as
    the paper's text has it, where the code draws anew in each layer with rotary and relative positions; outside
    training the draw is always the same for a length, so that an answer depends neither on chance nor on its batch;
    and the code knows how long an answer is before it is written, which `answer` stands for. Sine and cosine are
    interleaved, and embeddings are not scaled. For relative positions the code draws distances, not places.
    """

    shared = True

    def __init__(
        self,
        limit: int = 2048,
        answer: Sequence[Any] = (1, 1),
        encode_places: str = "sinusoidal",
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.limit = checks.integer("limit", limit, 2, 65_536)
        self.answer = checks.steps("answer", answer)
        self.encode_places = checks.choice("encode_places", encode_places, ["sinusoidal", "nothing"])
        self.seeds = keras.random.SeedGenerator()
        # Outside training: all places in one random order, of which a sequence of n tokens takes the first n.
        self.order = np.random.default_rng(0).permutation(self.limit).astype("int32")

    def build(self, inputs_shape: Shape) -> None:
        if self.encode_places == "sinusoidal":
            check_even(inputs_shape[-1], "the size of the inputs")
        self.built = True

    def places(
        self, token_ids: Tensor, mask: Tensor | None = None, delimiter: Tensor | None = None, training: bool = False
    ) -> Tensor:
        tokens = ops.convert_to_tensor(token_ids)
        batch, columns = ops.shape(tokens)
        if isinstance(columns, int) and columns > self.limit:
            raise InputError(f"a sequence of {columns} tokens has no places: there are {self.limit}")
        if mask is not None:
            numbers = ops.sum(ops.cast(mask, "int32"), axis=1, keepdims=True)
        else:
            source = ops.full((batch, 1), columns, dtype="int32") if delimiter is None else ops.cast(delimiter, "int32")
            numbers = source + lengths_of_answers(source, self.answer)
        order = ops.convert_to_tensor(self.order)[None, :]
        if training:  # sequences are finished, and need no more places than columns
            drawn = keras.random.uniform((batch, self.limit), dtype="float32", seed=self.seeds)
            order = ops.cast(ops.top_k(drawn, columns)[1], "int32")
        taken = ops.arange(ops.shape(order)[1], dtype="int32")[None, :] < numbers
        # Sorted, those taken come first; behind the last of them there is the end of the range.
        found = ops.sort(ops.where(taken, order, self.limit - 1), axis=1)[:, :columns]
        return ops.broadcast_to(found, (batch, columns))

    def encode(self, inputs: Tensor, places: Tensor, training: bool) -> Tensor:
        if self.encode_places == "nothing":
            return inputs
        return inputs + ops.cast(sinusoid(ops.cast(places, "float32"), inputs.shape[-1]), inputs.dtype)

    def get_config(self) -> Config:
        own = {"limit": self.limit, "answer": self.answer, "encode_places": self.encode_places}
        return {**super().get_config(), **own}


alias("encoding", "randomized", "RandomizedEncoding")
alias("encoding", "randomized_places", "RandomizedEncoding", encode_places="nothing")
