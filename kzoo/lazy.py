"""Public packages whose names are imported when first used.

A package lists its names once, as re-exports under `TYPE_CHECKING`, which editors and type checkers read:

    if TYPE_CHECKING:
        from kzoo.models.classifier import Classifier as Classifier
    else:
        __getattr__, __dir__, __all__ = attach(__name__)

`attach` reads the same lines, so that nothing stands twice and `dir` and `help` work with no backend installed.
"""

import ast
import importlib
import importlib.util
import sys
from collections.abc import Callable
from typing import Any

from kzoo.backend import ensure_backend


def attach(
    package: str, *own: str, keras: bool = False
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Returns the `__getattr__`, the `__dir__` and the `__all__` of a package.

    Args:
        package: str. Its `__name__`.
        *own: str. Public names that the package defines itself.
        keras: bool. Whether what it exports needs Keras, which is then imported with the chosen backend. Defaults to
            False.
    """
    homes = re_exports(package)

    def getattribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if keras:
            ensure_backend()
        home = homes[name]
        value = importlib.import_module(f"{package}.{name}" if home == package else home)
        if home != package:
            value = getattr(value, name)
        setattr(sys.modules[package], name, value)
        return value

    public = sorted({*own, *homes})
    return getattribute, lambda: list(public), public


def re_exports(package: str) -> dict[str, str]:
    """Returns the module of every name that a package imports under `TYPE_CHECKING`."""
    spec: Any = importlib.util.find_spec(package)
    found = {}
    for node in ast.parse(spec.loader.get_source(package)).body:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for line in node.body:
                if isinstance(line, ast.ImportFrom):
                    found.update({alias.name: str(line.module) for alias in line.names})
    return found
