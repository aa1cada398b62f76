"""An LSTM of Keras over a sequence, as PyTorch runs it, too."""

import keras
import numpy as np
from keras import ops

from kzoo.layers.functional.over_time import over_time


def test_it_is_the_layer():
    """The same outputs, and on PyTorch the same gradients, as of Keras' own loop."""
    layer = keras.layers.LSTM(5, return_sequences=True, bias_initializer="normal")
    layer.build((None, None, 3))
    sequence = ops.convert_to_tensor(np.random.default_rng(0).normal(size=(4, 7, 3)).astype("float32"))
    np.testing.assert_allclose(*map(ops.convert_to_numpy, (over_time(layer, sequence), layer(sequence))), atol=1e-6)
    if keras.config.backend() == "torch":
        weights = [v.value for v in layer.trainable_variables]
        found = []
        for outputs in (over_time(layer, sequence), layer(sequence)):
            for weight in weights:
                weight.grad = None
            outputs.square().sum().backward()
            found.append([weight.grad.clone() for weight in weights])
        assert len(found[0]) == 3 and all(grad.abs().max() > 0.01 for grad in found[0])
        for one, other in zip(*found, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_in_half_precision():
    """In bfloat16 as near to float32 as that is, and of its type."""
    layer = keras.layers.LSTM(5, return_sequences=True, dtype="mixed_bfloat16")
    layer.build((None, None, 3))
    sequence = np.random.default_rng(0).normal(size=(4, 7, 3)).astype("float32")

    class Both(keras.layers.Layer):
        def call(self, inputs):
            return over_time(layer, inputs), layer(inputs)

    one, other = Both(dtype="mixed_bfloat16")(sequence)
    assert one.dtype == other.dtype
    values = (ops.convert_to_numpy(ops.cast(x, "float32")) for x in (one, other))
    np.testing.assert_allclose(*values, atol=0.02)
