"""A mechanism of a user's own: what it forgets is told in a sentence, before anything is trained."""

import keras
import pytest
from keras import ops

import kzoo
from kzoo import registry
from kzoo.errors import InputError, KzooError, UnknownNameError, of_kzoo
from kzoo.layers import AttentionBias, Reader
from kzoo.models import RecurrentClassifier, TransformerDecoder


class Inner(Reader):
    """Reads with a layer that only its constructor makes."""

    def __init__(self, units=8, **kwargs):
        super().__init__(**kwargs)
        self.units, self.inner = units, keras.layers.SimpleRNN(units, return_sequences=True)

    def states(self, sequence, mask, training=False):
        return self.inner(sequence)


class Wide(Inner):
    def states(self, sequence, mask, training=False):
        return ops.concatenate([self.inner(sequence)] * 2, axis=-1)


class LastOnly(Inner):
    def states(self, sequence, mask, training=False):
        return self.inner(sequence)[:, 0]


class Unfinished(Reader):
    def __init__(self, units=8, **kwargs):
        super().__init__(**kwargs)
        self.units = units


class Slope(AttentionBias):
    def __init__(self, slope=0.0, **kwargs):
        super().__init__(**kwargs)
        self.slope = slope

    def call(self, inputs, training=False):
        return -self.slope * ops.cast(ops.abs(inputs.distances()), "float32")[:, None]


class KeptSlope(Slope):
    def get_config(self):
        return {**super().get_config(), "slope": self.slope}


class ThreeHeads(AttentionBias):
    def call(self, inputs, training=False):
        return ops.zeros((1, 3, 1, 1))


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    for kind, own in (("reader", (Inner, Wide, LastOnly, Unfinished)), ("bias", (Slope, KeptSlope, ThreeHeads))):
        registry.names(kind)  # so that all of kzoo's are there before
        monkeypatch.setitem(registry._CLASSES, kind, dict(registry._CLASSES[kind]))
        for cls in own:
            registry.register(kind)(cls)


def reading(reader):
    return RecurrentClassifier.from_task("parity_check", reader=reader, units=8, embedding_units=4)


def biased(bias):
    attention = {"class": "MultiHeadAttention", "config": {"bias": bias}}
    block = {"class": "TransformerBlock", "config": {"attention": attention}}
    return TransformerDecoder.from_task("copy", block=block, layers=1, units=8, heads=4)


def test_the_layers_of_a_reader_are_built_with_the_model(tmp_path):
    model = reading("Inner")
    assert model.reader.inner.built and len(model.reader.trainable_variables) == 3
    model.save_to_preset(tmp_path / "inner")
    again = kzoo.from_preset(tmp_path / "inner")
    texts = ["0 1 1", "1", "1 0 1 0 0"]
    assert [again.generate(text) for text in texts] == [model.generate(text) for text in texts]


@pytest.mark.parametrize("reader, shape", [("Wide", r"\(1, 2, 16\)"), ("LastOnly", r"\(1, 8\)")])
def test_states_of_another_shape(reader, shape):
    with pytest.raises(InputError, match=rf"{reader}.states of two tokens has the shape {shape}, and must have \(1, 2"):
        reading(reader)


def test_a_missing_method():
    with pytest.raises(KzooError, match="Unfinished needs a method states") as found:
        reading("Unfinished")
    assert isinstance(found.value, NotImplementedError)


def test_an_argument_that_would_be_lost_when_the_model_is_saved():
    with pytest.raises(InputError, match="get_config of Slope leaves out slope, which it was given"):
        biased({"class": "Slope", "config": {"slope": 3.0}})
    assert biased({"class": "KeptSlope", "config": {"slope": 3.0}}).count_params() > 0


def test_a_bias_of_other_heads():
    model = biased("ThreeHeads")
    with pytest.raises(Exception, match="ThreeHeads has the shape") as found:
        model.generate("4 7 9")
    assert isinstance(of_kzoo(found.value), InputError) and "of 4 heads" in str(of_kzoo(found.value))


def test_a_kind_that_is_misspelled():
    with pytest.raises(UnknownNameError, match="unknown kind 'biass'; did you mean 'bias'"):
        registry.register("biass")(Slope)


@pytest.mark.parametrize("kind, cls", [("bias", Inner), ("reader", Slope), ("mixer", Slope), ("attention", Inner)])
def test_a_class_of_another_kind(kind, cls):
    base, own = (Reader, "reader") if issubclass(cls, Reader) else (AttentionBias, "bias")
    said = f"{cls.__name__} is a {base.__name__}: register it as '{own}', not as '{kind}'"
    with pytest.raises(InputError, match=said):
        registry.register(kind)(cls)
    assert cls.__name__ not in registry.names(kind)


def test_a_name_of_another_kind():
    with pytest.raises(UnknownNameError, match=r"unknown reader 'alibi'.*\(alibi is registered as bias\)"):
        reading("alibi")


def test_kinds_with_a_base_of_their_own():
    for kind in registry.kinds():
        base = registry.base_of(kind)
        kept = [cls for cls in registry.classes(kind).values() if cls.__module__.startswith("kzoo.")]
        assert base is None or all(issubclass(cls, base) for cls in kept)
        others = [other for other in registry.kinds() if other != kind and registry.base_of(other)]
        assert base is None or not any(issubclass(base, registry.base_of(other)) for other in others)
    assert (registry.base_of("bias"), registry.base_of("reader"), registry.base_of("block")) == (
        AttentionBias,
        Reader,
        None,
    )


def test_the_error_of_kzoo_is_found_behind_others():
    try:
        try:
            raise InputError("the reason")
        except InputError as error:
            raise RuntimeError("unable to build the model") from error
    except RuntimeError as error:
        assert str(of_kzoo(error)) == "the reason"
    assert of_kzoo(RuntimeError("another")) is None
