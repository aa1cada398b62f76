"""The API reference: a page a package, and a page a name where they are many, from the docstrings."""

import ast
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.places import PACKAGES, BuildError
from kzoo.lazy import re_exports

Pages = dict[str, str]


def reference() -> tuple[Pages, list[Any]]:
    """Returns the pages of the API by path, and their part of the navigation.

    Raises:
        BuildError: a public class or function has no docstring.
    """
    missing = [f"{package}.{name}" for package in PACKAGES for name in undocumented(package)]
    if missing:
        raise BuildError(f"no docstring: {', '.join(missing)}")
    pages: Pages = {}
    navigation: list[Any] = ["api/index.md"]
    index = []
    for package, split in PACKAGES.items():
        names, path = public_names(package), f"api/{package}.md"
        if split:
            own = {name: f"api/{package}/{name}.md" for name in names}
            pages |= {own[name]: f"# {name}\n\n::: {package}.{name}\n" for name in names}
            rows = [f"| [`{name}`]({package}/{name}.md) | {summary(package, name)} |" for name in names]
            listing = "\n".join(["| | |", "|---|---|", *rows])
            navigation.append({package: [path, *({name: own[name]} for name in names)]})
        else:
            listing = "\n\n".join(f"::: {package}.{name}" for name in names)
            navigation.append({package: path})
        module = ast.get_docstring(_tree(package)) or ""
        pages[path] = f"# {package}\n\n{module}\n\n{listing}\n"
        index.append(f"| [`{package}`]({package}.md) | {module.splitlines()[0]} | {len(names)} |")
    table = "\n".join(["| package | | names |", "|---|---|---|", *index])
    pages["api/index.md"] = f"# Reference\n\nFrom the docstrings, as `help()` shows them.\n\n{table}\n"
    return pages, navigation


def public_names(package: str) -> list[str]:
    """Returns the names of the classes and functions that a package exports."""
    return sorted(name for name, home in homes(package).items() if _found(home, name))


def homes(package: str) -> dict[str, str]:
    """Returns the module of every name that a package exports."""
    own = {node.name: package for node in _definitions(_tree(package)) if not node.name.startswith("_")}
    return {**own, **re_exports(package)}


def undocumented(package: str) -> Iterator[str]:
    """Yields the names that a package exports without a docstring."""
    for name, home in homes(package).items():
        node = _found(home, name)
        if node is not None and not ast.get_docstring(node):
            yield name


def summary(package: str, name: str) -> str:
    """Returns the first sentence of the docstring of a name."""
    node = _found(homes(package)[name], name)
    return " ".join(((node and ast.get_docstring(node)) or "").split("\n\n")[0].split())


def _found(module: str, name: str) -> Any:
    """Returns the definition of a class or function, also where the module only exports it again; None for others."""
    for node in _definitions(_tree(module)):
        if node.name == name:
            return node
    further = re_exports(module).get(name) if _is_package(module) else None
    return _found(further, name) if further and further != module else None


def _definitions(tree: ast.Module) -> list[Any]:
    return [node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]


def _is_package(module: str) -> bool:
    spec = importlib.util.find_spec(module)
    return bool(spec and spec.submodule_search_locations)


def _tree(module: str) -> ast.Module:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise BuildError(f"there is no module {module}")
    return ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
