"""Coupled positions: tokens that belong together share one."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Tensor
from kzoo.layers.positions.placed_encoding import PlacedEncoding, runs
from kzoo.registry import alias, register


@register("encoding")
class CoupledEncoding(PlacedEncoding):
    """Adds a learned vector of a place that belongs to the task: tokens of one significance share theirs.

    Position coupling of [Cho et al., 2024](https://arxiv.org/abs/2405.20671), section 3.1. With s the start of a
    sequence and P a table of vectors:

        x_t = E(token_t) + P[place_t]

    A digit of weight 10^k in a number of the source has the place s + 1 + k, a separator and the delimiter have s, and
    the k-th token behind the delimiter, which is the digit of weight 10^k of an answer that is written from its last
    digit, has s + 1 + k. So 653 + 049 = 2070 with s = 6 has the places 9 8 7, 6, 9 8 7, 6, 7 8 9 10. While training s
    is uniform in 1 .. `longest` - n for each sequence, n its largest k + 1; else it is `start`. What is neither has
    place 0.

    With `separators="end"` a separator of the source has s + 1 + n instead, which no digit of the source has. The end
    of the answer is then found by what matches, as its digits are, and not by the want of a match. This is ours.

    With `source="start"` the k-th digit of a run in the source has s + 1 + k, as in the paper's copy.

    This gives a model the alignment of the task: a result with it has the supervision "built-in alignment".

    Args:
        longest: int. The largest place, 2 to 100,000: the rows of P less one. Defaults to 202, as for the paper's main
            results.
        digits: int. The token ids below it are those that have places; kzoo's tasks have their digits first. Defaults
            to 10.
        source: str. "end": numbers of the source are counted from their last digit, "start": from their first.
            Defaults to "end".
        separators: str. "start": a separator of the source has s, as in the paper, "end": s + 1 + n. Defaults to
            "start".
        deviation: float. Of the entries of P at the start of training. Defaults to 1.
        orthogonal: bool. Whether the rows of P start at right angles to each other, as far as D allows, instead of
            normally distributed. Two places that training never shows in one sequence then do not look alike by
            chance. Defaults to False, as in the paper.
        start: int. The s outside training, 1 to `longest` - 1. Defaults to 1, as in the paper. Training meets the first
            and the last places least, for few of the windows that it draws reach there; after a short one, how far a
            sum goes on depends on s.
        dtype: str or DTypePolicy. As of every Keras layer.

    Call arguments:
        inputs: tensor of shape (B, T, D).
        places: int tensor of shape (B, S), from `places`.
        training: bool.
        offset: int tensor of shape (B,), the column of the first input in each row. Defaults to 0.

    Returns:
        Tensor of shape (B, T, D).

    Raises:
        InputError: an argument is out of range.

    Example:

    ```python
    encoding = kzoo.layers.CoupledEncoding()
    tokens = np.array([[6, 5, 3, 10, 4, 9, 11, 2, 0, 7]])  # 653 + 49 | 207..., 10 for the plus, 11 for the delimiter
    places = np.array(encoding.places(tokens, delimiter=np.array([[6]])))
    assert places.tolist() == [[4, 3, 2, 1, 3, 2, 1, 2, 3, 4]]
    ```

    A decoder of one block of 128 units, trained for six minutes on 1 to 6 digits with zeros (`coupled_addition`), is
    right in 98.8 / 85.6 / 75.0 % at 10 digits (three seeds) and in 1.0 / 3.6 / 1.4 % at 30; the paper's, trained on
    1 to 30, in more than 95 % at 200. What fails is of three kinds. Some places look like others that training never
    shows in one sequence: start with `orthogonal`. Many weak scores add up: sharpen them with `ScalableWeighting`. And
    the end of the answer is found by the want of a match: use `separators="end"`. With all three, and heads of 128
    units, `coupled_ssmax_addition` is right in 93.2 / 98.8 / 25.6 % at 30 digits and in 82.0 / 96.0 / 0.2 % at 60; it
    ends every sum where it should, and the third seed has single digits wrong all over.

    Differences: the paper's code fills up numbers with zeros, as a `TransformerDecoder` does whose layout is `filled`;
    without them one digit at a place looks like two that are alike. It draws s below `longest` less the digits of the
    longer operand and one. A place above `longest`, an error there, is `longest` here: such a number is longer than
    what the model can know. An answer that is not reversed has places of another rule there, and none here.
    """

    def __init__(
        self,
        longest: int = 202,
        digits: int = 10,
        source: str = "end",
        separators: str = "start",
        deviation: float = 1.0,
        orthogonal: bool = False,
        start: int = 1,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.longest = checks.integer("longest", longest, 2, 100_000)
        self.digits = checks.integer("digits", digits, 1, 65_536)
        self.source = checks.choice("source", source, ["end", "start"])
        self.separators = checks.choice("separators", separators, ["start", "end"])
        self.deviation = checks.number("deviation", deviation, 0.0, 100.0)
        self.orthogonal = checks.boolean("orthogonal", orthogonal)
        self.start = checks.integer("start", start, 1, self.longest - 1)
        self.seeds = keras.random.SeedGenerator()

    def build(self, inputs_shape: Shape) -> None:
        shape = (self.longest + 1, inputs_shape[-1])
        initializer: keras.initializers.Initializer = keras.initializers.RandomNormal(stddev=self.deviation)
        if self.orthogonal:
            initializer = keras.initializers.Orthogonal(gain=self.deviation * max(shape) ** 0.5)
        self.vectors = self.add_weight(shape, initializer=initializer, name="vectors")
        self.built = True

    def places(
        self, token_ids: Tensor, mask: Tensor | None = None, delimiter: Tensor | None = None, training: bool = False
    ) -> Tensor:
        tokens = ops.convert_to_tensor(token_ids, dtype="int32")
        columns = ops.arange(ops.shape(tokens)[1], dtype="int32")[None, :]
        last = ops.shape(tokens)[1] if delimiter is None else ops.cast(delimiter, "int32")
        is_digit = tokens < self.digits
        of_source = ops.logical_and(is_digit, columns < last)
        before, behind = runs(of_source)
        # From 1 for the digits of the source, and behind the delimiter; 0 for the delimiter, and for separators unless
        # they are at the end; -1: no place.
        counted = ops.where(of_source, (behind if self.source == "end" else before) + 1, 0)
        separator = ops.max(counted, axis=1, keepdims=True) + 1 if self.separators == "end" else 0
        index = ops.where(columns < last, ops.where(is_digit, counted, separator), columns - last)
        index = ops.where(ops.logical_and(columns > last, ops.logical_not(is_digit)), -1, index)
        if mask is not None:
            index = ops.where(mask, index, -1)
        start: Tensor = self.start
        if training:
            room = ops.cast(ops.maximum(self.longest - ops.max(index, axis=1, keepdims=True), 1), "float32")
            drawn = keras.random.uniform((ops.shape(tokens)[0], 1), dtype="float32", seed=self.seeds)
            start = 1 + ops.cast(ops.floor(drawn * room), "int32")
        return ops.where(index < 0, 0, ops.minimum(index + start, self.longest))

    def encode(self, inputs: Tensor, places: Tensor, training: bool) -> Tensor:
        return inputs + ops.cast(ops.take(self.vectors, places, axis=0), inputs.dtype)

    def get_config(self) -> Config:
        own = {"longest": self.longest, "digits": self.digits, "source": self.source, "separators": self.separators}
        own |= {"deviation": self.deviation, "orthogonal": self.orthogonal, "start": self.start}
        return {**super().get_config(), **own}


alias("encoding", "coupled", "CoupledEncoding")
