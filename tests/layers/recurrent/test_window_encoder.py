"""The window encoder against NumPy; neither pads nor what is farther away can touch an encoding."""

import keras
import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError

LENGTHS = (6, 4, 1)
MASK = np.arange(6) < np.array(LENGTHS)[:, None]
X = np.random.default_rng(0).normal(size=(3, 6, 4)).astype("float32")


@pytest.fixture(params=[1, 2])
def layer(request):
    layer = kzoo.layers.WindowEncoder(5, window=request.param)
    layer.build((None, None, 4))
    rng = np.random.default_rng(1)
    for variable in layer.weights:
        variable.assign(rng.normal(0, 0.7, variable.shape).astype("float32"))
    return layer


def call(layer, x, mask=MASK):
    return [keras.ops.convert_to_numpy(y) for y in layer(x, mask)]


def test_the_formulas(layer):
    kernel, bias = (keras.ops.convert_to_numpy(v) for v in (layer.convolution.kernel, layer.convolution.bias))
    encodings, summary = call(layer, X)
    for row, length in enumerate(LENGTHS):
        around = np.pad(X[row, :length], [[layer.window, layer.window], [0, 0]])
        expected = np.stack(
            [np.tanh(np.einsum("wi,wio->o", around[i : i + len(kernel)], kernel) + bias) for i in range(length)]
        )
        np.testing.assert_allclose(encodings[row, :length], expected, atol=1e-5)
        np.testing.assert_allclose(summary[row], expected.max(axis=0), atol=1e-5)
        assert (encodings[row, length:] == 0).all()


def test_pads_do_not_matter(layer):
    for found, expected in zip(call(layer, np.where(MASK[:, :, None], X, 1e3)), call(layer, X), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_what_is_farther_away_does_not_matter(layer):
    changed = X.copy()
    changed[0, 0] += 1.0
    before, after = call(layer, X)[0], call(layer, changed)[0]
    same = np.isclose(before[0], after[0], atol=1e-6).all(axis=1)
    assert same.tolist() == [i > layer.window for i in range(6)]


def test_what_is_refused():
    with pytest.raises(InputError, match="window must be"):
        kzoo.layers.WindowEncoder(4, window=0)
    with pytest.raises(InputError, match="mask"):
        kzoo.layers.WindowEncoder(4)(X, ~MASK)
