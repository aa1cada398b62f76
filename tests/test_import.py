"""What importing kzoo costs, which backend it takes, and which module may import which."""

import ast
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

BACKENDS = ("jax", "torch", "tensorflow")
GENERATE = "import sys, kzoo; print(kzoo.from_preset(sys.argv[1]).generate('4 7 9 8', max_length=5))"


@pytest.mark.once
def test_import_is_quick_and_loads_no_keras(python):
    code = """
import json, sys, time
started = time.perf_counter()
import kzoo
seconds = time.perf_counter() - started
print(json.dumps([seconds, sorted({"keras", "jax", "torch", "tensorflow"} & set(sys.modules))]))
"""
    runs = [json.loads(python(code).stdout) for _ in range(3)]
    assert min(seconds for seconds, _ in runs) < 0.1
    assert all(loaded == [] for _, loaded in runs)


@pytest.mark.once
def test_an_unknown_task_is_told_with_neither_keras_nor_a_backend(python):
    done = python("from kzoo.cli.main import main; sys.exit(main(['data', 'recopyy']))", without=["keras", *BACKENDS])
    assert done.returncode == 2 and "unknown task 'recopyy'; did you mean 'recopy'" in done.stderr


@pytest.mark.once
def test_a_task_of_ones_own_needs_neither_keras_nor_a_backend(python, tmp_path):
    (tmp_path / "own.py").write_text(
        "from kzoo.registry import register\nfrom kzoo.tasks.copying import Copy\n"
        "@register('task', 'again')\nclass Again(Copy):\n    name = 'again'\n"
    )
    words = ["data", "again", "--examples", "2", "--import", str(tmp_path / "own.py")]
    done = python(f"from kzoo.cli.main import main; sys.exit(main({words}))", without=["keras", *BACKENDS])
    assert done.returncode == 0 and done.stdout.count('"source"') == 2, done.stderr


@pytest.mark.once
def test_list_works_with_neither_keras_nor_a_backend(python):
    done = python("from kzoo.cli.main import main; sys.exit(main(['list', '--json']))", without=["keras", *BACKENDS])
    assert done.returncode == 0, done.stderr
    import kzoo

    assert [row["preset"] for row in json.loads(done.stdout)] == kzoo.list_presets()


@pytest.mark.once
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.slow
def test_the_only_backend_installed_is_taken_and_named_once(backend, python, preset):
    others = [name for name in BACKENDS if name != backend]
    done = python(GENERATE, preset, without=others, KERAS_BACKEND=None)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["7", "8"]  # the same on every backend
    # Without any setting Keras takes TensorFlow, so there kzoo chooses nothing.
    notes = [line for line in done.stderr.splitlines() if line.startswith("kzoo:")]
    expected = f"kzoo: using the {backend} backend (set KERAS_BACKEND to choose)"
    assert notes == ([] if backend == "tensorflow" else [expected])


@pytest.mark.once
@pytest.mark.slow
def test_the_first_of_several_backends_is_taken(python):
    code = "from kzoo.backend import ensure_backend; print(ensure_backend(), ensure_backend())"
    done = python(code, without=["tensorflow"], KERAS_BACKEND=None)
    assert done.stdout.split() == ["jax", "jax"]
    assert done.stderr.count("kzoo: using the jax backend") == 1


@pytest.mark.once
@pytest.mark.slow
def test_the_config_file_of_keras_counts(python, tmp_path):
    (tmp_path / "keras").mkdir()
    (tmp_path / "keras" / "keras.json").write_text('{"backend": "torch"}')
    done = python("from kzoo.backend import ensure_backend; print(ensure_backend())", KERAS_BACKEND=None)
    assert done.stdout.split() == ["torch"] and done.stderr == ""


@pytest.mark.once
@pytest.mark.parametrize(
    "missing, environment, sentence",
    [
        (BACKENDS, {"KERAS_BACKEND": None}, "no Keras backend is installed"),
        (BACKENDS, {"KERAS_BACKEND": "jax"}, "no Keras backend is installed"),
        (["torch"], {"KERAS_BACKEND": "torch"}, "KERAS_BACKEND is 'torch', which is not installed"),
        ([], {"KERAS_BACKEND": "foo"}, "unknown KERAS_BACKEND 'foo'"),
        ([], {"KERAS_BACKEND": "jacks"}, "did you mean 'jax'?"),
    ],
)
def test_no_usable_backend_is_one_sentence(missing, environment, sentence, python, preset):
    code = "from kzoo.cli.main import main; sys.exit(main(['generate', sys.argv[1], '4']))"
    done = python(code, preset, without=missing, **environment)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and sentence in done.stderr


@pytest.mark.slow
def test_everything_works_and_imports_no_other_backend(python, preset, tmp_path):
    others = [name for name in BACKENDS if name != os.environ["KERAS_BACKEND"]]
    code = """
import importlib.machinery, json, sys

class Trap:
    # The other backends seem to be installed; importing one fails, and is told.
    others, tried = sys.argv[3:], []
    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self) if name in self.others else None
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        self.tried.append(module.__name__)
        raise ImportError(module.__name__)

sys.meta_path.insert(0, Trap())
import kzoo
model = kzoo.from_preset(sys.argv[1])
model.fit([("4 7", "4 4 4 7 7 7 7 7")], verbose=0)
model.save_to_preset(sys.argv[2])
report = kzoo.evaluate(sys.argv[2], lengths=[2], examples=3)
print(json.dumps([Trap.tried, report.backend, len(model.generate("4 7", max_length=4).split())]))
"""
    done = python(code, preset, tmp_path / "tuned", *others)
    assert done.returncode == 0, done.stderr
    tried, backend, length = json.loads(done.stdout)
    assert tried == []
    assert backend == os.environ["KERAS_BACKEND"] and 0 < length <= 4


def imports(path):
    """Returns the dotted names of everything that a file imports, at its top or later."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


ALLOWED = {
    "tasks": ["numpy", "kzoo.errors", "kzoo.lazy", "kzoo.registry", "kzoo.checks", "kzoo.tasks"],
    # The loops have a branch for each backend.
    "layers": ["keras", "numpy", "jax", "tensorflow", "torch"]
    + ["kzoo.backend", "kzoo.checks", "kzoo.errors", "kzoo.layers", "kzoo.lazy", "kzoo.registry", "kzoo.annotations"],
}
TOP = ["kzoo.hub", "kzoo.cards", "kzoo.cli"]
FORBIDDEN = {
    "kzoo/models": ["kzoo.training", "kzoo.evaluation", "kzoo.inspection", *TOP],
    "kzoo/preprocessing": ["kzoo.models", "kzoo.training", "kzoo.evaluation", "kzoo.inspection", "kzoo.saving", *TOP],
    "kzoo/saving": ["kzoo.training", "kzoo.evaluation", "kzoo.inspection", *TOP],
    "kzoo/evaluation": ["kzoo.training", "kzoo.inspection", *TOP],
    "kzoo/inspection": ["kzoo.training", *TOP],
    "kzoo/training": ["kzoo.inspection", *TOP],
}


def below(name, tops):
    return any(name == top or name.startswith(top + ".") for top in tops)


@pytest.mark.once
@pytest.mark.parametrize("folder", ALLOWED)
def test_only_these_are_imported(folder, root):
    for path in (root / folder).rglob("*.py"):
        for name in imports(path):
            standard = name.split(".")[0] in sys.stdlib_module_names
            assert standard or below(name, ALLOWED[folder]), f"{path.relative_to(root)} imports {name}"


@pytest.mark.once
@pytest.mark.parametrize("folder", FORBIDDEN)
def test_these_are_not_imported(folder, root):
    for path in (root / folder).rglob("*.py"):
        for name in imports(path):
            assert not below(name, FORBIDDEN[folder]), f"{path.relative_to(root)} imports {name}"


@pytest.mark.once
def test_only_hub_knows_the_hub(root):
    files = [p for folder in ("kzoo", "layers", "tasks") for p in (root / folder).rglob("*.py")]
    users = {path for path in files if any(below(name, ["huggingface_hub"]) for name in imports(path))}
    assert users and {path.parent for path in users} == {root / "kzoo" / "hub"}


@pytest.mark.once
@pytest.mark.slow
@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_other_threads_import_what_they_like_meanwhile(backend, python):
    # While Keras is imported in one thread, another one imports what Keras must not.
    code = """
import sys, threading, time
from kzoo.backend import ensure_backend
name, found = sys.argv[1], []

def other():
    while "keras" not in sys.modules:
        time.sleep(0.001)
    found.append(__import__(name).__name__)

thread = threading.Thread(target=other)
thread.start()
ensure_backend()
thread.join()
print(found)
"""
    other = {"jax": "torch", "torch": "jax"}[backend]
    done = python(code, other, KERAS_BACKEND=backend)
    assert done.stdout.strip() == f"['{other}']", done.stderr


def test_several_threads_may_write_configs_at_once():
    import kzoo
    from kzoo.registry import serialize

    cell = kzoo.registry.get("attention", "onestep")
    others = [name for name in BACKENDS if name != os.environ["KERAS_BACKEND"] and name not in sys.modules]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: serialize(cell), range(200)))
    assert all(config == found[0] for config in found)
    assert not set(others) & set(sys.modules)
