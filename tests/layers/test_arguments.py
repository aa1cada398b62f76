"""Arguments that do not apply are refused in a sentence, never dropped."""

import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.layers import (
    ContentAttention,
    CopyGate,
    DecoderBlock,
    DirectionMix,
    LocationAttention,
    MixAttention,
    MultiHeadAttention,
    TransformerBlock,
)

FOUR_HEADS = {"class": "MultiHeadAttention", "config": {"heads": 4}}
GATED = {"class": "TransformerBlock", "config": {"update": "norm", "attention": FOUR_HEADS}}


def objects(units):
    return ContentAttention(units=units), LocationAttention(units=units)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: MixAttention(*objects(8), units=4), "units=4 does not apply: the attention has units=8"),
        (
            lambda: MixAttention(*objects(None), units=4),
            "units=4 does not apply: the attention is an object that states",
        ),
        (
            lambda: MixAttention("content", {"class": "location", "config": {"units": 8}}, units=4),
            "units=4 does not apply: the attention has units=8",
        ),
        (
            lambda: MixAttention(ContentAttention(value_units=7), "location"),
            "a part of MixAttention has no values: value_units is an argument of the mixture",
        ),
        (
            lambda: MixAttention("content", "multiplicative", reference="location"),
            'the reference "location" does not apply: MultiplicativeAttention keeps no mean position',
        ),
        (lambda: DirectionMix(ContentAttention(units=8), units=4), "units=4 does not apply: the attention has units=8"),
        (lambda: TransformerBlock(MultiHeadAttention(), heads=2), "heads=2 does not apply: the multi_head has heads=1"),
        (lambda: TransformerBlock(FOUR_HEADS, heads=2), "heads=2 does not apply: the multi_head has heads=4"),
        (
            lambda: TransformerBlock(MultiHeadAttention(dropout=0.5), attention_dropout=0.1),
            "dropout=0.1 does not apply: the multi_head has dropout=0.5",
        ),
        (lambda: CopyGate(TransformerBlock(update="norm"), heads=2), "heads=2 does not apply: the block has heads=1"),
        (lambda: CopyGate(GATED, heads=2), "heads=2 does not apply: the multi_head has heads=4"),
        (lambda: CopyGate(TransformerBlock()), 'the update of a block in a CopyGate is "norm" or "tanh"'),
        (lambda: CopyGate("ndr"), "the block of a CopyGate is a TransformerBlock, not a CopyGate"),
        (
            lambda: DecoderBlock(TransformerBlock(dropout=0.5), dropout=0.1),
            "dropout=0.1 does not apply: the block has dropout=0.5",
        ),
        (
            lambda: DecoderBlock(cross=MultiHeadAttention(heads=4), heads=2),
            "heads=2 does not apply: the multi_head has heads=4",
        ),
    ],
)
def test_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_what_agrees_is_taken():
    assert MixAttention(*objects(4), units=4).units == 4
    assert TransformerBlock(MultiHeadAttention(heads=2), heads=2).heads == 2
    gate = CopyGate(TransformerBlock(MultiHeadAttention(heads=2), "norm", hidden_units=8), heads=2, hidden_units=8)
    assert (gate.heads, gate.hidden_units, gate.attention_dropout) == (2, 8, 0.0)
    block = kzoo.registry.get("block", {"class": "CopyGate", "config": {"block": GATED}}, heads=2, hidden_units=8)
    assert (block.heads, block.hidden_units) == (4, 8)  # defaults go where nothing else is stated


def test_stated_arguments_that_a_class_does_not_take():
    with pytest.raises(InputError, match="layers=2 does not apply: DNCReader takes no layers"):
        kzoo.registry.get("reader", "dnc", {"layers": 2, "units": None})
    assert kzoo.registry.get("reader", "dnc", {"layers": None}, layers=2).units == 200


def test_a_direction_needs_a_summary():
    cell = DirectionMix("MonotonicAttention")
    cell.build((None, 6), (None, None, 6))
    with pytest.raises(InputError, match="DirectionMix needs the summary of the memory"):
        cell.prepare(np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool))


@pytest.mark.parametrize(
    "make",
    [
        lambda: kzoo.layers.SinusoidalEncoding().build((None, None, 5)),
        lambda: kzoo.layers.CyclicEncoding().build((None, None, 5)),
        lambda: MultiHeadAttention(position="rotary").build((None, None, 5)),
        lambda: MultiHeadAttention(bias="relative").build((None, None, 5)),
        lambda: MultiHeadAttention(bias="gated_relative").build((None, None, 5)),
    ],
)
def test_odd_sizes_are_refused_when_a_layer_is_built(make):
    with pytest.raises(InputError, match="sinusoids go in pairs: the size of .* must be even, not 5"):
        make()


def test_geometric_attention_is_of_a_sequence_to_itself():
    attention = MultiHeadAttention(weighting="geometric")
    with pytest.raises(InputError, match="geometric weighting needs as many keys as queries, not 5 for 3"):
        attention(np.ones((2, 3, 6), "float32"), np.ones((2, 5, 6), "float32"))


def test_sizes_that_would_take_gigabytes_are_refused():
    with pytest.raises(InputError, match="longest must be an integer from 1 to 64, not 10000"):
        kzoo.layers.MirroredBias(longest=10_000)
    with pytest.raises(InputError, match="the memory of 1024 cells of size 8192 is larger than 1,048,576 numbers"):
        kzoo.layers.DNCReader(8192, cells=1024)
