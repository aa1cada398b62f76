"""The registry: every mechanism, model and task under a name, each registered once.

`register` puts a class under its own name; `alias` gives a name to a class with arguments, so that a paper's mechanism
("onestep") is one word. `get` takes a name, a config or an object and returns the object: this is how every seam
accepts its parts. What kzoo has of a kind is imported when the kind is first asked for.
"""

import difflib
import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar, Unpack, get_args, get_origin

from kzoo import checks
from kzoo.annotations import Config, Spec
from kzoo.backend import no_other_backend
from kzoo.discovery import fill
from kzoo.errors import InputError, UnknownNameError, did_you_mean

T = TypeVar("T", bound=type)

ALSO_FOLDERS = ("layers", "tasks", "presets")  # folders of the repository, which are packages of kzoo
KERAS_ARGUMENTS = {"name", "dtype", "trainable"}  # of every Keras object


class Alias(NamedTuple):
    """A class with arguments, and the module that named it."""

    class_name: str
    config: Config
    module: str | None


_CLASSES: dict[str, dict[str, type]] = {}
_ALIASES: dict[str, dict[str, Alias]] = {}
UNKNOWN = "what another package defines is known once that is imported, on the command line with --import FILE"
TAKERS = 6  # layers that an error names
_MAX_DEPTH = 8  # a config nested deeper than this is an attack, not a model


def register(kind: str, name: str | None = None) -> Callable[[T], T]:
    """Registers a class under `kind` and, where it is a Keras object, for Keras serialisation.

    A class may come from anywhere: a script, a notebook, another package. One that is defined anew, in the same module
    and under the same name, replaces the former. The public path (`kzoo.layers.OneStep`) is the serialisation
    name (`kzoo.layers>OneStep`).

    Args:
        kind: str. The seam it fits, as `"attention"`, `"model"` or `"task"`.
        name: str. The name in the registry. Defaults to the class's name.

    Raises:
        InputError: the name is taken; the class has the base of another kind, as a `Reader` registered as a bias; or it
            is one of kzoo's own that was imported under another module name, which would make a second one.
        UnknownNameError: the kind is new, and its name much like that of another.
    """

    def decorate(cls: T) -> T:
        if cls.__module__.split(".")[0] in ALSO_FOLDERS or cls.__module__ == "kzoo":
            raise InputError(f"{cls.__module__}.{cls.__name__} must be imported as a module of kzoo")
        if cls.__module__.split(".")[0] != "kzoo":
            fill(kind)  # or a name that kzoo has would be free, until kzoo is asked for it
            if kind not in {*_CLASSES, *_ALIASES} and difflib.get_close_matches(kind, kinds()):
                raise UnknownNameError(did_you_mean("kind", kind, kinds()))
            _check_kind(kind, cls)
        known, key = _CLASSES.setdefault(kind, {}), name or cls.__name__
        if key in _ALIASES.get(kind, {}) or (key in known and _identity(known[key]) != _identity(cls)):
            raise InputError(f"{kind} {key!r} is already registered")
        known[key] = cls
        if _is_keras(cls):
            sys.modules["keras"].saving.register_keras_serializable(".".join(cls.__module__.split(".")[:2]))(cls)
        return cls

    return decorate


def alias(kind: str, name: str, class_name: str, **config: Any) -> None:
    """Registers `name` as short for `{"class": class_name, "config": config}`; the same module may do it anew.

    Raises:
        InputError: the name is taken.
    """
    module = sys._getframe(1).f_globals.get("__name__")
    known = _ALIASES.setdefault(kind, {})
    if name in _CLASSES.get(kind, {}) or (name in known and known[name].module != module):
        raise InputError(f"{kind} {name!r} is already registered")
    known[name] = Alias(class_name, config, module)


def names(kind: str) -> list[str]:
    """Returns every name of a kind, sorted: classes and aliases."""
    fill(kind)
    return sorted({*_CLASSES.get(kind, {}), *_ALIASES.get(kind, {})})


def kinds() -> list[str]:
    """Returns every kind of thing that is registered, sorted."""
    fill("attention")
    return sorted({*_CLASSES, *_ALIASES})


def classes(kind: str) -> dict[str, type]:
    """Returns the registered classes of a kind by name."""
    fill(kind)
    return dict(_CLASSES.get(kind, {}))


def get(kind: str, spec: Spec, stated: Mapping[str, Any] | None = None, /, **defaults: Any) -> Any:
    """Returns the object that `spec` stands for.

    Args:
        kind: str. The seam, as `"attention"`.
        spec: str (a registered name), dict `{"class": name, "config": {...}}`, or an object of the kind, which is
            returned as it is.
        stated: dict. Arguments that the caller was given for it, None where it was given none. They must apply: the
            class takes them, and an object or a spec that has them already has the same values.
        **defaults: arguments passed where neither the spec nor a part in it sets them and the class takes them.

    Raises:
        UnknownNameError: the name or class is not registered.
        InputError: the spec is none of these forms, or has an unknown or missing argument; what was stated does not
            apply.
    """
    stated = {key: value for key, value in (stated or {}).items() if value is not None}
    if not isinstance(spec, (str, dict)) and any(_is_one(spec, cls) for cls in classes(kind).values()):
        _check_stated(kind, stated, spec.get_config() if stated else {}, spec)
        return spec
    if isinstance(spec, type):
        raise InputError(
            f"{kind} must be an object, a name or a config, and {spec.__name__} is a class: {spec.__name__}(...)"
        )
    if hasattr(spec, "get_config"):
        raise InputError(
            f'{kind} must be of a registered class, which {type(spec).__name__} is not: put @register("{kind}") on it'
        )
    cls, config = resolve(kind, spec)
    accepted = parameters_of(cls)
    for key in stated:
        if key not in accepted:
            raise InputError(f"{key}={stated[key]!r:.60} does not apply: {cls.__name__} takes no {key}")
    _check_stated(kind, stated, config)
    weak = {key: value for key, value in defaults.items() if key in accepted and not states(kind, spec, key)}
    return construct(cls, {**weak, **config, **stated})


def states(kind: str, spec: Spec, argument: str) -> bool:
    """Whether a spec sets an argument, itself or in the part that its class passes it on to.

    A class says with `passes_on` which part that is: `{argument: (kind, part, argument of the part)}`. An object counts
    as setting all of its arguments.
    """
    if not isinstance(spec, (str, dict)):
        return True
    cls, config = resolve(kind, spec)
    if config.get(argument) is not None:
        return True
    if argument not in getattr(cls, "passes_on", {}):
        return False
    kind, part, argument = getattr(cls, "passes_on")[argument]  # noqa: B009 - not every class has it
    return states(kind, config.get(part, parameters_of(cls)[part].default), argument)


def _check_stated(kind: str, stated: Config, config: Config, part: Any = None) -> None:
    """Raises `InputError` if something stated is not what a config, or an object, has."""
    for key, value in stated.items():
        own = config[key] if config.get(key) is not None else getattr(part, key, None)
        if own is None and part is None:
            continue
        if own != value:
            has = f"has {key}={own!r:.60}" if own is not None else f"is an object that states no {key}"
            raise InputError(f"{key}={value!r:.60} does not apply: the {kind} {has}")


def resolve(kind: str, spec: Spec) -> tuple[type, Config]:
    """Returns the class and the arguments that a name or a config stands for, which `construct` checks."""
    config: Config = {}
    for _ in range(_MAX_DEPTH):
        if isinstance(spec, str):
            spec = {"class": spec}
        if not isinstance(spec, dict) or not set(spec) <= {"class", "config"} or not isinstance(spec.get("class"), str):
            given = checks.short(spec)
            raise InputError(f"{kind} must be a name, a config with 'class' and 'config', or an object, not {given}")
        own = spec.get("config", {})
        if not isinstance(own, dict):
            raise InputError(f"the config of {kind} {spec['class']!r} must be a mapping")
        config = {**own, **config}
        name = spec["class"]
        if name not in _CLASSES.get(kind, {}) and name not in _ALIASES.get(kind, {}):
            fill(kind)
        if kind not in (known := {*_CLASSES, *_ALIASES}):
            raise UnknownNameError(did_you_mean("kind", kind, known))
        if name in _CLASSES.get(kind, {}):
            return _CLASSES[kind][name], config
        if name not in _ALIASES.get(kind, {}):
            others = [other for other in sorted(known) if name in {*_CLASSES.get(other, ()), *_ALIASES.get(other, ())}]
            why = f"{name} is registered as {' and '.join(others)}" if others else UNKNOWN
            raise UnknownNameError(f"{did_you_mean(kind, name, names(kind))} ({why})")
        spec = {"class": _ALIASES[kind][name].class_name, "config": _ALIASES[kind][name].config}
    raise InputError(f"the config of {kind} is nested too deeply")


def construct(cls: type, config: Config) -> Any:
    """Returns `cls(**config)` after `check_arguments`.

    Raises:
        InputError: an argument is unknown or missing; or the class is not kzoo's, and its `get_config` leaves one out,
            which would be lost when the object is saved.
    """
    check_arguments(cls, config)
    made = cls(**config)
    if cls.__module__.split(".")[0] != "kzoo" and hasattr(made, "get_config"):
        lost = set(config) - KERAS_ARGUMENTS - set(serialize(made)["config"])
        if lost:
            raise InputError(f"get_config of {cls.__name__} leaves out {', '.join(sorted(lost))}, which it was given")
    return made


def parameters_of(cls: Any) -> dict[str, inspect.Parameter]:
    """Returns the parameters that a class, or a function, is called with.

    `inspect.signature` of a class takes an inherited `__new__`, which Keras has, for an inherited `__init__` in some
    versions of Python (3.11.2).
    """
    if not isinstance(cls, type):
        return dict(inspect.signature(cls).parameters)
    return dict(_parameters(getattr(cls, "__init__")))  # noqa: B009 - to the type checker `cls.__init__` is an object's


@functools.lru_cache(maxsize=1024)  # classes made in a notebook are let go
def _parameters(initialize: Any) -> dict[str, inspect.Parameter]:
    """Returns the parameters that an `__init__` has after `self`."""
    _, *parameters = inspect.signature(initialize).parameters.values()
    found = {parameter.name: parameter for parameter in parameters}
    for parameter in parameters:  # `**options: Unpack[Options]` stands for the keys of a TypedDict
        if parameter.kind is inspect.Parameter.VAR_KEYWORD and get_origin(parameter.annotation) is Unpack:
            for key in set(get_args(parameter.annotation)[0].__annotations__) - KERAS_ARGUMENTS:
                found[key] = inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=None)
    return found


def check_arguments(cls: type, config: Config) -> None:
    """Raises `InputError` if `config` has a key that `cls` does not take, lacks one, or nests too deeply."""
    if checks.deeper(config, _MAX_DEPTH * 2):
        raise InputError(f"the config of {cls.__name__} is nested too deeply")
    various = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = {key: p for key, p in parameters_of(cls).items() if p.kind not in various}
    allowed = {*parameters, *KERAS_ARGUMENTS} if _is_keras(cls) else set(parameters)
    for key in config:
        if key not in allowed:
            takers = _takers(key)
            hint = f" ({key} is an argument of {', '.join(takers)})" if takers else ""
            raise InputError(did_you_mean(f"argument of {cls.__name__}", key, parameters) + hint)
    missing = [key for key, p in parameters.items() if p.default is inspect.Parameter.empty and key not in config]
    if missing:
        raise InputError(f"{cls.__name__} needs {', '.join(missing)}")


def _takers(argument: str) -> list[str]:
    """Returns the names of some registered layers that have an argument, sorted."""
    parts = [cls for kind in kinds() if kind not in ("model", "task") for cls in classes(kind).values()]
    return sorted({cls.__name__ for cls in parts if argument in parameters_of(cls)})[:TAKERS]


def serialize(obj: Any) -> Config:
    """Returns the config that `get` turns back into an equal object: plain data, without Keras' own keys."""
    with no_other_backend():  # Keras imports TensorFlow, where it is installed, to write a dtype policy
        own = obj.get_config()
    config = {k: v for k, v in own.items() if k not in KERAS_ARGUMENTS}
    return {"class": type(obj).__name__, "config": config}


def _check_kind(kind: str, cls: type) -> None:
    """Raises `InputError` if a class has not the base of its kind, and that of another kind."""
    own = base_of(kind)
    if own is None or not isinstance(cls, type) or issubclass(cls, own):
        return
    for other in kinds():
        base = base_of(other)
        if base is not None and issubclass(cls, base):
            raise InputError(f"{cls.__name__} is a {base.__name__}: register it as {other!r}, not as {kind!r}")


def base_of(kind: str) -> type | None:
    """Returns the class of kzoo that all of kzoo's classes of a kind are of, as `Reader`; None if they share none."""
    found = [cls for cls in classes(kind).values() if cls.__module__.split(".")[0] == "kzoo"]
    shared = [base for base in (found[0].__mro__ if found else ()) if all(issubclass(cls, base) for cls in found)]
    return next((base for base in reversed(shared) if base.__module__.split(".")[0] == "kzoo"), None)


def _identity(cls: type) -> tuple[str, str]:
    """Returns what a class that is defined again, as in a notebook's cell, has in common with the former one."""
    return cls.__module__, cls.__qualname__


def _is_one(value: Any, cls: type) -> bool:
    return isinstance(value, cls) or _identity(type(value)) == _identity(cls)


def _is_keras(cls: type) -> bool:
    return any(base.__module__.split(".")[0] == "keras" for base in getattr(cls, "__mro__", ()))  # a function has none
