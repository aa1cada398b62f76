"""The choice of the Keras backend, made before Keras is first imported.

Keras takes TensorFlow unless told otherwise and fails where it is absent. When nothing chose a backend that is
installed, kzoo takes the first installed of jax, torch and tensorflow, and says so once.
"""

import contextlib
import importlib
import importlib.util
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from kzoo.compilation_cache import use_compilation_cache
from kzoo.errors import BackendError, InputError, did_you_mean

BACKENDS = ("jax", "torch", "tensorflow")
_lock = threading.RLock()
around_import: Callable[[str], Any] = contextlib.nullcontext  # a context manager that the command sets
_taken: list[str] = []  # the backend that kzoo chose itself, until it has said so
_prepared: list[str] = []  # "jax", once its cache is in use
_spared: list[str] = []  # packages that Keras is imported without
_entered: list[None] = []  # one for each `no_other_backend` that is entered
_unavailable: list[Any] = []  # what they keep Keras from importing


def installed() -> list[str]:
    """Returns the installed backends in the order in which kzoo prefers them; imports none."""
    return [name for name in BACKENDS if importlib.util.find_spec(name) is not None]


def configured() -> str:
    """Returns the backend that Keras would take by itself: `KERAS_BACKEND`, else its config file, else tensorflow."""
    if os.environ.get("KERAS_BACKEND"):
        return os.environ["KERAS_BACKEND"]
    home = os.environ.get("KERAS_HOME") or Path.home() / ".keras"
    try:
        return str(json.loads((Path(home) / "keras.json").read_text(encoding="utf-8"))["backend"])
    except (OSError, ValueError, KeyError, TypeError):
        return "tensorflow"


def choose_backend() -> None:
    """Sets `KERAS_BACKEND` to the first installed backend, where nothing chose one that is; imports none."""
    if "keras" in sys.modules or os.environ.get("KERAS_BACKEND"):
        return
    available = installed()
    if available and configured() not in available:
        os.environ["KERAS_BACKEND"] = available[0]
        _taken.append(available[0])


def ensure_backend() -> str:
    """Imports Keras with a backend that is installed and no other, and returns the backend's name.

    Raises:
        BackendError: no backend is installed, or `KERAS_BACKEND` names one that is not.
        InputError: `KERAS_BACKEND` names none that kzoo runs on.
    """
    with _lock:
        if "keras" in sys.modules and hasattr(sys.modules["keras"], "config"):
            chosen = str(sys.modules["keras"].config.backend())
        else:
            chosen = _import_keras()
        if chosen == "jax" and not _prepared:
            _prepared.append(chosen)
            use_compilation_cache()
        return chosen


def spare(*packages: str) -> None:
    """Lets Keras be imported without packages that it can do without: for a process that needs Keras for one command.

    What it offers for them is then missing from Keras in this process; the packages themselves may be imported later.
    """
    _spared.extend(packages)


def _import_keras() -> str:
    available = installed()
    if not available:
        raise BackendError('no Keras backend is installed; run: pip install "kzoo[jax]" (or [torch], [tensorflow])')
    choose_backend()
    chosen = configured()
    if chosen not in BACKENDS:
        raise InputError(did_you_mean("KERAS_BACKEND", chosen, BACKENDS))
    if chosen not in available:
        raise BackendError(
            f"KERAS_BACKEND is {chosen!r}, which is not installed; set it to one that is: {', '.join(available)}"
        )
    if chosen in _taken:
        print(f"kzoo: using the {chosen} backend (set KERAS_BACKEND to choose)", file=sys.stderr)
        _taken.clear()
    others = [name for name in available if name != chosen]
    hidden = _Hidden([name for name in [*others, *_spared] if name not in sys.modules])
    importlib.import_module("numpy")  # whole before Keras: two threads that import it at once fail
    sys.meta_path.insert(0, hidden)
    try:
        with around_import(chosen):
            import keras  # noqa: F401
    finally:
        sys.meta_path.remove(hidden)
    for module in _lazy_modules():
        if module.name.split(".")[0] in hidden.names:
            module._available = None  # Keras asks again
    return chosen


class _Hidden:
    """A finder and loader of modules whose import fails in the thread that made it; other threads may import them.

    On every backend Keras imports JAX while it is imported itself.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names, self.thread = names, threading.get_ident()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        hidden = name in self.names and threading.get_ident() == self.thread
        return ModuleSpec(name, self) if hidden else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        raise ModuleNotFoundError(f"{spec.name} is not the backend in force", name=spec.name)

    def exec_module(self, module: Any) -> None:
        raise AssertionError("there is no module to run")


@contextlib.contextmanager
def no_other_backend() -> Iterator[None]:
    """Keeps Keras from importing backends that are not in use; other imports are as ever, in every thread.

    On every backend Keras imports TensorFlow, where it is installed, when it writes a config or sets seeds.
    """
    with _lock:
        for module in _lazy_modules():
            root = module.name.split(".")[0]
            if root in BACKENDS and root not in sys.modules and module._available is None:
                module._available = False
                _unavailable.append(module)
        _entered.append(None)
    try:
        yield
    finally:
        with _lock:
            _entered.pop()
            while _unavailable and not _entered:
                _unavailable.pop()._available = None  # Keras asks again


def _lazy_modules() -> list[Any]:
    """Returns the objects with which Keras imports what it may not need."""
    module = sys.modules.get("keras.src.utils.module_utils")
    kind = getattr(module, "LazyModule", ())
    return [value for value in vars(module).values() if isinstance(value, kind)] if module else []
