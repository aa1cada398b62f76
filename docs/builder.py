"""Builds the site: pages from the repository's own files, then HTML, then a check of all of it."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from docs.cards import card_pages
from docs.check import check
from docs.choosing import board_pictures, choosing_page
from docs.guides import guide_pages
from docs.lessons import lesson_pages
from docs.mechanisms import mechanism_pages
from docs.pictures import pictures
from docs.places import DOCS, ROOT, WORK, BuildError
from docs.reference import reference
from docs.results import results_pages
from docs.subjects import paper_pages, task_pages

KATEX = ("katex.min.js", "katex.min.css", "contrib/auto-render.min.js")


def build(output: Path) -> list[str]:
    """Builds the site into a folder; returns the addresses of its pages.

    Raises:
        BuildError: a link is broken, a docstring is missing, a table or card is stale, or a page would load something
            from elsewhere.
    """
    pages = WORK / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    files, navigation = all_files()
    for path, content in files.items():
        target = pages / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            shutil.copy(content, target)
        else:
            target.write_text(content, encoding="utf-8")
    katex = node_modules() / "katex" / "dist" / "fonts"
    shutil.copytree(katex, pages / "assets/katex/fonts", ignore=shutil.ignore_patterns("*.ttf", "*.woff"))
    settings = (DOCS / "mkdocs.yml").read_text(encoding="utf-8").replace("ROOT", str(ROOT))
    (WORK / "mkdocs.yml").write_text(f"{settings}nav: {json.dumps(navigation)}\n", encoding="utf-8")
    if has_gallery():
        from kzoo.gallery import write_gallery

        write_gallery(pages / "gallery", home="../")
    _render()
    shutil.rmtree(output, ignore_errors=True)
    output.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(WORK / "site", output)
    (output / "404.html").unlink(missing_ok=True)  # its addresses begin at the root of a host
    return check(output)


def all_files() -> tuple[dict[str, str | Path], list[Any]]:
    """Returns every page and every file beside the pages, as text or as a file to copy, and the navigation."""
    drawn = pictures()
    api, api_navigation = reference()
    cards, card_pictures = card_pages()
    sections = {
        "Guides": guide_pages(),
        "Lessons": lesson_pages(),
        "Mechanisms": mechanism_pages(drawn),
        "Tasks": task_pages(),
        "Papers": paper_pages(),
        "Presets": cards,
    }
    files: dict[str, str | Path] = {**api, **results_pages(), **choosing_page()}
    listed = []
    for title, pages in sections.items():
        files |= pages
        listed.append({title: [path for path in pages if path.endswith(".md")]})
    start, *others = listed
    gallery = [{"Gallery": "gallery/index.html"}] if has_gallery() else []
    results = [{"Which mechanism": "which_mechanism.md"}, {"Results": "results.md"}, {"Leaderboard": "leaderboard.md"}]
    navigation = [{"Start": "index.md"}, start, others[0], *gallery, *results, *others[1:]]
    files["index.md"] = str(files.pop("guides/index.md")).replace("](../", "](")
    start["Guides"].remove("guides/index.md")
    files |= {f"assets/pictures/{picture.file.name}": picture.file for own in drawn.values() for picture in own}
    files |= {f"assets/pictures/{path.name}": path for path in board_pictures().values()}
    files |= {f"cards/{path.name}": path for path in card_pictures}
    files |= {f"assets/{path.name}": path for path in (DOCS / "assets").iterdir()}
    katex = node_modules() / "katex" / "dist"
    files |= {f"assets/katex/{Path(name).name}": katex / name for name in KATEX}
    return files, [*navigation, {"Reference": api_navigation}]


def has_gallery() -> bool:
    """Whether this kzoo has the page that runs presets in the browser, which needs nothing of the site."""
    return importlib.util.find_spec("kzoo.gallery") is not None


def _render() -> None:
    """Turns the pages into HTML."""
    done = subprocess.run(  # noqa: S603 - this Python, with fixed arguments
        [sys.executable, "-m", "zensical", "build", "--clean", "--config-file", "mkdocs.yml"],
        cwd=WORK,
        env={
            **os.environ,
            "NO_COLOR": "1",
            "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        },  # for docs.extension
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    if done.returncode or "No issues found" not in said:
        raise BuildError(f"the pages do not build:\n{said}")


def node_modules() -> Path:
    """Returns the folder of the packages that package-lock.json pins, installed if it is not there or another."""
    folder, lock = WORK / "npm", (DOCS / "package-lock.json").read_text(encoding="utf-8")
    stamp = folder / "installed.json"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != lock:
        npm = shutil.which("npm")
        if npm is None:
            raise BuildError("npm is not installed, and KaTeX comes from it")
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(DOCS / name, folder)
        subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit"], cwd=folder, check=True)  # noqa: S603
        stamp.write_text(lock, encoding="utf-8")
    return folder / "node_modules"
