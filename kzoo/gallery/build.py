"""The folder of the gallery: the page, the weights of its presets, and one file with all that is said of them."""

import hashlib
import html
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from kzoo import tasks
from kzoo.backend import ensure_backend
from kzoo.cards.card import trained_lengths
from kzoo.cards.explain import explain, in_words
from kzoo.errors import InputError
from kzoo.saving.files import read_json, write_bytes, writing
from kzoo.saving.preset import Preset
from kzoo.training.recipe import Recipe

HERE = Path(__file__).parent
PAGE = HERE / "page"
ROW = ("length", "value", "low", "high", "n")
TITLE = '<p class="brand">kzoo'
EXAMPLES = 6  # of each depth of trees, which the page does not draw itself


def write_gallery(folder: str | Path, home: str | None = None) -> Path:
    """Writes the gallery as a folder of static files, for any web server.

    Args:
        folder: str or Path. One that does not exist, or is empty.
        home: str. The address of the site that it is part of, which its title links to. Defaults to no link.

    Returns:
        Path. The folder; its page is `index.html`.

    Raises:
        InputError: something is in the folder.
        OutputError: it cannot be written.

    Example:

    ```python
    from kzoo.gallery import write_gallery

    write_gallery("gallery")  # then: python -m http.server -d gallery
    ```
    """
    target = Path(folder).expanduser()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"{folder} exists and is not empty; nothing was written")
    data = gallery_data()
    with writing(target):
        shutil.copytree(PAGE, target, dirs_exist_ok=True)
        if home is not None:
            page = (target / "index.html").read_text(encoding="utf-8")
            linked = page.replace(TITLE, TITLE.replace("kzoo", f'<a href="{html.escape(home)}">kzoo</a>'))
            write_bytes(target / "index.html", linked.encode())
        (target / "weights").mkdir()
        for name in data["presets"]:
            shutil.copyfile(Preset.find(name).folder / "model.safetensors", target / "weights" / f"{name}.safetensors")
        write_bytes(target / "gallery.json", json.dumps(data, ensure_ascii=False).encode())
    return target


def exhibit_of(name: str) -> str | None:
    """Returns the id of the page of the gallery that shows a preset alone, or None if none does."""
    pages = read_json(HERE / "exhibits.json")["pages"]
    return next((page["id"] for page in pages if name in page.get("presets", {})), None)


def gallery_data() -> dict[str, Any]:
    """Returns the content of gallery.json.

    Returns:
        dict of `pages` and their texts, as in exhibits.json; `presets`, by name what their files and their task say;
        `files`, all addresses of the folder; and `version`, which changes with any of it.
    """
    exhibits = read_json(HERE / "exhibits.json")
    lengths: dict[str, set[int]] = {}
    for page in exhibits["pages"]:
        shown = {name: [] for duel in page.get("duels", []) for name in duel["presets"]} | page.get("presets", {})
        for name, own in shown.items():
            lengths.setdefault(name, set()).update(own)
    presets = {name: _about(name, sorted(own), exhibits["forms"]) for name, own in lengths.items()}
    for name, heads in exhibits["heads"].items():
        presets[name]["heads"] = heads
    files = sorted(path.relative_to(PAGE).as_posix() for path in PAGE.rglob("*") if path.is_file())
    files += ["gallery.json", *(f"weights/{name}.safetensors" for name in presets)]
    found = {"pages": exhibits["pages"], "presets": presets, "files": files}
    content = [json.dumps(found).encode(), *(path.read_bytes() for path in sorted(PAGE.rglob("*")) if path.is_file())]
    return {"version": hashlib.sha256(b"".join(content)).hexdigest()[:12], **found}


def _about(name: str, lengths: list[int], forms: dict[str, str]) -> dict[str, Any]:
    """Returns what the page needs to know of a preset."""
    ensure_backend()
    from kzoo import models

    preset = Preset.find(name)
    task: Any = tasks.get(str(preset.task))
    preprocessor = getattr(models, preset.config["class"]).preprocessor_class(**preset.tokenizer)
    tokenizer, task_part = preprocessor.tokenizer, explain({"class": type(task).__name__})[0]
    lengths = lengths or [n for n in task.test_lengths if n is not None][:1]
    size = EXAMPLES if task.name in ("arithmetic", "listops") else 1
    drawn = [(n, example) for n in lengths for example in task.examples("test", size, length=n)]
    between = "" if task.characters else " "
    examples = [{"length": n, "source": between.join(e.source), "target": between.join(e.target)} for n, e in drawn]
    rows = [row for row in preset.rows if row["metric"] == "sequence_accuracy" and row["length"] is not None]
    return {
        "name": name,
        "mechanism": {"name": preset.mechanism, "about": in_words(preset.mechanism)},
        "config": preset.config,
        "tokens": tokenizer.tokens,
        "start_id": tokenizer.start_id,
        "end_id": tokenizer.end_id,
        "text": preprocessor.text_rule(),
        "target_steps": getattr(preprocessor, "target_steps", None),
        "form": forms[task.name],
        "task": {"name": task.name, "about": _plain(task_part.summary), "unit": task.length_unit} | _tables(task),
        "model": [{"name": p.name.split(".")[-1], "about": _plain(p.summary)} for p in explain(preset.config)],
        "trained": trained_lengths(Recipe.from_config(preset.recipe or {}), task),
        "supervision": preset.supervision,
        "limits": preset.metadata.get("limits", []),
        "parameters": preset.metadata["parameters"],
        "bytes": preset.metadata["files"]["model.safetensors"]["bytes"],
        "sha256": preset.weights_sha256,
        "rows": [{key: value for key, value in row.items() if key in ROW} for row in rows],
        "examples": examples,
    }


def _tables(task: Any) -> dict[str, Any]:
    """Returns the lookup tables of a task that has some."""
    tables = getattr(sys.modules[type(task).__module__], "TABLES", None)
    return {} if tables is None else {"tables": {name: list(values) for name, values in tables.items()}}


def _plain(text: str) -> str:
    """Returns a line of a docstring without the marks of Markdown."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "")
