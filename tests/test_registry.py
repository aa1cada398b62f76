"""The registry: one name, one class; names, configs and objects are taken alike."""

import keras
import pytest

import kzoo
from kzoo import registry
from kzoo.errors import InputError, UnknownNameError


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """An empty registry."""
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


def test_a_task_may_come_from_anywhere_but_the_folder_itself():
    outside = type("Mine", (), {"__module__": "my_package.tasks"})
    assert registry.register("task", "mine")(outside) is outside and registry.names("task") == ["mine"]
    for module in ("tasks.copying", "kzoo"):
        with pytest.raises(InputError, match="must be imported as a module of kzoo"):
            registry.register("task")(type("Other", (), {"__module__": module}))


def test_a_second_registration_is_refused(walk):
    for again in (lambda: registry.register("gait")(Walk), lambda: registry.alias("gait", "slow", "Walk")):
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


def test_an_inherited_constructor_has_its_parameters():
    """In Python 3.11.2 `inspect.signature` of such a class gives that of the `__new__` which Keras has."""
    found = registry.parameters_of(kzoo.layers.ContentAttention)
    assert {"units", "value_units", "dtype"} <= set(found) and "self" not in found
