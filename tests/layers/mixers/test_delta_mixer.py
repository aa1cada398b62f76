"""The delta rule: all positions at once, one at a time, and written out; what its eigenvalues can do."""

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo import registry
from kzoo.errors import InputError
from kzoo.saving import weights

pytestmark = pytest.mark.usefixtures("quick_compiler")
MIXERS = sorted(registry.names("mixer"))


def numpy(x):
    return ops.convert_to_numpy(x)


def made(name="delta", seed=1, **config):
    mixer = registry.get("mixer", {"class": name, "config": {"heads": 2, **config}})
    mixer.build((None, None, 6))
    for variable in mixer.trainable_variables:
        variable.assign(np.random.default_rng(seed).normal(size=variable.shape).astype("float32"))
    return mixer


def states(length=7):
    return np.random.default_rng(0).normal(size=(3, length, 6)).astype("float32")


def by_hand(mixer, x):
    """The recurrence of the papers, in float64, a token and a reflection at a time."""
    silu = lambda z: z / (1 + np.exp(-z))  # noqa: E731
    unit = lambda z: z / np.sqrt((z * z).sum(-1, keepdims=True) + 1e-6)  # noqa: E731
    heads, size, count = mixer.heads, mixer.size, mixer.reflections
    maps = {n: numpy(getattr(mixer, n).kernel) for n in ("query", "key", "value", "strength", "projection")}
    found = np.zeros((*x.shape[:2], heads * size))
    for b in range(len(x)):
        memory = np.zeros((heads, size, size))
        for t, row in enumerate(x[b].astype("float64")):
            q = unit(silu(row @ maps["query"]).reshape(heads, size))
            k = unit(silu(row @ maps["key"]).reshape(count, heads, size))
            v = silu(row @ maps["value"]).reshape(count, heads, size)
            beta = (1 - mixer.low) / (1 + np.exp(-(row @ maps["strength"]).reshape(count, heads)))
            for r, h in np.ndindex(count, heads):
                kept = np.eye(size) - beta[r, h] * np.outer(k[r, h], k[r, h])
                memory[h] = kept @ memory[h] + beta[r, h] * np.outer(k[r, h], v[r, h])
            o = np.einsum("hkv,hk->hv", memory, q)
            o = o / np.sqrt((o * o).mean(-1, keepdims=True) + 1e-6) * numpy(mixer.gain)
            found[b, t] = o.ravel()
    return found @ maps["projection"]


@pytest.mark.parametrize("config", [{}, {"low": 0.0}, {"reflections": 3, "head_units": 5}])
def test_the_recurrence_written_out(config):
    mixer = made(**config)
    np.testing.assert_allclose(numpy(mixer(states())[0]), by_hand(mixer, states()), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("config", [{}, {"reflections": 3, "head_units": 5}])
def test_chunks_hand_their_state_on(config):
    """130 positions are three chunks of one reflection each, or seven of three, the last not full."""
    mixer, x = made(**config), states(130)
    np.testing.assert_allclose(numpy(mixer(x)[0]), by_hand(mixer, x), rtol=1e-3, atol=2e-3)
    real = np.arange(130) < np.array([130, 70, 3])[:, None]
    last = numpy(mixer.start(x, real=real)[1]["memory"])
    for b, n in enumerate((130, 70, 3)):
        np.testing.assert_allclose(last[b], numpy(mixer.start(x[b : b + 1, :n])[1]["memory"])[0], atol=1e-3)


@pytest.mark.parametrize("name", MIXERS)
def test_step_by_step_it_is_the_same(name):
    mixer, x = made(name), states()
    whole, nothing = mixer(x)
    assert nothing is None and whole.shape == x.shape
    real = np.arange(5) < np.array([5, 3, 1])[:, None]
    first, memory = mixer.start(np.where(real[:, :, None], x[:, :5], 9.0).astype("float32"), real=real)
    np.testing.assert_allclose(numpy(first)[real], numpy(whole)[:, :5][real], atol=1e-4)
    for place in range(2):
        following = np.stack([x[b, n + place] for b, n in enumerate((5, 3, 1))])[:, None]
        found, memory = mixer.step(following, memory)
        for b, n in enumerate((5, 3, 1)):
            np.testing.assert_allclose(numpy(found)[b, 0], numpy(whole)[b, n + place], atol=1e-4)


@pytest.mark.parametrize("name", MIXERS)
def test_nothing_behind_is_seen_and_config_comes_back(name, tmp_path):
    mixer, x = made(name), states()
    changed = np.array(x)
    changed[:, 4:] = 5
    np.testing.assert_allclose(numpy(mixer(changed)[0])[:, :4], numpy(mixer(x)[0])[:, :4], atol=1e-5)
    assert np.isfinite(numpy(mixer(states(60))[0])).all()
    weights.save_weights(mixer, tmp_path / "mixer.safetensors")
    copy = made(seed=5, **registry.serialize(mixer)["config"])
    weights.load_weights(copy, tmp_path / "mixer.safetensors")
    np.testing.assert_array_equal(numpy(copy(x)[0]), numpy(mixer(x)[0]))


@pytest.mark.parametrize("low, exact", [(-1.0, True), (0.0, False)])
def test_one_reflection_tells_odd_from_even_at_any_length(low, exact):
    """A one flips the sign of the state, at beta 2: what no eigenvalue from 0 on can do."""
    mixer = kzoo.layers.DeltaMixer(heads=1, head_units=2, low=low)
    mixer.build((None, None, 3))
    big = 40.0  # sigmoid(40) is 1 in float32: beta is 2, or 1
    # Inputs are (begin, bit, always); the begin token writes (1, 0) along the key, a one reflects, a zero does nothing.
    mixer.query.kernel.assign(np.array([[0, 0], [0, 0], [big, 0]], "float32"))
    mixer.key.kernel.assign(np.array([[0, 0], [0, 0], [big, 0]], "float32"))
    mixer.value.kernel.assign(np.array([[1, 0], [0, 0], [0, 0]], "float32"))
    mixer.strength.kernel.assign(np.array([[2 * big], [2 * big], [-big]], "float32"))
    mixer.projection.kernel.assign(np.eye(2, 3, dtype="float32"))
    bits = np.random.default_rng(0).integers(0, 2, (4, 300))
    x = np.stack([np.zeros_like(bits), bits, np.ones_like(bits)], -1).astype("float32")
    x = np.concatenate([np.broadcast_to([1, 0, 1], (4, 1, 3)).astype("float32"), x], 1)
    signs = np.sign(numpy(mixer(x)[0])[:, 1:, 0])
    expected = 1 - 2 * (np.cumsum(bits, 1) % 2)
    assert (np.abs(signs) == 1).all() == exact and (signs == expected).all() == exact


def test_in_blocks_readers_and_depths():
    x, mask = states(), np.ones((3, 7), bool)
    block = kzoo.layers.TransformerBlock("delta", heads=2, hidden_units=8)
    found, trace = block(x, mask)
    assert trace == {} and found.shape == x.shape and block.heads == 2 and block.attention_dropout == 0
    gate = kzoo.layers.CopyGate({"class": "TransformerBlock", "config": {"attention": "delta", "update": "norm"}})
    assert set(gate(x, mask)[1]) == {"gates"}
    reader = kzoo.layers.MixerReader(5, layers=2, mixer="delta_product", heads=1)
    assert reader(x, mask).shape == (3, 5) and registry.serialize(reader)["config"]["mixer"]["config"]["heads"] == 1
    with pytest.raises(InputError, match="what reads a source is attention, not a DeltaMixer"):
        kzoo.layers.DecoderBlock(cross="delta")
    with pytest.raises(InputError, match="low must be a number from -1 to 0"):
        kzoo.layers.DeltaMixer(low=-2.0)
    with pytest.raises(InputError, match="cannot be split between 4 heads"):
        kzoo.layers.DeltaMixer(heads=4).build((None, None, 6))
