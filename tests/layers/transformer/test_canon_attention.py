"""Canon layers: the sum written out, step by step, and what one layer of attention finds behind one."""

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo import registry
from kzoo.errors import InputError


def numpy(x):
    return ops.convert_to_numpy(x)


@pytest.mark.parametrize("width", [1, 2, 4, 9])
@pytest.mark.parametrize("attention", ["tempered", "delta"])
def test_the_sum_written_out(attention, width, randomize, padded):
    layer, (states, mask) = randomize(kzoo.layers.CanonAttention(attention, width=width, heads=3)), padded()
    taps = numpy(layer.filter)
    assert taps.shape == (width, 12)
    mixed = np.array(states)
    for b, t in np.ndindex(mask.shape):
        mixed[b, t] += sum(taps[r] * states[b, t - r] for r in range(min(width, t + 1)))
    output, weights = layer(states, mask=mask)
    expected, first = layer.attention(mixed, mask=mask)
    np.testing.assert_allclose(numpy(output)[mask], numpy(expected)[mask], atol=1e-4)
    assert (weights is None) == (attention == "delta")
    if first is not None:
        np.testing.assert_allclose(numpy(weights), numpy(first), atol=1e-5)


@pytest.mark.parametrize("attention", ["dot_product", "path", "delta", "counting"])
@pytest.mark.parametrize("width", [1, 3, 8])
def test_step_by_step_it_is_the_same(attention, width, randomize):
    layer = randomize(kzoo.layers.CanonAttention(attention, width=width, heads=2))
    x, ends = np.random.default_rng(0).normal(size=(3, 7, 12)).astype("float32"), (5, 3, 1)
    whole = numpy(layer(x, mask=np.tril(np.ones((1, 7, 7), bool)))[0])
    real = np.arange(5) < np.array(ends)[:, None]
    padded = np.where(real[:, :, None], x[:, :5], 9.0).astype("float32")
    first, memory = layer.start(
        ops.convert_to_tensor(padded), np.tril(np.ones((1, 5, 5), bool)) & real[:, None], real=real
    )
    np.testing.assert_allclose(numpy(first)[real], whole[:, :5][real], atol=1e-4)
    memory = layer.with_room(memory, 2)
    for place in range(2):
        index = np.array(ends) + place
        following = np.stack([x[b, n] for b, n in enumerate(index)])[:, None]
        seen = ops.convert_to_tensor((np.arange(7) <= index[:, None])[:, None])
        found, memory = layer.step(
            ops.convert_to_tensor(following), memory, seen, ops.convert_to_tensor(index.astype("int32"))
        )
        for b, n in enumerate(index):
            np.testing.assert_allclose(numpy(found)[b, 0], whole[b, n], atol=1e-4)


def test_one_look_finds_what_stands_behind_a_token():
    """Of pairs of name and value the head finds, at a name, the value behind it: it reads keys by the token before."""
    layer = kzoo.layers.CanonAttention({"class": "MultiHeadAttention", "config": {"head_units": 8}}, width=2)
    layer.build((None, None, 24))
    # A token is (name, value, name again); of the third part the layer keeps that of the token before.
    names, values = np.eye(8), np.eye(8)[[3, 1, 4, 0, 5, 2, 7, 6]]
    taps = np.zeros((2, 24), "float32")
    taps[0, 16:], taps[1, 16:] = -1.0, 1.0
    layer.filter.assign(taps)
    zeros, identity = np.zeros((8, 8)), np.eye(8)
    layer.attention.query.kernel.assign(np.concatenate([60 * identity, zeros, zeros]).astype("float32"))
    layer.attention.key.kernel.assign(np.concatenate([zeros, zeros, identity]).astype("float32"))
    layer.attention.value.kernel.assign(np.concatenate([zeros, identity, zeros]).astype("float32"))
    layer.attention.projection.kernel.assign(np.eye(8, 24).astype("float32"))
    rows = [
        row for n, v in zip(names, values, strict=True) for row in ([*n, *zeros[0], *n], [*zeros[0], *v, *zeros[0]])
    ]
    asked = np.concatenate([rows, np.concatenate([names, zeros, zeros], axis=1)]).astype("float32")[None]
    found = numpy(layer(asked, mask=np.tril(np.ones((1, 24, 24), bool)))[0])[0, 16:, :8]
    np.testing.assert_allclose(found, values, atol=1e-2)


def test_arguments_and_config():
    layer = kzoo.layers.CanonAttention("tempered", width=3, heads=2, dropout=0.1)
    copy = registry.get("multi_head", registry.serialize(layer))
    assert (copy.width, copy.heads, copy.attention.dropout.rate) == (3, 2, 0.1)
    block = registry.get("block", "canon", heads=4)
    assert block.attention.attention.heads == 4
    with pytest.raises(InputError, match="width must be an integer from 1 to 64"):
        kzoo.layers.CanonAttention(width=0)
    with pytest.raises(InputError, match="heads=3 does not apply"):
        kzoo.layers.CanonAttention({"class": "MultiHeadAttention", "config": {"heads": 2}}, heads=3)
    with pytest.raises(InputError, match="what reads a source is attention, not a CanonAttention"):
        kzoo.layers.DecoderBlock(cross="canon")
