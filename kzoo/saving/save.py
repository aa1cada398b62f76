"""Writing a preset folder: complete, or not at all."""

from pathlib import Path
from typing import Any

import kzoo
from kzoo.backend import no_other_backend
from kzoo.errors import PresetError
from kzoo.registry import KERAS_ARGUMENTS
from kzoo.saving.documents import FILES, FORMAT, read_config, read_metadata, read_results
from kzoo.saving.files import expand, read_json, replace_folder, sha256, write_json
from kzoo.saving.safetensors_file import ITEM, MAX_WEIGHTS

LICENSE = "apache-2.0"


def save_to_preset(model: Any, folder: str | Path, **documents: dict[str, Any]) -> None:
    """Writes a model as a preset folder: complete, or not at all.

    A preset that is already there is replaced as a whole; any other folder with something in it is left alone.

    Args:
        model: a model of kzoo with a preprocessor.
        folder: str or Path.
        **documents: further files by name: `recipe={...}` for recipe.json, `results={...}` for results.json.

    Raises:
        PresetError: the folder exists and is no preset, or what is to be written could not be read again.
    """
    from kzoo.saving.weights import save_weights

    folder = expand(folder)
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir()) and not (folder / "config.json").is_file()):
        raise PresetError(f"{folder} exists and is no preset folder; nothing was written")
    model.text_preprocessor()
    if (size := ITEM * model.count_params()) > MAX_WEIGHTS:
        raise PresetError(f"the weights have {size:,} bytes, and a preset at most {MAX_WEIGHTS:,}; nothing was written")
    with no_other_backend():
        config = {k: v for k, v in model.get_config().items() if k not in KERAS_ARGUMENTS}
    with replace_folder(folder) as new:
        write_json(new / "tokenizer.json", config.pop("preprocessor"))
        write_json(new / "config.json", {"format": FORMAT, "class": type(model).__name__, "config": config})
        for name, content in documents.items():
            write_json(new / f"{name}.json", content)
        save_weights(model, new / "model.safetensors")
        write_metadata(new, describe(model, documents.get("recipe")))
        _read_again(new)


def _read_again(folder: Path) -> None:
    """Raises `PresetError` if a preset that was written would not be read."""
    read_config(folder)
    read_metadata(folder)
    if (folder / "results.json").is_file():
        read_results(folder)


def write_metadata(folder: Path, metadata: dict[str, Any] | None = None) -> None:
    """Writes metadata.json with the sizes and SHA-256 of the preset's files.

    Args:
        folder: Path.
        metadata: dict. Its other content. Defaults to what is there.
    """
    path = folder / "metadata.json"
    metadata = dict(read_json(path) if metadata is None else metadata)
    # Other files that stand in the folder are no part of the preset.
    names = sorted(name for name in FILES if (folder / name).is_file() and name != path.name)
    metadata["files"] = {
        name: {"bytes": (folder / name).stat().st_size, "sha256": sha256(folder / name)} for name in names
    }
    write_json(path, metadata)


def defined_elsewhere(model: Any) -> dict[str, str]:
    """Returns the modules of the classes that a model is of and that are not kzoo's own, by name; its task's too."""
    from kzoo import registry, tasks

    found = [(type(model).__name__, type(model))]
    with no_other_backend():
        values: list[Any] = [model.get_config()]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            for kind in registry.kinds() if isinstance(value.get("class"), str) else ():
                cls = registry.classes(kind).get(value["class"])
                found += [] if cls is None else [(value["class"], cls)]
        values.extend(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
    if model.task_name in tasks.names():
        found.append((model.task_name, type(tasks.get(model.task_name))))
    return {name: cls.__module__ for name, cls in found if cls.__module__.split(".")[0] != "kzoo"}


def describe(model: Any, recipe: dict[str, Any] | None = None) -> dict[str, Any]:
    """Returns what metadata.json says of a model: mechanism, task and supervision, from its recipe if there is one."""
    import keras

    from kzoo import tasks

    known = model.task_name in tasks.names()
    recipe = recipe or {}
    elsewhere = defined_elsewhere(model)
    return {
        "format": FORMAT,
        "mechanism": recipe.get("mechanism", getattr(model, "mechanism", None)),
        "task": model.task_name,
        "supervision": recipe.get("supervision", getattr(model, "supervision", None)),
        "paper": tasks.get(model.task_name).paper if known else None,
        "license": LICENSE,
        **({"defined_in": elsewhere} if elsewhere else {}),
        "parameters": model.count_params(),
        "kzoo": kzoo.__version__,
        "keras": keras.__version__,
        "backend": keras.config.backend(),
    }
