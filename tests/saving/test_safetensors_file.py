"""Reading weights without a model, and models that are larger than their weights."""

import threading

import keras
import numpy as np
import pytest
from safetensors.numpy import save_file

import kzoo
from kzoo.errors import PresetError
from kzoo.saving import safetensors_file
from kzoo.saving.weights import limit_parameters

ARRAYS = {"b": np.arange(6, dtype="float32").reshape(2, 3), "a": np.full((), 7, "float32")}


@pytest.fixture
def path(tmp_path):
    save_file(ARRAYS, tmp_path / "a.safetensors")
    return tmp_path / "a.safetensors"


@pytest.mark.once
def test_tensors_are_read_and_counted(path):
    found = safetensors_file.read_tensors(path)
    assert found.keys() == ARRAYS.keys() and safetensors_file.count_numbers(path) == 7
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found[name], array)
    assert safetensors_file.read_tensors(path, {"a": (), "b": (2, 3)}).keys() == ARRAYS.keys()
    with pytest.raises(PresetError, match=r"'b' is F32 \(2, 3\), but the model needs F32 \(3, 2\)"):
        safetensors_file.read_tensors(path, {"a": (), "b": (3, 2)})


@pytest.mark.once
@pytest.mark.parametrize("read", [safetensors_file.read_tensors, safetensors_file.count_numbers])
def test_a_file_over_its_size_is_refused_unread(read, tmp_path):
    with (tmp_path / "a.safetensors").open("wb") as file:
        file.truncate(safetensors_file.MAX_WEIGHTS + 1)  # takes no room
    with pytest.raises(PresetError, match="is larger than 536,870,912 bytes"):
        read(tmp_path / "a.safetensors")


@pytest.mark.once
def test_another_dtype_is_refused(tmp_path):
    save_file({"a": np.zeros(2, "float16")}, tmp_path / "a.safetensors")
    with pytest.raises(PresetError, match="'a' is 'F16', not F32"):
        safetensors_file.read_tensors(tmp_path / "a.safetensors")


def test_a_model_larger_than_its_weights_is_never_made(path):
    plain = keras.layers.Layer.add_weight
    with pytest.raises(PresetError, match="needs more weights than the 1,000 in model.safetensors"):
        with limit_parameters(1_000, path):  # 17 GB otherwise
            kzoo.layers.FeedForward(65_536).build((None, None, 65_536))
    with limit_parameters(12, path):
        keras.layers.Dense(3).build((None, 3))
    with pytest.raises(PresetError), limit_parameters(11, path):
        keras.layers.Dense(3).build((None, 3))
    assert keras.layers.Layer.add_weight is plain


def test_weights_that_a_file_will_set_are_not_drawn(path):
    layer = keras.layers.Dense(3, kernel_initializer=lambda *args: pytest.fail("drawn"), bias_initializer="ones")
    with limit_parameters(12, path, blank=True):
        layer.build((None, 3))
    assert all(variable.dtype == "float32" and not keras.ops.any(variable.value) for variable in layer.weights)


def test_other_threads_may_make_what_they_like(path):
    made = []
    with limit_parameters(1, path):
        thread = threading.Thread(target=lambda: made.append(keras.layers.Dense(3).build((None, 3)) or True))
        thread.start()
        thread.join()
    assert made == [True]
