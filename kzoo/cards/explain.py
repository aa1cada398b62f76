"""What the docstrings say of a model's parts, read from their sources: no Keras is imported for it."""

import ast
import functools
import importlib.util
import inspect
from pathlib import Path
from typing import Any


def explain(config: dict[str, Any]) -> list[tuple[str, str]]:
    """Returns path and explanation of the classes, or functions, that a config names, the outermost first.

    An explanation is the docstring's beginning, with the paper and the equations, and its paragraphs on differences.

    Args:
        config: dict. As config.json has it: `class` and `config`, in which further ones may be nested.
    """
    known = _classes()
    return [known[name] for name in dict.fromkeys(_named(config)) if name in known]


def _named(value: Any) -> list[str]:
    """Returns the names of all classes in a config."""
    if isinstance(value, dict):
        own = [value["class"]] if isinstance(value.get("class"), str) else []
        return own + [name for item in value.values() for name in _named(item)]
    return [name for item in value for name in _named(item)] if isinstance(value, list) else []


@functools.cache
def _classes() -> dict[str, tuple[str, str]]:
    found = {}
    for package in ("kzoo.models", "kzoo.layers"):
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or []) if spec else []:
            for path in sorted(Path(folder).rglob("*.py")):
                for node in ast.parse(path.read_text(encoding="utf-8")).body:
                    if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and (text := ast.get_docstring(node)):
                        found[node.name] = (f"{package}.{node.name}", _essence(text))
    return found


def _essence(docstring: str) -> str:
    text = inspect.cleandoc(docstring)
    beginning, _, rest = text.partition("\n\nArgs:")
    _, heading, differences = rest.partition("\n\nDifferences")
    return beginning + (heading + differences if heading else "")
