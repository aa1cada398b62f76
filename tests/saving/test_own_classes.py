"""A preset may use a class of one's own, which must be registered before it is loaded."""

import pytest

import kzoo
from kzoo import registry
from kzoo.saving.files import read_json

MODULE = """
from keras import ops

from kzoo import register
from kzoo.layers import AttentionCell


@register("attention")
class {name}(AttentionCell):
    def build_weights(self, query_shape, memory_shape):
        pass

    def weigh(self, query, prepared, states):
        mask = ops.cast(prepared["mask"], "float32")
        return mask / ops.sum(mask, axis=1, keepdims=True), states
"""
LOAD = """
import sys
if sys.argv[2]:
    sys.path.insert(0, sys.argv[2])
    import own_attention
import kzoo
try:
    print(kzoo.from_preset(sys.argv[1]).generate("4 7", max_length=4))
except kzoo.errors.PresetError as error:
    print("refused:", error)
"""


@pytest.fixture
def own(tmp_path, make_model):
    """A preset with an attention that a script defines, and what it writes."""
    names = {"__name__": "own_attention"}
    exec(MODULE.format(name="OwnUniformAttention"), names)
    exec(MODULE.format(name="OwnUniformAttention"), names)  # as a cell of a notebook that is run twice
    model = make_model(attention=names["OwnUniformAttention"]())
    model.save_to_preset(tmp_path / "own")
    (tmp_path / "own_attention.py").write_text(MODULE.format(name="OwnUniformAttention"))
    yield tmp_path / "own", model.generate("4 7", max_length=4)
    del registry._CLASSES["attention"]["OwnUniformAttention"]  # or the tests over the registry would find it


@pytest.mark.slow
@pytest.mark.once
def test_it_loads_where_the_class_is_registered(own, python):
    folder, expected = own
    assert read_json(folder / "config.json")["config"]["attention"]["class"] == "OwnUniformAttention"
    assert kzoo.from_preset(folder).generate("4 7", max_length=4) == expected
    done = python(LOAD, folder, folder.parent)
    assert done.stdout.strip() == expected, done.stderr
    done = python(LOAD, folder, "")
    assert done.stdout.startswith("refused:") and "unknown attention 'OwnUniformAttention'" in done.stdout, done.stderr
    assert "it was saved with classes of own_attention: import that first" in done.stdout
    assert read_json(folder / "metadata.json")["defined_in"] == {"OwnUniformAttention": "own_attention"}


def test_an_object_of_a_class_that_is_not_registered_is_refused():
    class Unregistered(kzoo.layers.AttentionCell):
        pass

    with pytest.raises(kzoo.errors.InputError, match=r'Unregistered is not: put @register\("attention"\) on it'):
        kzoo.models.RecurrentSeq2Seq(9, attention=Unregistered())
