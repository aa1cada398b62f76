"""The mixture of content and location, and what its location attention remembers."""

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError


def mixture(attend, **config):
    config = {"content": "content", "location": "MonotonicAttention", **config}
    return attend.build(kzoo.layers.MixAttention(**config, units=4))


def parts(cell, prepared, query, states):
    return [
        ops.convert_to_numpy(part.weigh(query, prepared[name], states)[0])
        for name, part in (("content", cell.content), ("location", cell.location))
    ]


def test_the_gate_weights_the_location(attend):
    cell = mixture(attend)
    memory, mask, summary, queries = attend.inputs()
    prepared = cell.prepare(memory, mask, summary)
    query, states = ops.convert_to_tensor(queries[0]), cell.get_initial_state(prepared)
    content, location = parts(cell, prepared, query, states)
    _, weights, new = cell(query, prepared, states)
    raw = queries[0] @ ops.convert_to_numpy(cell.mixer.kernel) + ops.convert_to_numpy(cell.mixer.bias)
    mix = 1 / (1 + np.exp(-raw))
    assert new["mix"].shape == (3,)
    np.testing.assert_allclose(ops.convert_to_numpy(new["mix"]), mix[:, 0], atol=1e-6)
    np.testing.assert_allclose(ops.convert_to_numpy(weights), mix * location + (1 - mix) * content, atol=1e-6)


@pytest.mark.parametrize("reference", ["mixed", "location"])
def test_the_reference_is_the_mean_position_of_its_weights(reference, attend):
    cell = mixture(attend, reference=reference)
    memory, mask, summary, queries = attend.inputs()
    prepared = cell.prepare(memory, mask, summary)
    query, states = ops.convert_to_tensor(queries[0]), cell.get_initial_state(prepared)
    _, location = parts(cell, prepared, query, states)
    _, weights, new = cell(query, prepared, states)
    followed = ops.convert_to_numpy(weights) if reference == "mixed" else location
    places = np.arange(5)[None, :] / np.maximum(mask.sum(axis=1, keepdims=True) - 1, 1)
    np.testing.assert_allclose(ops.convert_to_numpy(new["position"]), (followed * places).sum(axis=1), atol=1e-5)


def test_only_the_mixture_has_values(attend):
    cell = mixture(attend)
    assert hasattr(cell, "values") and not hasattr(cell.content, "values") and not hasattr(cell.location, "values")


def test_steps_are_counted_once(attend):
    cell = mixture(attend, content="relative", location="location_s")
    _, _, states = attend(cell, *attend.inputs())
    np.testing.assert_array_equal(states["time"], [3, 3, 3])


def test_a_directed_part_is_refused():
    with pytest.raises(InputError, match="DirectionMix cannot be a part"):
        kzoo.layers.MixAttention("content", "onestep")


def test_two_locations_are_refused(attend):
    cell = attend.build(kzoo.layers.MixAttention("location", "MonotonicAttention"))
    memory, mask, summary, _ = attend.inputs()
    with pytest.raises(InputError, match="position"):
        cell.get_initial_state(cell.prepare(memory, mask, summary))


def test_unknown_references_are_refused():
    with pytest.raises(InputError, match="reference"):
        kzoo.layers.MixAttention("content", "location", reference="content")


@pytest.mark.parametrize("direction", [100.0, -100.0])
def test_direction_mix_at_its_limits_reads_forward_or_backward(direction, attend):
    cell = attend.build(kzoo.layers.DirectionMix("relative", units=4))
    cell.direction.kernel.assign(np.zeros((6, 1)))
    cell.direction.bias.assign([direction])
    memory, mask, summary, queries = attend.inputs()
    turned = memory.copy()
    if direction < 0:
        for row, length in zip(turned, mask.sum(axis=1), strict=True):
            row[:length] = row[:length][::-1]
    for found, expected in zip(
        attend(cell, memory, mask, summary, queries)[:2],
        attend(cell.attention, turned, mask, summary, queries)[:2],
        strict=True,
    ):
        np.testing.assert_allclose(found, expected, atol=1e-6)
