"""Presets: a model as a folder of plain data.

| file              | holds                                                                         |
|-------------------|-------------------------------------------------------------------------------|
| config.json       | the class, from a closed list, and its arguments                              |
| tokenizer.json    | the vocabulary and how sources are closed                                     |
| model.safetensors | the weights                                                                   |
| metadata.json     | versions, parameter count, task, paper, licence, SHA-256 of each file         |
| recipe.json       | how it was trained, enough to train it again                                  |
| results.json      | its measured accuracy by length                                               |
"""

import os
import shutil
from pathlib import Path
from typing import Any

import kzoo
from kzoo.backend import ensure_backend, no_other_backend
from kzoo.catalogue import FORMAT, preset_folder, read_config
from kzoo.errors import KzooError, PresetError
from kzoo.files import read_json, sha256, write_json

LICENSE = "apache-2.0"


def from_preset(preset: str | Path, load_weights: bool = True, expected: type | None = None) -> Any:
    """Returns the model of a preset.

    Args:
        preset: str or Path. The name of a bundled preset, or a folder.
        load_weights: bool. False gives the same model with fresh random weights. Defaults to True.
        expected: class that the model must be of.

    Raises:
        UnknownNameError: no preset has that name.
        PresetError: the folder is missing, incomplete or damaged, or holds another class than `expected`.
    """
    folder = preset_folder(preset)
    ensure_backend()
    config = read_config(folder)
    metadata = read_json(folder / "metadata.json")
    check_files(folder, metadata)
    try:
        model = _build(config, read_json(folder / "tokenizer.json"))
    except (KzooError, TypeError, ValueError) as error:  # the latter two are Keras' own, for its arguments
        raise PresetError(f"{folder / 'config.json'}: {' '.join(str(error).split())}") from error
    if expected is not None and not isinstance(model, expected):
        raise PresetError(f"{preset} is a {type(model).__name__}, not a {expected.__name__}")
    if load_weights:
        from kzoo.weights import load_weights as read_weights

        read_weights(model, folder / "model.safetensors")
    model.task_name = metadata.get("task")
    model.preset_name = folder.name
    return model


def save_to_preset(model: Any, folder: str | Path, **documents: dict[str, Any]) -> None:
    """Writes a model as a preset folder: complete, or not at all.

    A preset that is already there is replaced as a whole; any other folder with something in it is left alone.

    Args:
        model: a model of kzoo with a preprocessor.
        folder: str or Path.
        **documents: further files by name, as `recipe={...}` for recipe.json.

    Raises:
        PresetError: the folder exists and is no preset.
    """
    from kzoo.weights import save_weights

    folder = Path(folder).expanduser().resolve()
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir()) and not (folder / "config.json").is_file()):
        raise PresetError(f"{folder} exists and is no preset folder; nothing was written")
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = folder.parent / f".{folder.name}.new-{os.getpid()}"
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir()
    try:
        model.text_preprocessor()
        with no_other_backend():
            config = {k: v for k, v in model.get_config().items() if k not in ("name", "dtype", "trainable")}
        write_json(beside / "tokenizer.json", config.pop("preprocessor"))
        write_json(beside / "config.json", {"format": FORMAT, "class": type(model).__name__, "config": config})
        for name, content in documents.items():
            write_json(beside / f"{name}.json", content)
        save_weights(model, beside / "model.safetensors")
        write_metadata(beside, model)
        _swap(beside, folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def write_metadata(folder: Path, model: Any = None) -> None:
    """Writes metadata.json: afresh from a model, or only its list of files with their SHA-256."""
    path = folder / "metadata.json"
    metadata = read_json(path) if model is None else _describe(model)
    names = sorted(p.name for p in folder.iterdir() if p.suffix in (".json", ".safetensors") and p != path)
    metadata["files"] = {
        name: {"bytes": (folder / name).stat().st_size, "sha256": sha256(folder / name)} for name in names
    }
    write_json(path, metadata)


def check_files(folder: Path, metadata: dict[str, Any]) -> None:
    """Raises `PresetError` unless every file that the metadata lists is there with its SHA-256."""
    files = metadata.get("files")
    if not isinstance(files, dict) or not {"config.json", "tokenizer.json", "model.safetensors"} <= set(files):
        raise PresetError(f"{folder / 'metadata.json'} does not list the files of the preset")
    for name, entry in files.items():
        if Path(name).name != name or not isinstance(entry, dict):
            raise PresetError(f"{folder / 'metadata.json'} lists a file outside the preset: {name!r}")
        if not (folder / name).is_file():
            raise PresetError(f"{folder / name} is missing")
        if sha256(folder / name) != entry.get("sha256"):
            raise PresetError(f"{folder / name} is not the file that metadata.json describes (its SHA-256 differs)")


def _build(config: dict[str, Any], tokenizer: dict[str, Any]) -> Any:
    from kzoo import registry
    from kzoo.models import kind_of

    spec = {"class": config["class"], "config": config["config"]}
    cls, arguments = registry.resolve(kind_of(config["class"]), spec)
    preprocessor = registry.construct(cls.preprocessor_class, tokenizer)  # type: ignore[attr-defined]
    return registry.construct(cls, {**arguments, "preprocessor": preprocessor})


def _describe(model: Any) -> dict[str, Any]:
    import keras

    from kzoo import tasks

    known = model.task_name in tasks.names()
    return {
        "format": FORMAT,
        "task": model.task_name,
        "paper": tasks.get(model.task_name).paper if known else None,
        "license": LICENSE,
        "parameters": model.count_params(),
        "kzoo": kzoo.__version__,
        "keras": keras.__version__,
        "backend": keras.config.backend(),
    }


def _swap(new: Path, folder: Path) -> None:
    """Puts a finished folder in place of another; at every moment one of the two is there."""
    old = folder.parent / f".{folder.name}.old-{os.getpid()}"
    if folder.exists():
        os.rename(folder, old)
    try:
        os.rename(new, folder)
    except BaseException:
        if old.exists():
            os.rename(old, folder)
        raise
    shutil.rmtree(old, ignore_errors=True)
