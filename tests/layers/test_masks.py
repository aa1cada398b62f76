"""A mask is boolean, True at real tokens, which stand at the left of every row: anything else is refused."""

import keras
import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo import registry
from kzoo.errors import InputError
from kzoo.layers.functional.check_mask import check_mask

STATES = np.ones((2, 4, 6), "float32")
GOOD = np.array([[True, True, True, False], [True, False, False, False]])
LEFT_PADDED = GOOD[:, ::-1]
EMPTY = GOOD & np.array([[True], [False]])


def cell(name):
    parts = {"DirectionMix": {"attention": "content"}, "MixAttention": {"content": "content", "location": "location"}}
    found = registry.get("attention", {"class": name, "config": parts.get(name, {})})
    found.build((None, 6), (None, None, 6))
    return found


LAYERS = {
    **{
        name: lambda mask, name=name: cell(name).prepare(STATES, mask, STATES[:, 0])
        for name in registry.classes("attention")
    },
    **{
        name: lambda mask, name=name: registry.get("reader", name, units=5)(STATES, mask)
        for name in registry.names("reader")
    },
    **{
        name: lambda mask, name=name: registry.get("depth", name, block="rel", steps=2)(STATES, mask)
        for name in registry.classes("depth")
    },
    "BidirectionalGRU": lambda mask: kzoo.layers.BidirectionalGRU(3)(STATES, mask),
    "BoundaryVectors": lambda mask: kzoo.layers.BoundaryVectors()(STATES, mask),
    "AttentionDecoder": lambda mask: kzoo.layers.AttentionDecoder("content")(STATES, STATES, mask, STATES[:, 0]),
}
UNORDERED = {
    "MultiHeadAttention": lambda mask: kzoo.layers.MultiHeadAttention()(STATES, mask=mask),
    **{
        name: lambda mask, name=name: registry.get("weighting", name)(
            np.ones((2, 1, 4, 4), "float32"), mask[:, None, None]
        )
        for name in registry.classes("weighting")
    },
}


@pytest.mark.parametrize("name", LAYERS)
def test_padding_masks(name):
    call = LAYERS[name]
    call(GOOD)
    with pytest.raises(InputError, match="mask must be True at the left of every row"):
        call(LEFT_PADDED)
    with pytest.raises(InputError, match="mask must be True at one token of every row at least"):
        call(EMPTY)
    with pytest.raises(InputError, match="mask must be boolean, True at unmasked tokens, not float32"):
        call(GOOD.astype("float32"))


@pytest.mark.parametrize("name", UNORDERED)
def test_attention_masks(name):
    call = UNORDERED[name]
    call(GOOD)
    call(LEFT_PADDED)  # any keys may be masked
    for dtype in ("float32", "int32"):
        with pytest.raises(InputError, match=f"mask must be boolean, True at unmasked tokens, not {dtype}"):
            call(GOOD.astype(dtype))


def test_masks_of_other_shapes():
    with pytest.raises(InputError, match=r"mask must be of shape \(B, S\) or \(B, T, S\), not of 4 axes"):
        kzoo.layers.MultiHeadAttention()(STATES, mask=GOOD[:, None, None])


def test_what_is_compiled_is_not_looked_at():
    reader = kzoo.layers.LSTMReader(5)
    reader(STATES, GOOD)
    if keras.config.backend() == "jax":
        import jax

        compiled = jax.jit(lambda mask: reader(STATES, mask))
    elif keras.config.backend() == "tensorflow":
        import tensorflow as tf

        compiled = tf.function(lambda mask: reader(STATES, mask))
    else:
        import torch

        fake = torch._subclasses.FakeTensorMode()
        check_mask(fake.from_tensor(ops.convert_to_tensor(LEFT_PADDED.copy())))
        return
    assert compiled(ops.convert_to_tensor(LEFT_PADDED.copy())).shape == (2, 5)
