"""PaTH attention: its products of reflections written out, one position at a time, and what a reflection can do."""

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo import registry
from kzoo.errors import InputError

pytestmark = pytest.mark.usefixtures("quick_compiler")


def numpy(x):
    return ops.convert_to_numpy(x)


def made(seed=1, **config):
    attention = kzoo.layers.PathAttention(**{"heads": 2, "rank": 4, **config})
    attention.build((None, None, 6))
    for variable in attention.trainable_variables:
        variable.assign(np.random.default_rng(seed).normal(size=variable.shape).astype("float32"))
    return attention


def states(length=7):
    return np.random.default_rng(0).normal(size=(3, length, 6)).astype("float32")


def by_hand(attention, x):
    """The definition, in float64: every key is reflected by one position after another, on its way to the query."""
    sigmoid = lambda z: 1 / (1 + np.exp(-z))  # noqa: E731
    heads, size = attention.heads, attention.size
    names = ("query", "key", "value", "narrow", "widen", "strength", "projection")
    maps = {name: numpy(getattr(attention, name).kernel).astype("float64") for name in names}
    taps, bias = numpy(attention.filter)[:, :, 0], numpy(attention.strength.bias)
    output, weights = np.zeros_like(x), np.zeros((len(x), heads, x.shape[1], x.shape[1]))
    for b, rows in enumerate(x.astype("float64")):
        q, k, v, low = (
            (rows @ m).reshape(-1, heads, size)
            for m in (maps["query"], maps["key"], maps["value"], maps["narrow"] @ maps["widen"])
        )
        strength = 2 * sigmoid(rows @ maps["strength"] + bias)
        for h in range(heads):
            turns = []
            for t in range(len(rows)):
                c = sum(taps[r, h] * low[t - r, h] for r in range(min(len(taps), t + 1)))
                c = c * sigmoid(c)
                w = c / np.sqrt(c @ c + 1e-6)
                turns.append(np.eye(size) - strength[t, h] * np.outer(w, w))
            for i in range(len(rows)):
                scores = np.full(len(rows), -np.inf)
                for j in range(i + 1):
                    key = k[j, h]
                    for t in range(j + 1, i + 1):
                        key = turns[t] @ key
                    scores[j] = q[i, h] @ key / np.sqrt(size)
                weights[b, h, i] = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
                own = slice(h * size, (h + 1) * size)
                output[b, i] += weights[b, h, i] @ v[:, h] @ maps["projection"][own]
    return output, weights


@pytest.mark.parametrize("config", [{}, {"width": 1}, {"heads": 1, "head_units": 5, "width": 9}])
def test_the_products_written_out(config):
    attention = made(**config)
    output, weights = attention(states(), mask=np.ones((3, 7), bool))
    expected = by_hand(attention, states())
    np.testing.assert_allclose(numpy(weights), expected[1], atol=1e-4)
    np.testing.assert_allclose(numpy(output), expected[0], rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(numpy(attention(states())[1]), numpy(weights))


@pytest.mark.parametrize("width", [1, 3])
def test_step_by_step_it_is_the_same(width):
    attention, x = made(width=width), states()
    whole = numpy(attention(x)[0])
    real = np.arange(5) < np.array([5, 3, 1])[:, None]
    padded = np.where(real[:, :, None], x[:, :5], 9.0).astype("float32")
    first, memory = attention.start(padded, np.tril(np.ones((1, 5, 5), bool)) & real[:, None], real=real)
    np.testing.assert_allclose(numpy(first)[real], whole[:, :5][real], atol=1e-4)
    memory = attention.with_room(memory, 2)
    for place in range(2):
        index = np.array([5, 3, 1]) + place
        following = np.stack([x[b, n] for b, n in enumerate(index)])[:, None]
        open_keys = (np.arange(7) <= index[:, None])[:, None]
        index = ops.convert_to_tensor(index.astype("int32"))
        found, memory = attention.step(following, memory, ops.convert_to_tensor(open_keys), index)
        for b, n in enumerate((5, 3, 1)):
            np.testing.assert_allclose(numpy(found)[b, 0], whole[b, n + place], atol=1e-4)


def test_a_reflection_counts_ones_at_any_length():
    """Each one turns the first key around, so that the sign of its score says whether they are odd or even."""
    attention = kzoo.layers.PathAttention(heads=1, head_units=2, rank=2, width=1)
    attention.build((None, None, 3))
    # Inputs are (begin, bit, always): the key of the first is (1, 0), that of the others 0, every query is (1, 0).
    attention.key.kernel.assign(np.array([[1, 0], [0, 0], [0, 0]], "float32"))
    attention.query.kernel.assign(np.array([[0, 0], [0, 0], [1, 0]], "float32"))
    attention.narrow.kernel.assign(np.array([[0, 0], [0, 0], [40, 0]], "float32"))
    attention.widen.kernel.assign(np.eye(2, dtype="float32"))
    attention.filter.assign(np.ones((1, 1, 1, 2), "float32"))
    attention.strength.kernel.assign(np.array([[0], [80], [-40]], "float32"))  # 2 at a one, else 0
    attention.strength.bias.assign(np.zeros(1, "float32"))
    bits = np.random.default_rng(0).integers(0, 2, (4, 300))
    x = np.stack([np.zeros_like(bits), bits, np.ones_like(bits)], -1).astype("float32")
    x = np.concatenate([np.broadcast_to([1, 0, 1], (4, 1, 3)).astype("float32"), x], 1)
    weights = numpy(attention(x)[1])[:, 0, 1:]
    even = np.cumsum(bits, 1) % 2 == 0
    # Other keys have the score 0: the first has more than they where the ones are even, else less.
    assert ((weights[:, :, 0] > weights[:, :, 1]) == even).all()


def test_bias_config_and_refusals():
    attention, x = made(bias="forgetting", width=2, dropout=0.25), states()
    copy = registry.get("multi_head", registry.serialize(attention))
    copy.build((None, None, 6))
    copy.set_weights(attention.get_weights())
    np.testing.assert_array_equal(numpy(copy(x)[0]), numpy(attention(x)[0]))
    assert copy.width == 2 and copy.dropout.rate == 0.25
    with pytest.raises(InputError, match="attends to its own sequence, not to a memory"):
        attention(x, x)
    with pytest.raises(InputError, match="what reads a source is attention, not a PathAttention"):
        kzoo.layers.DecoderBlock(cross="path")
    with pytest.raises(InputError, match="width must be an integer from 1 to 64"):
        kzoo.layers.PathAttention(width=0)
    with pytest.raises(InputError, match="mask must be boolean"):
        attention(x, mask=np.ones((3, 7), "float32"))
