"""Weights: names that last, bytes that are equal, and files that are refused without touching the model."""

import json
import struct

import keras
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from kzoo.errors import PresetError
from kzoo.saving import weights


@pytest.fixture(scope="module")
def model(make_model):
    return make_model()


def values(model):
    return {name: keras.ops.convert_to_numpy(v.value).copy() for name, v in weights.named_variables(model).items()}


def assert_same(first, second):
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)


def test_names_are_the_attributes_that_lead_there(model):
    names = list(weights.named_variables(model))
    assert names == sorted(names) and len(names) == len(model.weights)
    assert {"embedding.embeddings", "boundary.start", "encoder.forward_gru.cell.kernel", "vocabulary_bias"} <= set(
        names
    )


@pytest.mark.slow
@pytest.mark.once
def test_names_are_the_same_for_every_instance_and_process(model, make_model, python):
    names = list(weights.named_variables(model))
    keras.layers.Dense(3)  # shifts the names that Keras counts
    assert list(weights.named_variables(make_model(seed=1))) == names
    code = """
import json, kzoo
from kzoo.saving.weights import named_variables
model = kzoo.models.RecurrentSeq2Seq.from_task("recopy", embedding_units=2, encoder_units=2)
print(json.dumps(list(named_variables(model))))
"""
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == names


def test_saving_and_loading_gives_equal_weights_and_bytes(model, make_model, tmp_path):
    weights.save_weights(model, tmp_path / "a.safetensors")
    other = make_model(seed=1)
    weights.load_weights(other, tmp_path / "a.safetensors")
    assert_same(values(other), values(model))
    assert weights.serialize(other) == weights.serialize(model) == (tmp_path / "a.safetensors").read_bytes()
    assert_same(load_file(tmp_path / "a.safetensors"), values(model))  # plain NumPy reads it


def test_a_weight_may_be_a_single_number(tmp_path):
    class Scale(keras.Model):
        def build(self, input_shape=None):
            self.scale = self.add_weight((), initializer="random_normal", name="scale")
            self.built = True

    model, other = Scale(), Scale()
    model.build()
    other.build()
    weights.save_weights(model, tmp_path / "a.safetensors")
    weights.load_weights(other, tmp_path / "a.safetensors")
    assert_same(values(other), values(model))


def test_arrays_that_are_not_contiguous_are_written_right(monkeypatch, model):
    whole = weights.serialize(model)
    plain = keras.ops.convert_to_numpy
    monkeypatch.setattr(keras.ops, "convert_to_numpy", lambda x: np.asfortranarray(plain(x)))
    assert weights.serialize(model) == whole


def test_a_weight_that_no_attribute_leads_to_is_refused():
    class Secretive(keras.Model):
        def build(self, input_shape=None):
            self._hidden = keras.layers.Dense(2)
            self._hidden.build((None, 2))
            self.built = True

    model = Secretive()
    model.build()
    with pytest.raises(RuntimeError, match="no public attribute"):
        weights.named_variables(model)


def rewrite(change):
    """Returns a damage that changes the arrays of a file."""

    def damage(path):
        arrays = load_file(path)
        change(arrays)
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, path)

    return damage


def reheader(change):
    """Returns a damage that changes the text of the header of a file."""

    def damage(path):
        content = path.read_bytes()
        size = struct.unpack("<Q", content[:8])[0]
        header = change(content[8 : 8 + size])
        path.write_bytes(struct.pack("<Q", len(header)) + header + content[8 + size :])

    return damage


def edit(change):
    """Returns a damage that changes the entry of `vocabulary_bias` in the header."""

    def change_text(text):
        header = json.loads(text)
        change(header["vocabulary_bias"])
        return json.dumps(header).encode()

    return reheader(change_text)


def set_nan(arrays):
    arrays["vocabulary_bias"][3] = np.nan


def repeat(text):
    return text.replace(b'"vocabulary_bias"', b'"boundary.start"')


NAME = "vocabulary_bias"
DAMAGES = {
    "missing file": (lambda path: path.unlink(), "is missing"),
    "empty": (lambda path: path.write_bytes(b""), "no safetensors header"),
    "no safetensors": (lambda path: path.write_bytes(b"hello, world, here is text"), "no safetensors header"),
    "truncated": (lambda path: path.write_bytes(path.read_bytes()[:-8]), "bytes of numbers instead of"),
    "longer": (lambda path: path.write_bytes(path.read_bytes() + b"1234"), "bytes of numbers instead of"),
    "truncated in the header": (lambda path: path.write_bytes(path.read_bytes()[:100]), "no safetensors header"),
    "missing key": (rewrite(lambda arrays: arrays.pop(NAME)), "lacks 'vocabulary_bias'"),
    "extra key": (rewrite(lambda arrays: arrays.update(extra=np.zeros(1, "float32"))), "has unknown 'extra'"),
    "wrong shape": (
        rewrite(lambda arrays: arrays.update({NAME: arrays[NAME][:-1]})),
        r"is F32 \(12,\), but .* \(13,\)",
    ),
    "wrong dtype": (rewrite(lambda a: a.update({NAME: a[NAME].astype("float16")})), "is F16"),
    "NaN": (rewrite(set_nan), "'vocabulary_bias' holds numbers that are not finite"),
    "duplicate key": (reheader(repeat), "names a tensor twice"),
    "lying size": (lambda path: path.write_bytes(struct.pack("<Q", 10**15) + path.read_bytes()[8:]), "sane size"),
    "header no JSON": (reheader(lambda text: b"[" * len(text)), "no safetensors header"),
    "header no mapping": (reheader(lambda text: b"[1, 2]"), "no safetensors header"),
    "absurd shape": (edit(lambda entry: entry.update(shape=[10**12])), "is no shape"),
    "shape no list": (edit(lambda entry: entry.update(shape=13)), "no safetensors header"),
    "no dtype": (edit(lambda entry: entry.pop("dtype")), "no safetensors header"),
    "lying offsets": (edit(lambda entry: entry.update(data_offsets=[0, 52])), "is damaged"),
    "offsets beyond the end": (edit(lambda entry: entry.update(data_offsets=[0, 10**12])), "is damaged"),
}


@pytest.mark.parametrize("case", DAMAGES)
def test_a_bad_file_is_one_sentence_and_changes_nothing(case, model, tmp_path):
    damage, message = DAMAGES[case]
    path = tmp_path / "a.safetensors"
    weights.save_weights(model, path)
    damage(path)
    before = values(model)
    with pytest.raises(PresetError, match=message) as error:
        weights.load_weights(model, path)
    assert "\n" not in str(error.value) and "a.safetensors" in str(error.value)
    assert_same(values(model), before)
