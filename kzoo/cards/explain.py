"""Where the classes and functions of a config are documented, read from their sources: no Keras is imported for it."""

import ast
import functools
import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TAGGER = "_tagger"  # behind the name of what a tagger reads with
DIFFERENCES = ("Differences", "As in the authors' code")


@dataclass(frozen=True)
class Part:
    """A documented class or function.

    Args:
        name: str. Its public name, as "kzoo.layers.MonotonicAttention".
        source: str. Its file, as "layers/attention/monotonic_attention.py".
        summary: str. The first sentence of its docstring.
        docstring: str.
    """

    name: str
    source: str
    summary: str
    docstring: str

    @property
    def paragraphs(self) -> list[str]:
        """list of str. Those of the docstring, each as one line; lists and code are among them."""
        return [" ".join(text.split()) for text in self.docstring.split("\n\n")]

    @property
    def differences(self) -> list[str]:
        """list of str. The paragraphs that say where it differs from its paper."""
        return [text for text in self.paragraphs if text.startswith(DIFFERENCES)]


def explain(config: dict[str, Any]) -> list[Part]:
    """Returns the documented classes and functions that a config names, the outermost first.

    Args:
        config: dict. As config.json has it: `class` and `config`, in which further ones may be nested.
    """
    known = _parts()
    return [known[name] for name in dict.fromkeys(_named(config)) if name in known]


def in_words(mechanism: str | None) -> str | None:
    """Returns what a mechanism does and where it breaks, for those who know none; None where nothing is written."""
    known, name = _words(), mechanism or ""
    if name in known or not name.endswith(TAGGER):
        return known.get(name)
    plain = known.get(name.removesuffix(TAGGER))
    return plain and f"{plain} It answers at the tokens that are asked, in one reading."


@functools.cache
def _words() -> dict[str, str]:
    found: dict[str, str] = json.loads((Path(__file__).parent / "mechanisms.json").read_text(encoding="utf-8"))
    return found


def part(name: str) -> Part | None:
    """Returns the documented class or function of a name, as "MonotonicAttention"; None if there is none."""
    return _parts().get(name)


def explain_task(task: object) -> list[Part]:
    """Returns the class of a task, and those it inherits from."""
    known = _parts()
    return [known[own.__name__] for own in type(task).__mro__ if own.__name__ in known]


def _named(value: Any) -> list[str]:
    """Returns the names of all classes in a config."""
    if isinstance(value, dict):
        own = [value["class"]] if isinstance(value.get("class"), str) else []
        return own + [name for item in value.values() for name in _named(item)]
    return [name for item in value for name in _named(item)] if isinstance(value, list) else []


@functools.cache
def _parts() -> dict[str, Part]:
    found = {}
    for package, root in (("kzoo.models", "kzoo/models"), ("kzoo.layers", "layers"), ("kzoo.tasks", "tasks")):
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or []) if spec else []:
            for path in sorted(Path(folder).rglob("*.py")):
                source = f"{root}/{path.relative_to(folder).as_posix()}"
                for node in ast.parse(path.read_text(encoding="utf-8")).body:
                    if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and (text := ast.get_docstring(node)):
                        summary = " ".join(text.split("\n\n")[0].split())
                        found[node.name] = Part(f"{package}.{node.name}", source, summary, text)
    return found
