"""The JSON files of a preset, read and checked: nothing in them is trusted."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypedDict

from kzoo.errors import PresetError
from kzoo.saving.catalogue import SUPERVISION
from kzoo.saving.files import read_json, sha256

FORMAT = 1
PARTS = ("config.json", "tokenizer.json", "metadata.json", "model.safetensors")  # a preset has at least these
FILES = (*PARTS, "recipe.json", "results.json")  # and at most these
MODULE = re.compile(r"[A-Za-z_]\w{0,63}(\.[A-Za-z_]\w{0,63}){0,8}", re.ASCII)
FILE_NAME = re.compile(r"[a-z_]+\.(json|safetensors)")
CLASSIFIERS = ("RecurrentClassifier", "TransformerClassifier")  # models that give one label
SHARES = ("sequence_accuracy", "token_accuracy", "majority_accuracy", "accuracy_before_end", "last_token_accuracy")
COUNTS = ("steps", "examples_seen", "parameters")  # of a run
LARGEST = 10**12  # of a number in results


class Row(TypedDict, total=False):
    """One measurement: a metric on the examples of a length.

    `length` is None for a whole split, whose range `lengths` then has. `value` is a share in 0..1 for accuracies, with
    the 95 % Wilson interval `low` to `high` where it is one of independent sequences. The `n` examples were drawn with
    `seed`. `training_seed` is the seed of the weights, `paper` the published number where it is comparable.
    """

    preset: str | None
    task: str
    length: int | None
    lengths: list[int]
    metric: str
    value: float
    n: int
    seed: int
    low: float
    high: float
    paper: float | None
    backend: str
    version: str
    weights_sha256: str
    training_seed: int | None
    split: str
    stratum: str
    stage: int
    steps: int
    dtype: str


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
            raise PresetError(
                f"{path} lists a file outside the preset: {name!r:.80}; without it in `files` it loads again"
            )
        if not isinstance(entry, dict) or set(entry) != {"bytes", "sha256"}:
            raise PresetError(f"{path} must give bytes and sha256 of {name}")
    parameters = metadata.get("parameters")
    if type(parameters) is not int or not 0 <= parameters <= LARGEST:
        raise PresetError(f"{path} must give the number of parameters")
    for key in ("task", "mechanism", "paper", "license"):
        if not isinstance(metadata.get(key), (str, type(None))):
            raise PresetError(f"{path}: {key} must be a text")
    modules = metadata.get("defined_in", {})
    if not isinstance(modules, dict) or not all(isinstance(m, str) and MODULE.fullmatch(m) for m in modules.values()):
        raise PresetError(f"{path}: defined_in must name the modules of classes")
    supervision = metadata.get("supervision")
    if supervision is not None and not (isinstance(supervision, list) and all(w in SUPERVISION for w in supervision)):
        raise PresetError(f"{path}: supervision must be a list out of {', '.join(SUPERVISION)}")
    return metadata


def needed(metadata: dict[str, Any]) -> str:
    """Returns the end of an error that says which modules have to be imported first; empty if none do."""
    modules = sorted({*metadata.get("defined_in", {}).values()})
    said = f"; it was saved with classes of {', '.join(modules)}: import that first"
    return f"{said}, on the command line with --import FILE" if modules else ""


def read_results(folder: Path) -> dict[str, Any]:
    """Returns the content of results.json: a list of rows and, of trained models, a list of runs.

    Raises:
        PresetError: it is missing or damaged, or a row or run lacks a number or has one that cannot be.
    """
    path = folder / "results.json"
    results = read_json(path)
    rows = results.get("rows")
    if not isinstance(rows, list) or not isinstance(results.get("training", []), list):
        raise PresetError(f"{path} must have a list of rows, and of training")
    for index, run in enumerate(results.get("training", [])):
        if not _is_run(run):
            raise PresetError(f"training {index} of {path} must have a seed, and whole numbers for {', '.join(COUNTS)}")
    for index, row in enumerate(rows):
        if not _is_row(row):
            raise PresetError(
                f"row {index} of {path} must have length, metric, n, seed, weights_sha256 and a value, from 0 to 1 if "
                "it is an accuracy"
            )
    return results


def by_length(rows: Iterable[Row]) -> list[Row]:
    """Returns the rows that were measured on a split, and on no stratum."""
    return [row for row in rows if row.get("stratum") is None]


def by_stratum(rows: Iterable[Row]) -> list[Row]:
    """Returns the rows that were measured on strata."""
    return [row for row in rows if row.get("stratum") is not None]


def check_file(path: Path, entry: dict[str, Any], source: str) -> None:
    """Raises `PresetError` unless a file is there with the size and the SHA-256 that `source` says."""
    if not path.is_file():
        raise PresetError(f"{path} is missing")
    if path.stat().st_size != entry["bytes"]:
        raise PresetError(f"{path} is not the file of {source}: it has {path.stat().st_size:,} bytes")
    if sha256(path) != entry["sha256"]:
        raise PresetError(f"{path} is not the file of {source} (its SHA-256 differs)")


def _is_run(run: Any) -> bool:
    return (
        isinstance(run, dict)
        and _is_count(run.get("seed"), 0)
        and all(_is_count(run[key], 0) for key in COUNTS if key in run)
    )


def _is_row(row: Any) -> bool:
    if not isinstance(row, dict) or not isinstance(row.get("metric"), str):
        return False
    share = row["metric"] in SHARES
    needed = {"value", "low", "high"} if row["metric"] == "sequence_accuracy" else {"value"}
    limits = {"value": 1 if share else LARGEST, "low": 1, "high": 1, "paper": 1}
    return (
        isinstance(row.get("weights_sha256"), str)
        and _is_count(row.get("n"), 1)
        and _is_count(row.get("seed"), 0)
        and (_is_range(row.get("lengths")) if row.get("length") is None else _is_count(row["length"], 1))
        and all(
            _is_number(row.get(key), limit) or (row.get(key) is None and key not in needed)
            for key, limit in limits.items()
        )
    )


def _is_number(value: Any, limit: float) -> bool:
    return type(value) in (int, float) and 0 <= value <= limit


def _is_count(value: Any, least: int) -> bool:
    return type(value) is int and least <= value <= LARGEST


def _is_range(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(_is_count(length, 1) for length in value)
