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
from kzoo import checks
from kzoo.backend import ensure_backend, no_other_backend
from kzoo.errors import InputError, PresetError
from kzoo.saving.catalogue import FORMAT, check_file, preset_folder, preset_name, read_config, read_metadata
from kzoo.saving.files import read_json, sha256, write_json
from kzoo.saving.safetensors_file import count_numbers

DTYPES = ("float32", "mixed_bfloat16", "mixed_float16")
LICENSE = "apache-2.0"
KERAS_ARGUMENTS = {"name", "dtype", "trainable"}  # of every Keras object; no preset is saved with them


def from_preset(
    preset: str | Path, load_weights: bool = True, expected: type | None = None, dtype: str | None = None
) -> Any:
    """Returns the model of a preset.

    Args:
        preset: str or Path. A name, a folder, or an address on the Hub: `hf://owner/name` or `hf://owner/name@v1`.
        load_weights: bool. False gives the same model with fresh random weights. Defaults to True.
        expected: class that the model must be of.
        dtype: str. The dtype policy that the model computes with, as "mixed_bfloat16"; its weights are float32.
            Defaults to the policy in force.

    Raises:
        UnknownNameError: no preset has that name.
        PresetError: the folder is missing, incomplete or damaged, or holds another class than `expected`.
        HubError: the Hub does not give the preset.
        InputError: there is no such dtype policy.
    """
    folder = preset_folder(preset)
    ensure_backend()
    if dtype is not None:
        checks.choice("dtype", dtype, DTYPES)
    from kzoo.saving.weights import at_most
    from kzoo.saving.weights import load_weights as read_weights

    config = read_config(folder)
    metadata = read_metadata(folder)
    check_files(folder, metadata)
    path = folder / "config.json"
    try:
        with at_most(count_numbers(folder / "model.safetensors"), path, blank=load_weights):
            model = _build(config, read_json(folder / "tokenizer.json"), {} if dtype is None else {"dtype": dtype})
    except PresetError:
        raise
    except Exception as error:  # kzoo's for its arguments, and whatever Keras and its backend raise for theirs
        raise PresetError(f"{path}: {' '.join(str(error).split()):.300}") from error
    if expected is not None and not isinstance(model, expected):
        raise PresetError(f"{preset} is a {type(model).__name__}, not a {expected.__name__}")
    if load_weights:
        read_weights(model, folder / "model.safetensors")
    model.task_name = metadata.get("task")
    model.preset_name = preset_name(preset, folder)
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
    from kzoo.saving.weights import save_weights

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
    """Raises `PresetError` unless every file that the metadata lists is there with its size and SHA-256."""
    for name, entry in metadata["files"].items():
        check_file(folder / name, entry, "metadata.json")


def _build(config: dict[str, Any], tokenizer: dict[str, Any], options: dict[str, Any]) -> Any:
    from kzoo import registry

    _check_plain(config["config"])
    spec = {"class": config["class"], "config": config["config"]}
    cls, arguments = registry.resolve("model", spec)
    preprocessor = registry.construct(cls.preprocessor_class, tokenizer)  # type: ignore[attr-defined]
    return registry.construct(cls, {**arguments, **options, "preprocessor": preprocessor})


def _check_plain(config: Any) -> None:
    """Raises `InputError` if a config sets anything that Keras would make objects from."""
    values = [config]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            for key in KERAS_ARGUMENTS & set(value):
                raise InputError(f"a preset does not set {key!r}")
        if isinstance(value, (dict, list)):
            values.extend(value.values() if isinstance(value, dict) else value)


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
