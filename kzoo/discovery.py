"""Where the things of a kind are, and their import when the kind is first asked for."""

import importlib
import importlib.metadata
import importlib.util
import pkgutil
import sys
import threading
import traceback
import warnings
from pathlib import Path
from typing import Any

from kzoo.backend import ensure_backend
from kzoo.errors import InputError

HOMES = {"model": "kzoo.models", "task": "kzoo.tasks"}  # the package of a kind, if it is not kzoo.layers
PLUGINS = "kzoo.plugins"

imported: list[Path] = []  # files of the user's own, which processes that train import too
_filled: set[str] = set()
_thread = threading.local()


def fill(kind: str) -> None:
    """Imports the modules of kzoo that register things of a kind, and the plugins of other packages.

    Another package names its modules that register something in the entry-point group `kzoo.plugins`.
    """
    package = HOMES.get(kind, "kzoo.layers")
    for home, load in ((package, _import_package), (PLUGINS, _load_plugins)):
        under_way: set[str] = vars(_thread).setdefault("homes", set())
        if home in _filled or home in under_way:
            continue
        under_way.add(home)
        try:
            load(home)
            _filled.add(home)
        finally:
            under_way.remove(home)


def _import_package(package: str) -> None:
    if package != HOMES["task"]:  # which needs NumPy only
        ensure_backend()
    discover(package)


def _load_plugins(group: str) -> None:
    for entry in importlib.metadata.entry_points(group=group):
        try:
            entry.load()
        except Exception as error:
            warnings.warn(f"the kzoo plugin {entry.value} was not loaded: {error}", stacklevel=4)


def discover(package: str) -> dict[str, Any]:
    """Imports every module below `package` and returns its public classes and functions by name."""
    found: dict[str, Any] = {}
    for info in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            if not name.startswith("_") and getattr(value, "__module__", None) == info.name:
                found[name] = value
    return found


def import_file(path: Path) -> None:
    """Runs a Python file, as one that registers mechanisms or tasks.

    Raises:
        InputError: it is not there, or fails.
    """
    if not path.is_file():
        raise InputError(f"--import: there is no file {path}")
    spec: Any = importlib.util.spec_from_file_location(path.stem, path.resolve())
    if spec is None:
        raise InputError(f"--import: {path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    imported.append(path.resolve())
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(f"--import: {path} fails ({type(error).__name__}: {error})") from error


def of_own(error: BaseException) -> InputError | None:
    """Returns an error that says where in an imported file of the user's own another came from; None if it did not."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) in imported]
    if not frames:
        return None
    last = frames[-1]
    return InputError(f"{last.filename}, line {last.lineno}, in {last.name}: {type(error).__name__}: {error}")
