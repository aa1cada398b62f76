"""The registry: one name, one class; names, configs and objects are taken alike."""

import keras
import pytest

import kzoo
from kzoo import registry
from kzoo.discovery import fill
from kzoo.errors import InputError, UnknownNameError


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """An empty registry, which kzoo's own modules do not fill."""
    for kind in ("attention", "model", "task"):  # what is imported now is registered where it stays
        fill(kind)
    monkeypatch.setattr(registry, "_CLASSES", {})
    monkeypatch.setattr(registry, "_ALIASES", {})


class Walk:
    def __init__(self, pace, inner=None):
        self.pace, self.inner = pace, inner

    def get_config(self):
        return {"pace": self.pace, "inner": self.inner}


Walk.__module__ = "kzoo.layers.walk"


@pytest.fixture
def walk():
    registry.register("gait")(Walk)
    registry.alias("gait", "slow", "Walk", pace=1)


def test_a_class_is_found_by_name_config_and_object(walk):
    assert registry.names("gait") == ["Walk", "slow"]
    assert registry.classes("gait") == {"Walk": Walk}
    assert registry.get("gait", "Walk", pace=3).pace == 3
    assert registry.get("gait", {"class": "Walk", "config": {"pace": 4}}).pace == 4
    made = Walk(5)
    assert registry.get("gait", made) is made


def test_an_alias_brings_arguments_that_a_config_overrides(walk):
    assert registry.get("gait", "slow").pace == 1
    assert registry.get("gait", {"class": "slow", "config": {"pace": 2}}).pace == 2


def test_defaults_fill_only_what_is_taken_and_not_set(walk):
    assert registry.get("gait", "slow", pace=7, unknown=8).pace == 1
    assert registry.get("gait", "slow", inner=9).inner == 9


def test_serialize_is_undone_by_get(walk):
    config = registry.serialize(Walk(6))
    assert config == {"class": "Walk", "config": {"pace": 6, "inner": None}}
    assert registry.get("gait", config).pace == 6


@pytest.mark.parametrize("kind", ["gait", "task"])
def test_a_class_may_come_from_anywhere_but_the_folders_of_kzoo(kind):
    fill(kind)
    registry._CLASSES.clear()
    outside = type("Mine", (), {"__module__": "my_package.tasks"})
    assert registry.register(kind, "mine")(outside) is outside and registry.names(kind) == ["mine"]
    for module in ("tasks.copying", "layers.walk", "presets", "kzoo"):
        with pytest.raises(InputError, match="must be imported as a module of kzoo"):
            registry.register(kind)(type("Other", (), {"__module__": module}))


def make_stroll(pace):
    """Returns the class that a notebook's cell defines: each time another, of one name."""

    class Stroll(keras.layers.Layer):
        def call(self, inputs):
            return inputs * pace

    return Stroll


def test_a_class_that_is_defined_again_takes_the_place_of_the_former():
    first, second = make_stroll(1), make_stroll(2)
    for cls in (first, second):
        cls.__module__ = "__main__"
        registry.register("gait")(cls)
    assert registry.get("gait", "Stroll").call(3) == 6
    assert keras.saving.get_registered_object(keras.saving.get_registered_name(second)) is second
    made = first()
    assert registry.get("gait", made) is made  # made before the cell was run again
    with pytest.raises(InputError, match="gait 'Stroll' is already registered"):
        registry.register("gait")(type("Stroll", (), {"__module__": "elsewhere"}))


def test_an_alias_of_the_same_module_takes_the_place_of_the_former(walk):
    registry.alias("gait", "slow", "Walk", pace=2)
    assert registry.get("gait", "slow").pace == 2
    with pytest.raises(InputError, match="gait 'slow' is already registered"):
        exec("alias('gait', 'slow', 'Walk', pace=3)", {"alias": registry.alias, "__name__": "elsewhere"})


def test_an_object_of_an_unregistered_class_is_told_what_to_do():
    layer = make_stroll(1)()
    with pytest.raises(InputError, match=r'which Stroll is not: put @register\("gait"\) on it'):
        registry.get("gait", layer)
    with pytest.raises(InputError, match=r"Stroll is a class: Stroll\(...\)"):
        registry.get("gait", type(layer))


def test_a_second_registration_is_refused(walk):
    other = type("Walk", (), {"__module__": "kzoo.layers.walks"})
    taken = [lambda: registry.register("gait")(other), lambda: registry.register("gait", "slow")(other)]
    for again in [*taken, lambda: registry.alias("gait", "Walk", "Walk")]:
        with pytest.raises(InputError, match="already registered"):
            again()
    registry.alias("dance", "slow", "Walk")  # another kind has its own names


def test_a_module_outside_kzoo_is_refused():
    with pytest.raises(InputError, match="must be imported as a module of kzoo"):
        registry.register("gait")(type("Run", (), {"__module__": "layers.run"}))


def test_a_keras_class_is_serialisable_under_its_public_path():
    layer = type("Stroll", (keras.layers.Layer,), {"__module__": "kzoo.layers.gaits.stroll"})
    registry.register("gait")(layer)
    assert keras.saving.get_registered_name(layer) == "kzoo.layers>Stroll"
    assert registry.get("gait", {"class": "Stroll", "config": {"dtype": "float16"}}).compute_dtype == "float16"


@pytest.mark.parametrize(
    "spec, error, message",
    [
        ("Wulk", UnknownNameError, "unknown gait 'Wulk'; did you mean 'Walk'?"),
        ("xyz", UnknownNameError, "known are: Walk, slow"),
        (7, InputError, "gait must be a name"),
        ({"klass": "Walk"}, InputError, "gait must be a name"),
        ({"class": ["Walk"]}, InputError, "gait must be a name"),
        ({"class": "Walk", "config": [1]}, InputError, "must be a mapping"),
        ({"class": "Walk", "config": {"pase": 1}}, InputError, "unknown argument of Walk 'pase'; did you mean 'pace'?"),
        ("Walk", InputError, "Walk needs pace"),
    ],
)
def test_anything_else_is_one_clear_sentence(spec, error, message, walk):
    with pytest.raises(error, match=message.replace("?", r"\?")):
        registry.get("gait", spec)


def test_a_config_nested_too_deeply_is_refused(walk):
    deep = 1
    for _ in range(100):
        deep = {"inner": deep}
    with pytest.raises(InputError, match="nested too deeply"):
        registry.get("gait", {"class": "Walk", "config": {"pace": deep}})
    registry.alias("gait", "snake", "tail")
    registry.alias("gait", "tail", "snake")
    with pytest.raises(InputError, match="nested too deeply"):
        registry.get("gait", "snake")


def test_an_unknown_kind_is_one_sentence(walk):
    with pytest.raises(UnknownNameError, match=r"unknown kind 'gate'; did you mean 'gait'\?"):
        registry.get("gate", "Walk")


def test_an_inherited_constructor_has_its_parameters():
    """In Python 3.11.2 `inspect.signature` of such a class gives that of the `__new__` which Keras has."""
    found = registry.parameters_of(kzoo.layers.ContentAttention)
    assert {"units", "value_units", "dtype"} <= set(found) and "self" not in found
