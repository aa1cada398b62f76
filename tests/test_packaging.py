"""Nothing is forgotten in what is shipped: the list of packages, the links, the wheel."""

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile

import pytest

pytestmark = pytest.mark.once
LINKS = ("layers", "tasks", "presets")
BUILD = ("pyproject.toml", "README.md", "LICENSE", "kzoo", *LINKS)
UNWANTED = shutil.ignore_patterns("__pycache__", "*.egg-info", ".*")


def source_files(root):
    """Returns every file that belongs into a wheel, by its path in there."""
    found = {f"kzoo/{path.relative_to(root / 'kzoo')}" for path in (root / "kzoo").rglob("*.py")}
    found = {name for name in found if name.split("/")[1] not in LINKS}
    for link in LINKS:
        found |= {f"kzoo/{path.relative_to(root)}" for path in (root / link).rglob("*.py")}
    for suffix in ("json", "safetensors"):
        found |= {f"kzoo/{path.relative_to(root)}" for path in (root / "presets").glob(f"*/*.{suffix}")}
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


@pytest.mark.parametrize("with_links", [True, False], ids=["links", "no links"])
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
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--wheel-dir", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(copy)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("kzoo-*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == source_files(root)
