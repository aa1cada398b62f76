"""The registry: every mechanism, model and task under a name, each registered once.

`register` puts a class under its own name; `alias` gives a name to a class with arguments, so that a paper's mechanism
("onestep") is one word. `get` takes a name, a config or an object and returns the object: this is how every seam
accepts its parts. Nothing here imports Keras.
"""

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from kzoo.backend import no_other_backend
from kzoo.errors import InputError, UnknownNameError, did_you_mean

T = TypeVar("T", bound=type)

_CLASSES: dict[str, dict[str, type]] = {}
_ALIASES: dict[str, dict[str, dict[str, Any]]] = {}
_MAX_DEPTH = 8  # a config nested deeper than this is an attack, not a model


def register(kind: str, name: str | None = None) -> Callable[[T], T]:
    """Registers a class under `kind` and, where it is a Keras object, for Keras serialisation.

    The public path (`kzoo.layers.OneStep`) is the serialisation name (`kzoo.layers>OneStep`).

    Args:
        kind: str. The seam it fits, as `"attention"`, `"model"` or `"task"`.
        name: str. The name in the registry. Defaults to the class's name.

    Raises:
        InputError: the name is taken, or the class was imported under a name outside `kzoo.`, which would make a
            second class of the same name. A task may be registered from anywhere: it is no Keras object.
    """

    def decorate(cls: T) -> T:
        own_task = kind == "task" and cls.__module__.split(".")[0] not in ("kzoo", "tasks")
        if not cls.__module__.startswith("kzoo.") and not own_task:
            raise InputError(f"{cls.__module__}.{cls.__name__} must be imported as a module of kzoo")
        _claim(kind, name or cls.__name__)
        _CLASSES.setdefault(kind, {})[name or cls.__name__] = cls
        if _is_keras(cls):
            package = ".".join(cls.__module__.split(".")[:2])
            sys.modules["keras"].saving.register_keras_serializable(package)(cls)
        return cls

    return decorate


def alias(kind: str, name: str, class_name: str, **config: Any) -> None:
    """Registers `name` as short for `{"class": class_name, "config": config}`."""
    _claim(kind, name)
    _ALIASES.setdefault(kind, {})[name] = {"class": class_name, "config": config}


def names(kind: str) -> list[str]:
    """Returns every name of a kind, sorted: classes and aliases."""
    return sorted({*_CLASSES.get(kind, {}), *_ALIASES.get(kind, {})})


def classes(kind: str) -> dict[str, type]:
    """Returns the registered classes of a kind by name."""
    return dict(_CLASSES.get(kind, {}))


def get(kind: str, spec: Any, **defaults: Any) -> Any:
    """Returns the object that `spec` stands for.

    Args:
        kind: str. The seam, as `"attention"`.
        spec: str (a registered name), dict `{"class": name, "config": {...}}`, or an object of the kind, which is
            returned as it is.
        **defaults: arguments passed where the spec does not set them and the class takes them.

    Raises:
        UnknownNameError: the name or class is not registered.
        InputError: the spec is none of these forms, or has an unknown or missing argument.
    """
    if isinstance(spec, tuple(_CLASSES.get(kind, {}).values())):
        return spec
    cls, config = resolve(kind, spec)
    accepted = parameters_of(cls)
    config = {**{key: value for key, value in defaults.items() if key in accepted}, **config}
    return construct(cls, config)


def resolve(kind: str, spec: Any) -> tuple[type, dict[str, Any]]:
    """Returns the class and the arguments that a name or a config stands for, which `construct` checks."""
    config: dict[str, Any] = {}
    for _ in range(_MAX_DEPTH):
        if isinstance(spec, str):
            spec = {"class": spec}
        if not isinstance(spec, dict) or not set(spec) <= {"class", "config"} or not isinstance(spec.get("class"), str):
            raise InputError(
                f"{kind} must be a name, a config with 'class' and 'config', or an object, not {spec!r:.80}"
            )
        own = spec.get("config", {})
        if not isinstance(own, dict):
            raise InputError(f"the config of {kind} {spec['class']!r} must be a mapping")
        config = {**own, **config}
        name = spec["class"]
        if name in _CLASSES.get(kind, {}):
            return _CLASSES[kind][name], config
        if name not in _ALIASES.get(kind, {}):
            raise UnknownNameError(did_you_mean(kind, name, names(kind)))
        spec = _ALIASES[kind][name]
    raise InputError(f"the config of {kind} is nested too deeply")


def construct(cls: type, config: dict[str, Any]) -> Any:
    """Returns `cls(**config)` after `check_arguments`."""
    check_arguments(cls, config)
    return cls(**config)


def parameters_of(cls: Any) -> dict[str, inspect.Parameter]:
    """Returns the parameters that a class, or a function, is called with.

    `inspect.signature` of a class takes an inherited `__new__`, which Keras has, for an inherited `__init__` in some
    versions of Python (3.11.2).
    """
    if not isinstance(cls, type):
        return dict(inspect.signature(cls).parameters)
    initialize: Any = getattr(cls, "__init__")  # noqa: B009 - to the type checker `cls.__init__` is an object's
    _, *parameters = inspect.signature(initialize).parameters.items()
    return dict(parameters)


def check_arguments(cls: type, config: dict[str, Any]) -> None:
    """Raises `InputError` if `config` has a key that `cls` does not take, lacks one, or nests too deeply."""
    if _deeper(config, _MAX_DEPTH * 2):
        raise InputError(f"the config of {cls.__name__} is nested too deeply")
    various = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = {key: p for key, p in parameters_of(cls).items() if p.kind not in various}
    allowed = {*parameters, "name", "dtype", "trainable"} if _is_keras(cls) else set(parameters)
    for key in config:
        if key not in allowed:
            raise InputError(did_you_mean(f"argument of {cls.__name__}", key, parameters))
    missing = [key for key, p in parameters.items() if p.default is inspect.Parameter.empty and key not in config]
    if missing:
        raise InputError(f"{cls.__name__} needs {', '.join(missing)}")


def serialize(obj: Any) -> dict[str, Any]:
    """Returns the config that `get` turns back into an equal object: plain data, without Keras' own keys."""
    with no_other_backend():  # Keras imports TensorFlow, where it is installed, to write a dtype policy
        own = obj.get_config()
    config = {k: v for k, v in own.items() if k not in ("name", "dtype", "trainable")}
    return {"class": type(obj).__name__, "config": config}


def discover(package: str, path: list[str]) -> dict[str, Any]:
    """Imports every module below `package` and returns its public classes and functions by name.

    With it a new mechanism is one file: there is no list of modules to edit.
    """
    found: dict[str, Any] = {}
    for info in pkgutil.walk_packages(path, package + "."):
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            if not name.startswith("_") and getattr(value, "__module__", None) == info.name:
                found[name] = value
    return found


def _claim(kind: str, name: str) -> None:
    if name in _CLASSES.get(kind, {}) or name in _ALIASES.get(kind, {}):
        raise InputError(f"{kind} {name!r} is already registered")


def _is_keras(cls: type) -> bool:
    return any(base.__module__.split(".")[0] == "keras" for base in getattr(cls, "__mro__", ()))  # a function has none


def _deeper(value: Any, limit: int) -> bool:
    """Whether dicts and lists are nested deeper than `limit`; never goes deeper itself."""
    if not isinstance(value, (dict, list)):
        return False
    items = value.values() if isinstance(value, dict) else value
    return limit == 0 or any(_deeper(item, limit - 1) for item in items)
