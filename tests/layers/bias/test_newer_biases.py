"""The biases of later papers against their formulas, one number at a time."""

import math

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo import registry
from kzoo.errors import InputError
from kzoo.layers import BiasInputs, MultiHeadAttention

pytestmark = pytest.mark.usefixtures("quick_compiler")
SHAPES = (None, None, 8), (None, 3, None, 4)  # of states and queries: three heads
rng = np.random.default_rng(0)
PLACES = np.array([[0, 2, 3, 7, 20], [1, 4, 5, 6, 9]], "int32")


def numpy(x):
    return ops.convert_to_numpy(x)


def made(name, **config):
    """Returns a bias with random weights."""
    bias = registry.get("bias", {"class": name, "config": config})
    bias.build(*SHAPES)
    for variable in bias.trainable_variables:
        variable.assign(np.random.default_rng(1).normal(size=variable.shape, scale=0.7).astype("float32"))
    return bias


def both(bias, expected, places=None, queries=None, lengths=(5, 5)):
    """Compares a bias of all positions, and of one query at a time, with `expected(head, i, j)`."""
    for b in range(1 if places is None else len(places)):
        own = list(range(lengths[1])) if places is None else places[b].tolist()
        wanted = np.array(
            [[[expected(h, own[i], own[j]) for j in range(lengths[1])] for i in range(lengths[0])] for h in range(3)]
        )
        found = numpy(bias(BiasInputs(*lengths, places=places)))
        np.testing.assert_allclose(found[min(b, len(found) - 1)], wanted, rtol=2e-5, atol=2e-5)
        batch = 2 if places is None else len(places)
        at = BiasInputs(1, lengths[1], query_offset=np.full(batch, 3), places=places)
        np.testing.assert_allclose(numpy(bias(at))[b, :, 0], wanted[:, 3], rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("places", [None, PLACES])
def test_kerple(places):
    bias = made("kerple")
    bias.slope.assign(np.array([-1, 0.5, 1.5], "float32")[:, None, None])  # the first is below the bound
    slope, curve = (np.maximum(numpy(v)[:, 0, 0], 0.01) for v in (bias.slope, bias.curve))
    both(bias, lambda h, i, j: -slope[h] * math.log(1 + curve[h] * abs(i - j)), places)
    power = made("kerple_power")
    slope, curve = np.maximum(numpy(power.slope)[:, 0, 0], 0.01), np.clip(numpy(power.curve)[:, 0, 0], 0.01, 2)
    both(power, lambda h, i, j: -slope[h] * abs(i - j) ** curve[h] if i != j else 0.0, places)


@pytest.mark.parametrize("places", [None, PLACES])
def test_fire(places):
    bias = made("fire", threshold=2.0)
    c, level = abs(float(numpy(bias.c)[0])), abs(2.0 * float(numpy(bias.multiplier)[0]))
    w1, b1, w2, b2 = (numpy(v) for v in (bias.inner.kernel, bias.inner.bias, bias.outer.kernel, bias.outer.bias))

    def expected(h, i, j):
        share = math.log(c * abs(i - j) + 1) / (math.log(c * max(i, level) + 1) + 1e-6)
        return (np.maximum(share * w1[0] + b1, 0) @ w2 + b2)[h]

    both(bias, expected, places)
    fresh = kzoo.layers.FireBias()
    fresh.build(*SHAPES)
    assert float(numpy(fresh.c)[0]) == np.float32(0.1) and float(numpy(fresh.multiplier)[0]) == 1
    assert fresh.inner.kernel.shape == (1, 32)


def t5_bucket(distance, both_sides, buckets=32, longest=128):
    """As the T5 code has it, with the key minus the query; ours is the query minus the key."""
    found, n = 0, -distance
    if both_sides:
        buckets //= 2
        found += buckets if n > 0 else 0
        n = abs(n)
    else:
        n = -min(n, 0)
    exact = buckets // 2
    if n < exact:
        return found + n
    return found + min(exact + int(math.log(n / exact) / math.log(longest / exact) * (buckets - exact)), buckets - 1)


@pytest.mark.parametrize("both_sides", [False, True])
def test_t5_buckets(both_sides):
    bias = made("t5", both_sides=both_sides)
    for distance in range(-200, 200):
        assert bias.bucket(distance) == t5_bucket(distance, both_sides), distance
    table = numpy(bias.numbers)
    both(bias, lambda h, i, j: table[t5_bucket(i - j, both_sides), h])
    both(bias, lambda h, i, j: table[t5_bucket(i - j, both_sides), h], PLACES * 30)
    with pytest.raises(InputError, match="longest must be an integer from 33"):
        kzoo.layers.T5Bias(longest=32)


def test_nape_and_alibi_at_places():
    both(made("nape"), lambda h, i, j: -[1, 0, 0][h] * abs(i - j), PLACES)
    both(made("alibi"), lambda h, i, j: -(2 ** (-8 * (h + 1) / 3)) * abs(i - j), PLACES)


def test_relative_positions_at_places():
    bias, given = made("relative"), rng.normal(size=(2, 3, 5, 4)).astype("float32")
    queries = ops.convert_to_tensor(given)
    plain = numpy(bias(BiasInputs(5, 5, queries=queries, scale=0.5)))
    columns = np.broadcast_to(np.arange(5, dtype="int32"), (2, 5))
    same = numpy(bias(BiasInputs(5, 5, queries=queries, scale=0.5, places=columns)))
    np.testing.assert_allclose(same, plain, atol=1e-5)
    table = numpy(bias.distance.kernel).reshape(8, 3, 4)
    found = numpy(bias(BiasInputs(5, 5, queries=queries, places=PLACES)))
    for b, h, i, j in np.ndindex(2, 3, 5, 5):
        angle = (PLACES[b, j] - PLACES[b, i]) * 10000.0 ** (-np.arange(0, 8, 2) / 8)
        wave = np.stack([np.sin(angle), np.cos(angle)], -1).ravel()
        wanted = (given[b, h, i] + numpy(bias.distance_bias)[h, 0]) @ (wave @ table[:, h])
        assert found[b, h, i, j] == pytest.approx(wanted, abs=1e-4)


def test_hard_alibi():
    reach = [0, 1, 99]
    both(made("hard_alibi", windows=2), lambda h, i, j: 0.0 if 0 <= i - j <= reach[h] or h == 2 else -1e9)
    with pytest.raises(InputError, match="there are 3 heads, but 4 windows"):
        made("hard_alibi", windows=4)
    assert made("hard_alibi").reach.tolist() == [0, 2**30, 2**30]


def attention(bias):
    layer = MultiHeadAttention(heads=3, head_units=4, bias=bias)
    layer.build((None, None, 8))
    for variable in layer.trainable_variables:
        variable.assign(np.random.default_rng(2).normal(size=variable.shape, scale=0.6).astype("float32"))
    return layer


def cope(scores, queries, table, last):
    """The positions of contextual counting for one row, and their scores."""
    found = np.zeros_like(scores)
    for h, i, j in np.ndindex(*scores.shape):
        if j <= i:
            p = min(sum(1 / (1 + math.exp(-scores[h, i, k])) for k in range(j, i + 1)), last)
            low, high = math.floor(p), math.ceil(p)
            rows = table[low] * (1 - (p - low)) + table[high] * (p - low)
            found[h, i, j] = queries[h, i] @ rows
    return found


@pytest.mark.parametrize("positions", [3, 64])
def test_contextual_positions(positions):
    layer, states = attention({"class": "cope", "config": {"positions": positions}}), rng.normal(size=(1, 5, 8))
    causal = np.tril(np.ones((1, 5, 5), bool))
    split = lambda dense: (states @ numpy(dense.kernel)).reshape(5, 3, 4).transpose(1, 0, 2)  # noqa: E731
    queries, keys = split(layer.query), split(layer.key)
    scores = queries @ keys.transpose(0, 2, 1) / 2
    wanted = scores + cope(scores, queries, numpy(layer.bias.vectors), positions - 1)
    wanted = np.where(causal, np.exp(wanted), 0)
    found = numpy(layer(states.astype("float32"), mask=causal)[1])[0]
    np.testing.assert_allclose(found, wanted / wanted.sum(-1, keepdims=True), atol=1e-5)


def test_forgetting_gate():
    layer, states = attention("forgetting"), rng.normal(size=(1, 5, 8))
    causal = np.tril(np.ones((1, 5, 5), bool))
    split = lambda dense: (states @ numpy(dense.kernel)).reshape(5, 3, 4).transpose(1, 0, 2)  # noqa: E731
    scores = split(layer.query) @ split(layer.key).transpose(0, 2, 1) / 2
    gates = 1 / (1 + np.exp(-(states[0] @ numpy(layer.bias.gate.kernel) + numpy(layer.bias.gate.bias))))
    for h, i, j in np.ndindex(3, 5, 5):
        scores[h, i, j] += np.log(gates[j + 1 : i + 1, h]).sum()
    wanted = np.where(causal, np.exp(scores), 0)
    found = numpy(layer(states.astype("float32"), mask=causal)[1])[0]
    np.testing.assert_allclose(found, wanted / wanted.sum(-1, keepdims=True), atol=1e-5)


def test_a_constant_gate_is_alibi():
    layer = attention("forgetting")
    layer.bias.gate.kernel.assign(np.zeros((8, 3), "float32"))
    layer.bias.gate.bias.assign(np.array([0, 1, 2], "float32"))
    bias = layer.bias(
        BiasInputs(4, 4, np.ones((1, 4, 8)), np.ones((1, 3, 4, 4)), prepared=layer.prepare(np.ones((1, 4, 8))))
    )
    slopes = np.log(1 / (1 + np.exp(-np.arange(3.0))))
    np.testing.assert_allclose(numpy(bias)[0, :, 3], slopes[:, None] * np.array([3, 2, 1, 0]), atol=1e-5)
    with pytest.raises(InputError, match="needs what its prepare returns"):
        layer.bias(BiasInputs(4, 4, np.ones((1, 4, 8)), np.ones((1, 3, 4, 4))))


@pytest.mark.parametrize("name", ["KerpleBias", "FireBias", "T5Bias", "HardAlibiBias", "NapeBias"])
def test_heads_must_be_known(name):
    with pytest.raises(InputError, match=f"{name} must be built, or called with queries, to know the number of heads"):
        registry.get("bias", name)(BiasInputs(2, 2))
