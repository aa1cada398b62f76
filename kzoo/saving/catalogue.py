"""Which presets, recorded runs and recipes are bundled; imports no Keras.

One name is one folder in presets/, and its files say which kind it is: with config.json a preset, with results.json but
no config.json a recorded run, whose weights are not kept, with recipe.json alone a recipe that was not run. A folder
with pin.json alone names a preset that is on the Hub and not bundled.
"""

import fnmatch
import importlib
from pathlib import Path

from kzoo import checks
from kzoo.errors import PresetError, UnknownNameError, did_you_mean
from kzoo.saving.files import read_json

SUPERVISION = (
    "intermediate results",
    "gold attention",
    "built-in alignment",
    "data augmentation",
    "longer inputs",
    "other training distribution",
    "constructed",
)
PRESET, RUN, RECIPE, PIN = "preset", "recorded run", "recipe", "pinned preset"
_MARKS = {"config.json": PRESET, "results.json": RUN, "recipe.json": RECIPE, "pin.json": PIN}  # the first there decides
KINDS = tuple(_MARKS.values())


def bundled_folder() -> Path:
    """Returns the folder that holds the bundled presets."""
    return Path(importlib.import_module("kzoo.presets").__path__[0]).resolve()


def kind_of(folder: Path) -> str | None:
    """Returns what a folder holds: "preset", "recorded run", "recipe", "pinned preset" or None."""
    return next((kind for name, kind in _MARKS.items() if (folder / name).is_file()), None)


def names_of(*kinds: str, pattern: str = "*") -> list[str]:
    """Returns the names of the bundled folders of these kinds that match a pattern, sorted.

    Args:
        *kinds: str, as `kind_of` returns.
        pattern: str. A name with the wildcards `*` and `?`.
    """
    found = (path.name for path in bundled_folder().iterdir() if path.is_dir() and kind_of(path) in kinds)
    return sorted(fnmatch.filter(found, pattern))


def asked_for(pattern: str, task: str | None, *names: str) -> bool:
    """Returns whether a pattern is the name of a task, or fits one of the names of a run on it."""
    return task == pattern or any(fnmatch.fnmatch(name, pattern) for name in names)


def bundled(name: str, *kinds: str) -> Path | None:
    """Returns the folder that is bundled under a name, or None if there is none.

    Args:
        name: str.
        *kinds: str. What the folder may hold. Defaults to any of `KINDS`.
    """
    if not name or len(name) > 200 or name in (".", "..") or Path(name).name != name:
        return None
    folder = bundled_folder() / name
    return folder if kind_of(folder) in (kinds or KINDS) else None


def list_presets(pattern: str = "*", supervision: str | None = None) -> list[str]:
    """Returns the names of the bundled presets that match a pattern, sorted.

    Args:
        pattern: str. A name with the wildcards `*` and `?`, as "onestep*". Defaults to all.
        supervision: str. Only presets whose training had this beyond pairs of source and target, one of
            `kzoo.saving.catalogue.SUPERVISION`; "none" gives those that had nothing else. Defaults to all.

    Raises:
        InputError: there is no such supervision.
    """
    found = names_of(PRESET, pattern=pattern)
    if supervision is None:
        return found
    checks.choice("supervision", supervision, ("none", *SUPERVISION))
    stated = {name: read_json(bundled_folder() / name / "metadata.json").get("supervision") for name in found}
    return [
        name
        for name, words in stated.items()
        if words is not None and (supervision in words if words else supervision == "none")
    ]


def version_of(folder: Path) -> str:
    """Returns the version of a bundled preset's weights, as "v1": its metadata says which, if not the first."""
    path = folder / "metadata.json"
    return f"v{read_json(path).get('version', 1) if path.is_file() else 1}"


def find_folder(preset: str | Path) -> Path:
    """Returns the folder of a bundled name, as "onestep_recopy" or with the version of its weights as
    "onestep_recopy@v1", or of a path; asks nothing of the Hub.

    Raises:
        UnknownNameError: nothing is bundled under that name, or not in that version.
        PresetError: there is no such folder, or it holds no preset, recorded run or recipe.
    """
    text = str(preset)
    name, _, version = text.partition("@")
    known = bundled(name)
    if known is not None:
        own = version_of(known)
        if version not in ("", own):
            raise UnknownNameError(f"{name} is bundled in version {own}, not {version[:40]!r}: others are on the Hub")
        return known
    path = _home(text)
    try:
        there = bool(text) and path.is_dir()
    except (OSError, ValueError):  # too long for a path, or no text of one
        there = False
    if not there:
        if "/" in text or "\\" in text or text.startswith((".", "~")):
            raise PresetError(f"there is no preset folder {text if len(text) <= 300 else text[:300] + '...'}")
        raise UnknownNameError(did_you_mean("preset", text, names_of(*KINDS)))
    if kind_of(path) in (None, PIN) or (kind_of(path) != PRESET and (path / "model.safetensors").is_file()):
        raise PresetError(f"{text} is no preset folder: it has no config.json")
    return path.absolute()  # "." has a name too


def is_on_hub(preset: str | Path) -> bool:
    """Returns whether a preset is given by its address on the Hub, or by a name that is pinned to one."""
    return str(preset).startswith("hf://") or bundled(str(preset), PIN) is not None


def _home(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # no such user
        raise PresetError(f"there is no preset folder {text}") from None
