"""The lessons: plain text files that jupytext turns into notebooks, run with their outputs for the site."""

import hashlib
import os
import re
from pathlib import Path

from docs.places import DOCS, ROOT, WORK, BuildError

KEPT = WORK / "lessons"
INDEX = """# Lessons

Notebooks with exercises and answers, each run with the code of this version. They are plain text files in
`docs/lessons`; `python docs/lessons/NAME.py` runs one as well.

"""


def lesson_pages() -> dict[str, str | Path]:
    """Returns the pages and notebooks by path, the index first.

    Raises:
        BuildError: a cell fails.
    """
    pages: dict[str, str | Path] = {}
    index = ""
    for path in lesson_files():
        notebook = executed(path)
        name = name_of(path)
        pages[f"lessons/{name}.md"], pictures = _page(name, notebook)
        pages |= {f"assets/lessons/{picture.name}": picture for picture in pictures}
        pages[f"lessons/{name}.ipynb"] = notebook
        index += f"1. [{title_of(path)}]({name}.md)\n"
    return {"lessons/index.md": INDEX + index, **pages}


def lesson_files() -> list[Path]:
    """Returns the lessons in their order."""
    return sorted((DOCS / "lessons").glob("*.py"))


def name_of(path: Path) -> str:
    """Returns the name of a lesson: that of its file without the number in front."""
    return re.sub(r"^\d+_", "", path.stem)


def title_of(path: Path) -> str:
    """Returns the title of a lesson."""
    match = re.search(r"^# # (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    if match is None:
        raise BuildError(f"{path} has no title")
    return match[1]


def executed(path: Path) -> Path:
    """Returns the notebook of a lesson with its outputs; it is run again only if the lesson or kzoo changes.

    Raises:
        BuildError: a cell fails.
    """
    import jupytext
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    sources = [path, Path(__file__), *sorted(ROOT.glob("kzoo/**/*.py")), *sorted(ROOT.glob("layers/**/*.py"))]
    key = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    kept = KEPT / f"{path.stem}_{key}.ipynb"
    if not kept.is_file():
        notebook = jupytext.read(path)
        notebook.cells.insert(0, nbformat.v4.new_code_cell(INSTALL))
        os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        KEPT.mkdir(parents=True, exist_ok=True)
        try:
            NotebookClient(
                notebook,
                timeout=1800,
                startup_timeout=600,
                kernel_name="python3",
                resources={"metadata": {"path": KEPT}},
            ).execute()
        except CellExecutionError as error:
            raise BuildError(f"{path.name} fails: {error}") from error
        for cell in notebook.cells:
            if cell.cell_type == "code":  # stderr has warnings of this machine's packages
                cell.outputs = [out for out in cell.outputs if out.get("name") != "stderr"]
        nbformat.write(notebook, kept)
    return kept


INSTALL = """import sys

if "google.colab" in sys.modules:
    !pip install -q "kzoo[jax,plot]\""""


def _page(name: str, notebook: Path) -> tuple[str, list[Path]]:
    """Returns a lesson as Markdown, and its pictures."""
    import nbformat
    from nbconvert import MarkdownExporter

    read = nbformat.read(notebook, as_version=4)
    read.cells = read.cells[1:]
    body, resources = MarkdownExporter().from_notebook_node(read)
    pictures = []
    for file, content in resources.get("outputs", {}).items():
        target = KEPT / f"{name}_{file}"
        target.write_bytes(content)
        pictures.append(target)
        body = body.replace(f"]({file})", f"](../assets/lessons/{target.name})")
    first, rest = body.split("\n", 2)[1:] if body.startswith("\n") else body.split("\n", 1)
    return f"{first}\n\n[Open the notebook]({name}.ipynb){colab(name)}\n{rest}", pictures


def colab(name: str) -> str:
    """Returns the link that opens a lesson in Colab; nothing where pyproject.toml names no repository on GitHub."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    addresses = project.get("urls", {}).values()
    match = next((m for m in (re.match(r"https://github\.com/([^/]+/[^/]+)", a) for a in addresses) if m), None)
    if match is None:
        return ""
    return f", [in Colab](https://colab.research.google.com/github/{match[1]}/blob/gh-pages/lessons/{name}.ipynb)"
