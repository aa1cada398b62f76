"""One position more in a cache."""

import keras
import numpy as np
from keras import ops

from kzoo.compiling import compile_for_backend
from kzoo.layers.functional.place import place


def test_one_position_of_each_row():
    cache, new = np.zeros((3, 2, 4, 5), "float32"), np.random.default_rng(0).normal(size=(3, 2, 1, 5))
    model = keras.Sequential([keras.layers.Dense(1)])
    run = compile_for_backend(model, lambda arrays, _: place(arrays["new"], arrays["cache"], arrays["index"]))
    for index in ([0, 3, 1], [4, 1, 2]):  # of the last, a row is beyond the end
        arrays = {"new": new.astype("float32"), "cache": cache.copy(), "index": np.array(index, "int32")}
        found, kept = ops.convert_to_numpy(run(arrays, 0)), [k for k in range(3) if index[k] < 4]
        expected = cache.copy()
        for k in kept:
            expected[k, :, index[k]] = new[k, :, 0]
        np.testing.assert_array_equal(found[kept], expected[kept].astype("float32"))


def test_gradients_pass_where_they_are_recorded():
    cache, new = ops.zeros((1, 1, 3, 2)), ops.ones((1, 1, 1, 2))
    found = place(new, cache, ops.convert_to_tensor([1], "int32"))
    assert found is not cache and ops.convert_to_numpy(cache).sum() == 0
    assert ops.convert_to_numpy(found).sum() == 2
