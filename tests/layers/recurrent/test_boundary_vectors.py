"""The learned vectors at both ends."""

import keras
import numpy as np

import kzoo


def test_start_stands_before_and_end_right_after_the_real_tokens():
    layer = kzoo.layers.BoundaryVectors()
    layer.build((None, None, 2))
    start, end = np.array([10.0, 11.0], "float32"), np.array([20.0, 21.0], "float32")
    layer.start.assign(start)
    layer.end.assign(end)
    sequence = np.arange(1.0, 13.0).reshape(2, 3, 2).astype("float32")
    found, mask = layer(sequence, np.array([[True, True, True], [True, False, False]]))
    zero = np.zeros(2)
    expected = [[start, *sequence[0], end], [start, sequence[1, 0], end, zero, zero]]
    np.testing.assert_array_equal(keras.ops.convert_to_numpy(found), expected)
    assert keras.ops.convert_to_numpy(mask).tolist() == [[True] * 5, [True] * 3 + [False] * 2]


def test_both_start_at_zero_and_learn():
    layer = kzoo.layers.BoundaryVectors()
    layer.build((None, None, 2))
    assert [v.name for v in layer.trainable_variables] == ["start", "end"]
    assert all((keras.ops.convert_to_numpy(v.value) == 0).all() for v in layer.trainable_variables)
