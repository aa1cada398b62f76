"""The code of the guides runs, the commands in them parse, and the sections that they take are there."""

import re
import shlex

import pytest

from docs.guides import PYTHON, section, written
from docs.lessons import lesson_files, title_of
from docs.places import DOCS, BuildError
from kzoo import registry
from kzoo.cli.main import _parser

GUIDES = sorted((DOCS / "pages" / "guides").glob("*.md"))
TAKEN = ("Adding to the zoo",)  # sections whose code the guide goes on from; tests/test_readme.py looks at what it does
COMMAND = re.compile(r"^\s*(kzoo .+)$", re.MULTILINE)
pytestmark = pytest.mark.once
name = pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)


@name
def test_the_code_of_a_guide(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kind in ("task", "attention", "bias"):
        registry.names(kind)
        monkeypatch.setitem(registry._CLASSES, kind, dict(registry._CLASSES[kind]))
    names = {"__name__": "a_guide"}
    text = path.read_text(encoding="utf-8")
    for title in TAKEN:
        text = text.replace(f"{{{{ README: {title} }}}}", section("README", title))
    for block in PYTHON.findall(text):
        exec(block, names)


@name
def test_the_commands_of_a_guide(path):
    parser, _ = _parser()
    for command in COMMAND.findall(written(path)):
        if "..." not in command and not re.search(r"\b[A-Z]{3,}\b", command.replace("OWNER", "owner")):
            parser.parse_args(shlex.split(command.split("  #")[0].split(" > ")[0])[1:])


@name
def test_a_guide_says_nothing_that_the_readme_says(path, root):
    """What both need stands in the README, and the guide takes it."""
    readme = {line for line in (root / "README.md").read_text().splitlines() if len(line) > 60}
    assert not readme & {*path.read_text(encoding="utf-8").splitlines()}
    assert "{{" not in written(path)


def test_a_section_that_is_not_there():
    with pytest.raises(BuildError, match="no section 'Nothing'"):
        section("README", "Nothing")
    assert section("README", "Devices").startswith("On JAX") and "\n## " not in section("README", "Devices")
    assert section("README", None).startswith("A Keras 3 model zoo") and "## Results" not in section("README", None)
    assert "# 4 4 4" in section("README", "Export")  # a comment in code ends no section


def test_there_are_five_lessons_with_exercises():
    assert len({title_of(path) for path in lesson_files()}) == 5
    for path in lesson_files():
        text = path.read_text(encoding="utf-8")
        assert "# ## Exercises" in text and "# ## Answers" in text and "assert " in text


@pytest.mark.slow
def test_a_lesson(tmp_path, python):
    """The shortest one; `python -m tests --web` runs all."""
    (path,) = (path for path in lesson_files() if "carrying" in path.stem)
    done = python(path.read_text(encoding="utf-8"), MPLBACKEND="Agg", KERAS_BACKEND="jax")
    assert done.returncode == 0, done.stderr
