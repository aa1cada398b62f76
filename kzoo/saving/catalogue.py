"""Which presets there are, and what is known of them; imports no Keras."""

import fnmatch
import importlib
import math
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kzoo.errors import InputError, PresetError, UnknownNameError, did_you_mean
from kzoo.hub.address import SCHEME, Address
from kzoo.saving.files import read_json, sha256

FORMAT = 1
PARTS = ("config.json", "tokenizer.json", "metadata.json", "model.safetensors")  # a preset has at least these
FILE_NAME = re.compile(r"[a-z_]+\.(json|safetensors)")
OWNER = "KZOO_HUB_OWNER"  # environment variable: takes presets that are not bundled from this owner on the Hub
NUMBER = (int, float)
ROW: dict[str, Any] = {"length": (int, type(None)), "metric": str, "value": NUMBER, "n": int, "seed": int}
ROW["weights_sha256"] = str


@dataclass(frozen=True)
class Pin:
    """Where a preset that is not bundled is on the Hub: a commit, and bytes and SHA-256 of each file."""

    address: Address
    files: dict[str, dict[str, Any]]


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


def list_runs(pattern: str = "*") -> list[str]:
    """Returns the names of the bundled recorded runs that match a pattern, sorted: results without weights."""
    folders = {path.parent.name for path in bundled_folder().glob("*/results.json")}
    return sorted(fnmatch.filter(folders - set(list_presets()), pattern))


def list_recipes(pattern: str = "*") -> list[str]:
    """Returns the names of the bundled recipes that match a pattern and were not run, sorted."""
    folders = {path.parent.name for path in bundled_folder().glob("*/recipe.json")}
    return sorted(fnmatch.filter(folders - {*list_presets(), *list_runs()}, pattern))


def list_pinned(pattern: str = "*") -> list[str]:
    """Returns the names of the presets that are known but not bundled, sorted; `<name>/pin.json` tells where."""
    found = {path.parent.name for path in bundled_folder().glob("*/pin.json")}
    return sorted(fnmatch.filter(found - set(list_presets()), pattern))


def pinned(name: str) -> Pin:
    """Returns where a preset that is not bundled is; the environment variable KZOO_HUB_OWNER names another owner.

    Raises:
        PresetError: the record is damaged, or names no commit.
    """
    path = bundled_folder() / name / "pin.json"
    record = read_json(path)
    address = Address.parse(str(record.get("address")))
    if not address.pinned or not isinstance(record.get("files"), dict) or not set(PARTS) <= set(record["files"]):
        raise PresetError(f"{path} must have the address of a commit and the files of a preset")
    return Pin(replace(address, owner=os.environ.get(OWNER) or address.owner), record["files"])


def preset_folder(preset: str | Path, force: bool = False) -> Path:
    """Returns the folder of a preset: a path, a name, or an address on the Hub, which is downloaded if need be.

    Args:
        preset: str or Path.
        force: bool. Whether to download again what is cached. Defaults to False.

    Raises:
        UnknownNameError: no preset has that name.
        PresetError: the folder is not there, or has no config.json.
        HubError: the Hub does not give the preset.
    """
    text = str(preset)
    if text.startswith(SCHEME):
        from kzoo.hub.download import fetch

        return fetch(Address.parse(text), force)
    if text in list_presets():
        return bundled_folder() / text
    if text in list_pinned():
        from kzoo.hub.download import fetch_pinned

        return fetch_pinned(text, pinned(text), force)
    path = Path(preset).expanduser()
    if not text or not path.is_dir():
        if "/" in text or "\\" in text or text.startswith((".", "~")):
            raise PresetError(f"there is no preset folder {text}")
        raise UnknownNameError(did_you_mean("preset", text, [*list_presets(), *list_pinned()]))
    if not (path / "config.json").is_file():
        raise PresetError(f"{text} is no preset folder: it has no config.json")
    return Path(os.path.abspath(path))  # "." has a name too


def on_hub(preset: str | Path) -> bool:
    """Returns whether a preset is given by its address on the Hub, or by a name that stands for one."""
    return str(preset).startswith(SCHEME) or str(preset) in list_pinned()


def own_folder(preset: str | Path) -> Path:
    """Returns the folder of a preset that may be changed: as `preset_folder`, but not one in the cache of the Hub.

    Raises:
        InputError: the preset is on the Hub.
    """
    if on_hub(preset):
        raise InputError(f"{preset} is on the Hub and cannot be changed here: save it to a folder of your own")
    return preset_folder(preset)


def preset_name(preset: str | Path, folder: Path) -> str:
    """Returns the name of a preset; its folder has another one in the cache of the Hub."""
    text = str(preset)
    if text.startswith(SCHEME):
        return Address.parse(text).name
    return text if text in list_pinned() else folder.name


def preset_info(preset: str | Path) -> dict[str, Any]:
    """Returns what is known of a preset: its config, tokens, metadata, recipe and results, each as in its file.

    Args:
        preset: str or Path. A name, a folder, or an address on the Hub.

    Raises:
        UnknownNameError, PresetError, HubError: there is no such preset, or a file of it is damaged.
    """
    folder = preset_folder(preset)
    info: dict[str, Any] = {"preset": preset_name(preset, folder), "folder": str(folder), "config": read_config(folder)}
    if (folder / "metadata.json").is_file():
        info["metadata"] = read_metadata(folder)
    for part in ("tokenizer", "recipe", "results"):
        path = folder / f"{part}.json"
        if path.is_file():
            info[part] = read_json(path)
    rows = info.get("results", {"rows": []}).get("rows")
    if not isinstance(rows, list) or not all(map(_is_row, rows)):
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


def read_metadata(folder: Path) -> dict[str, Any]:
    """Returns the content of metadata.json.

    Raises:
        PresetError: it is missing or damaged, or does not list the preset's files, and no others, each with its size
            and SHA-256.
    """
    path = folder / "metadata.json"
    metadata = read_json(path)
    files = metadata.get("files")
    if not isinstance(files, dict) or not set(PARTS) - {path.name} <= set(files):
        raise PresetError(f"{path} does not list the files of the preset")
    for name, entry in files.items():
        if not FILE_NAME.fullmatch(name):
            raise PresetError(f"{path} lists a file outside the preset: {name!r:.80}")
        if not isinstance(entry, dict) or set(entry) != {"bytes", "sha256"}:
            raise PresetError(f"{path} must give bytes and sha256 of {name}")
    parameters = metadata.get("parameters")
    if type(parameters) is not int or parameters < 0:
        raise PresetError(f"{path} must give the number of parameters")
    for key in ("task", "paper", "license"):
        if not isinstance(metadata.get(key), (str, type(None))):
            raise PresetError(f"{path}: {key} must be a text")
    return metadata


def check_file(path: Path, entry: dict[str, Any], source: str) -> None:
    """Raises `PresetError` unless a file is there with the size and the SHA-256 that `source` says."""
    if not path.is_file():
        raise PresetError(f"{path} is missing")
    if path.stat().st_size != entry["bytes"]:
        raise PresetError(f"{path} is not the file of {source}: it has {path.stat().st_size:,} bytes")
    if sha256(path) != entry["sha256"]:
        raise PresetError(f"{path} is not the file of {source} (its SHA-256 differs)")


def _is_row(row: Any) -> bool:
    if not isinstance(row, dict) or not all(isinstance(row.get(key, ...), kind) for key, kind in ROW.items()):
        return False
    numbers = {key: row.get(key) for key in ("value", "low", "high", "paper")}
    needed = {"value", "low", "high"} if row["metric"] == "sequence_accuracy" else {"value"}
    return all(_is_number(x) or (x is None and key not in needed) for key, x in numbers.items()) and (
        row["length"] is not None or _is_range(row.get("lengths"))
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, NUMBER) and math.isfinite(value)


def _is_range(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(length) is int for length in value)
