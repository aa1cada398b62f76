"""What a user imports is there, listed, and typed; no backend is needed to look at it."""

import importlib
import json
import re

import pytest

import kzoo
from kzoo import registry
from kzoo.discovery import discover

BACKENDS = ("jax", "torch", "tensorflow")
PACKAGES = ("data", "evaluation", "inspection", "layers", "metrics", "models", "preprocessing", "tasks", "training")


@pytest.mark.parametrize("package", ["kzoo", *(f"kzoo.{name}" for name in PACKAGES)])
def test_every_listed_name_is_there(package):
    module = importlib.import_module(package)
    assert module.__all__ == sorted(set(module.__all__)) == dir(module)
    for name in module.__all__:
        value = getattr(module, name)
        assert vars(module)[name] is value
        assert getattr(value, "__name__", name) in (name, f"{package}.{name}", f"kzoo.{name}") or name == "__version__"
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        module.nothing  # noqa: B018


@pytest.mark.parametrize("package", ["layers", "models", "tasks"])
def test_every_registered_class_is_listed(package):
    kinds = {"models": ["model"], "tasks": ["task"]}.get(package, set(registry._CLASSES) - {"model", "task"})
    found = {cls.__name__ for kind in kinds for cls in registry.classes(kind).values()}
    own = {name for name, thing in discover(f"kzoo.{package}").items() if name in found}
    assert own and own <= set(getattr(kzoo, package).__all__)


def test_no_listed_name_is_also_that_of_a_module(root):
    # Importing the module would put it in the name's place.
    for package in ("kzoo", *(f"kzoo.{name}" for name in PACKAGES)):
        module = importlib.import_module(package)
        functions = [name for name in module.__all__ if callable(getattr(module, name))]
        for folder in getattr(module, "__path__", []):
            assert not [name for name in functions if (root / folder / f"{name}.py").exists()], package


@pytest.mark.once
def test_looking_needs_no_backend(python):
    code = """
import json, pydoc, sys
from kzoo import *
import kzoo
text = pydoc.render_doc(kzoo)
found = {name: dir(getattr(kzoo, name)) for name in %r}
print(json.dumps([sorted(set(kzoo.__all__) - set(globals())), "from_preset" in text, found, "keras" in sys.modules]))
"""
    done = python(code % (PACKAGES,), without=["keras", *BACKENDS])
    assert done.returncode == 0, done.stderr
    missing, helped, found, _ = json.loads(done.stdout)
    assert missing == [] and helped
    assert found == {name: getattr(kzoo, name).__all__ for name in PACKAGES}


@pytest.mark.once
def test_using_without_a_backend_is_one_sentence(python):
    done = python("import kzoo\nkzoo.layers.ContentAttention", without=["keras", *BACKENDS])
    assert done.stderr.splitlines()[-1].startswith("kzoo.errors.BackendError: no Keras backend is installed")


@pytest.mark.once
def test_what_the_readme_imports_is_listed(root):
    text = (root / "README.md").read_text()
    imports = re.findall(r"^from (kzoo[\w.]*) import (.+)$", text, re.MULTILINE)
    assert imports
    for module, names in imports:
        package = importlib.import_module(".".join(module.split(".")[:2]))
        for name in names.split(", "):
            assert name in [*getattr(package, "__all__", []), "register"], f"{module}.{name}"


@pytest.mark.once
@pytest.mark.slow
@pytest.mark.parametrize("kind, name", [("attention", "onestep"), ("task", "recopy"), ("model", "RecurrentSeq2Seq")])
def test_the_registry_fills_itself(kind, name, python):
    code = "import sys, kzoo; print(kzoo.registry.resolve(*sys.argv[1:])[0].__name__, 'keras' in sys.modules)"
    done = python(code, kind, name)
    cls = registry.resolve(kind, name)[0].__name__
    assert done.stdout.split() == [cls, str(kind != "task")], done.stderr


@pytest.mark.once
def test_a_plugin_of_another_package_is_loaded(python, tmp_path):
    (tmp_path / "strolls.py").write_text(
        "from kzoo import register\n"
        "from kzoo.tasks import Task\n"
        "@register('task', 'stroll')\nclass Stroll(Task):\n    name = 'stroll'\n"
    )
    (tmp_path / "broken.py").write_text("raise RuntimeError('not today')\n")
    information = tmp_path / "strolls-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Name: strolls\nVersion: 1\n")
    (information / "entry_points.txt").write_text("[kzoo.plugins]\nstrolls = strolls\nbroken = broken\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import kzoo; print(kzoo.tasks.get('stroll').name)"
    done = python(code)
    assert done.stdout.split() == ["stroll"], done.stderr
    assert "the kzoo plugin broken was not loaded: not today" in done.stderr
