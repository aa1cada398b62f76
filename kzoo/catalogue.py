"""Which presets there are, and what is known of them; imports no Keras."""

import fnmatch
import importlib
import os
from pathlib import Path
from typing import Any

from kzoo.errors import PresetError, UnknownNameError, did_you_mean
from kzoo.files import read_json

FORMAT = 1
ROW = {"length", "metric", "value", "n", "seed", "weights_sha256"}


def bundled_folder() -> Path:
    """Returns the folder that holds the bundled presets."""
    return Path(importlib.import_module("kzoo.presets").__path__[0]).resolve()


def list_presets(pattern: str = "*") -> list[str]:
    """Returns the names of the bundled presets that match a pattern, sorted.

    Args:
        pattern: str. A name with the wildcards `*` and `?`, as "onestep*".
    """
    found = (path.parent.name for path in bundled_folder().glob("*/config.json"))
    return sorted(fnmatch.filter(found, pattern))


def preset_folder(preset: str | Path) -> Path:
    """Returns the folder of a preset: a path, or the name of a bundled one.

    Raises:
        UnknownNameError: no bundled preset has that name.
        PresetError: the folder is not there, or has no config.json.
    """
    text = str(preset)
    if text.startswith("hf://"):
        raise PresetError(f"{text}: this version of kzoo loads no presets from the Hub; pass a name or a folder")
    if text in list_presets():
        return bundled_folder() / text
    path = Path(preset).expanduser()
    if not text or not path.is_dir():
        if "/" in text or "\\" in text or text.startswith((".", "~")):
            raise PresetError(f"there is no preset folder {text}")
        raise UnknownNameError(did_you_mean("preset", text, list_presets()))
    if not (path / "config.json").is_file():
        raise PresetError(f"{text} is no preset folder: it has no config.json")
    return Path(os.path.abspath(path))  # "." has a name too


def preset_info(preset: str | Path) -> dict[str, Any]:
    """Returns what is known of a preset: its config, tokens, metadata, recipe and results, each as in its file.

    Args:
        preset: str or Path. A bundled name, or a folder.

    Raises:
        UnknownNameError, PresetError: there is no such preset, or a file of it is damaged.
    """
    folder = preset_folder(preset)
    info: dict[str, Any] = {"preset": folder.name, "folder": str(folder), "config": read_config(folder)}
    for part in ("tokenizer", "metadata", "recipe", "results"):
        path = folder / f"{part}.json"
        if path.is_file():
            info[part] = read_json(path)
    rows = info.get("results", {"rows": []}).get("rows")
    if not isinstance(rows, list) or not all(isinstance(row, dict) and ROW <= set(row) for row in rows):
        raise PresetError(f"{folder / 'results.json'} must have rows with {', '.join(sorted(ROW))}")
    return info


def read_config(folder: Path) -> dict[str, Any]:
    """Returns the content of config.json: format, class and config.

    Raises:
        PresetError: it is missing or damaged, or has anything else.
    """
    config = read_json(folder / "config.json")
    if set(config) != {"format", "class", "config"} or config["format"] != FORMAT:
        raise PresetError(f"{folder / 'config.json'} must have format {FORMAT}, class and config, and nothing else")
    return config
