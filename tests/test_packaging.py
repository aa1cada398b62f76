"""Nothing is forgotten in what is shipped: the list of packages, the links, the wheel."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile

import pytest

import kzoo

pytestmark = pytest.mark.once
LINKS = ("layers", "tasks", "presets")
BUILD = ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "kzoo", *LINKS)
UNWANTED = shutil.ignore_patterns("__pycache__", "*.egg-info", ".*")


def source_files(root):
    """Returns every file that belongs into a wheel, by its path in there."""
    found = {f"kzoo/{path.relative_to(root / 'kzoo')}" for path in (root / "kzoo").rglob("*.py")}
    found = {name for name in found if name.split("/")[1] not in LINKS}
    for link in LINKS:
        found |= {f"kzoo/{path.relative_to(root)}" for path in (root / link).rglob("*.py")}
    found |= {"kzoo/py.typed", "kzoo/cards/claims.json", "kzoo/cards/mechanisms.json"}
    for suffix in ("json", "safetensors"):
        found |= {f"kzoo/{path.relative_to(root)}" for path in (root / "presets").glob(f"*/*.{suffix}")}
    page = [path for path in (root / "kzoo/gallery").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    found |= {path.relative_to(root).as_posix() for path in page}
    return found


def test_the_list_of_packages_is_the_tree(root):
    listed = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    tree = {os.path.dirname(name).replace("/", ".") for name in source_files(root) if name.endswith(".py")}
    assert sorted(listed) == sorted(tree)


@pytest.mark.parametrize("name", LINKS)
def test_the_links_are_relative(name, root):
    assert os.readlink(root / "kzoo" / name) == f"../{name}"


def test_no_module_is_called_like_one_of_the_standard_library(root):
    # Run as a script, or with its folder on the path, it would take that one's place.
    for name in source_files(root):
        if name.endswith(".py"):
            stem = os.path.basename(name).removesuffix(".py")
            assert stem.startswith("__") or stem not in sys.stdlib_module_names, name


PROGRAM = """
import kzoo
from kzoo.layers import AttentionCell, OneStep
from kzoo.models import RecurrentSeq2Seq
from kzoo.tasks import Example, Task
from kzoo.training import LengthAccuracy, load_recipe


def first(task: Task) -> Example:
    return task.examples("train", 1)[0]


model = RecurrentSeq2Seq.from_task("recopy", attention="onestep")
reveal_type(kzoo.tasks.get("recopy"))
reveal_type(model)
reveal_type(model.preprocessor)
reveal_type(load_recipe("onestep_recopy").task)
reveal_type(kzoo.list_presets())
kzoo.not_there
first("recopy")
"""
FOUND = """
3: error: Module "kzoo.layers" has no attribute "OneStep"
14: note: Revealed type is "kzoo.tasks.base.Task"
15: note: Revealed type is "kzoo.models.recurrent_seq2seq.RecurrentSeq2Seq"
16: note: Revealed type is "Any"
17: note: Revealed type is "str"
18: note: Revealed type is "list[str]"
19: error: Module has no attribute "not_there"
20: error: Argument 1 to "first" has incompatible type "str"; expected "Task"
"""


def type_check(wheel, folder):
    """Checks a user's program against an installed wheel, as strictly as mypy can."""
    environment = folder / "environment"
    venv.create(environment, system_site_packages=True, with_pip=False)
    (site,) = environment.glob("lib/python*/site-packages")
    zipfile.ZipFile(wheel).extractall(site)
    (folder / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(environment / "bin" / "python")]
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*command, "--no-error-summary", "program.py"], cwd=folder, env=variables, capture_output=True, text=True
    )
    said = re.findall(r"^program\.py:(\d+: .*?)(?:  \[.*\])?$", done.stdout, re.MULTILINE)
    assert [line.replace("builtins.", "") for line in said] == FOUND.strip().splitlines(), done.stdout + done.stderr


def test_the_source_distribution_holds_all_that_the_tests_need(root, tmp_path, monkeypatch):
    """By the manifest alone: what git tracks is in it, but for what only git needs."""
    from setuptools import build_meta

    if (root / ".git").exists():
        done = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True)
        tracked = done.stdout.splitlines()
    else:  # these are the files of a source distribution
        tracked = (root / "kzoo.egg-info" / "SOURCES.txt").read_text().splitlines()
    links = {f"kzoo/{name}" for name in LINKS}
    wanted = {name for name in tracked if name and name not in {".gitignore", *links}}
    copy = tmp_path / "copy"
    for name in wanted | links:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        if (root / name).is_symlink():
            (copy / name).symlink_to(os.readlink(root / name))
        else:
            os.link(root / name, copy / name)
    monkeypatch.chdir(copy)
    archive = build_meta.build_sdist(str(tmp_path))
    with tarfile.open(tmp_path / archive) as opened:
        found = {name.partition("/")[2] for name in opened.getnames()}
    assert wanted - found == set()


def test_the_citation_is_of_this_version_and_of_the_papers(root):
    from kzoo.cards.bibtex import METHODS, PAPERS, bibtex
    from kzoo.cards.explain import explain
    from kzoo.saving.preset import Preset

    text = (root / "CITATION.cff").read_text()
    assert f"\nversion: {kzoo.__version__}\n" in text
    assert {number for number in PAPERS if f"https://arxiv.org/abs/{number}" in text} == set(PAPERS)
    cited = {number for name in kzoo.tasks.names() for number in PAPERS if number in kzoo.tasks.get(name).paper}
    own, paper = bibtex("arXiv:2305.20019")
    assert cited == set(PAPERS) and paper.startswith("@misc{raychowdhury2023monotonic,\n")
    assert own.startswith("@software{kzoo,\n") and kzoo.__version__ in own
    assert {number for number in METHODS if f"https://arxiv.org/abs/{number}" in text} == set(METHODS)
    configs = [Preset.find(name).config for name in kzoo.list_presets()]
    docstrings = " ".join(part.docstring for config in configs for part in explain(config))
    assert all(f"arxiv.org/abs/{number}" in docstrings for number in METHODS)  # of methods that presets have


@pytest.mark.parametrize("with_links", [True, False], ids=["links", "no links"])
@pytest.mark.slow
def test_the_wheel_holds_everything(with_links, root, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in BUILD:
        if (root / name).is_dir():
            shutil.copytree(root / name, copy / name, symlinks=True, ignore=UNWANTED)
        else:
            shutil.copy(root / name, copy / name)
    if not with_links:
        for name in LINKS:
            (copy / "kzoo" / name).unlink()
            (copy / "kzoo" / name).write_text(f"../{name}")  # as git writes a link on Windows
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--wheel-dir", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(copy)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("kzoo-*.whl")
    if with_links:
        type_check(wheel, tmp_path)
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == source_files(root)
