"""The results of a preset: what was measured, with which weights, beside what was published."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kzoo.errors import PresetError
from kzoo.evaluation.report import Report, Row
from kzoo.saving.documents import read_results
from kzoo.saving.files import read_json, replace_folder, write_json
from kzoo.saving.preset import Preset

try:
    import fcntl
except ImportError:  # Windows, where results are added by one process at a time
    fcntl = None  # type: ignore[assignment]

FORMAT = 1
KEY = ("length", "stratum", "metric", "seed", "backend", "weights_sha256")


def results_document(report: Report, training: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the content of results.json for a freshly trained model.

    Args:
        report: Report, of the evaluation.
        training: list of dict. Of each stage: seed of the run, backend, epochs, steps, examples seen, seconds, history,
            and the name of the accelerator as `device`, where there was one.
            The seed goes into every row as `training_seed`, so that runs from other seeds can stand beside it.
    """
    rows = [{**row, "training_seed": training[-1]["seed"]} for row in report.rows]
    return {"format": FORMAT, "training": training, "rows": rows}


def add_results(folder: Path, document: dict[str, Any]) -> list[Row]:
    """Adds rows and runs to a preset's results.json; equal measurements (same length, stratum, metric, seed, backend,
    weights) are replaced unless they are of more examples, all others stay. Weights are not touched. The folder is
    replaced as a whole, so that its files agree whenever it is read; writers wait for each other.

    Args:
        folder: Path. The preset.
        document: dict, as `results_document` returns; `training` may be an empty list.

    Returns:
        list of Row. The new rows that were left out, since those that are there are of more examples.

    Raises:
        PresetError: the results could not be read again; nothing was written.
    """
    from kzoo.saving.save import write_metadata

    folder = folder.resolve()
    with _alone(folder), replace_folder(folder) as new:
        shutil.copytree(folder, new, symlinks=True, copy_function=_link, dirs_exist_ok=True)
        left_out = _merge(new / "results.json", document)
        read_results(new)
        if (new / "metadata.json").is_file():
            write_metadata(new)
    return left_out


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Waits until no other process or thread adds results to a folder beside this one, and keeps them waiting."""
    if fcntl is None:
        yield
        return
    handle = os.open(folder.parent, os.O_RDONLY)  # which stays when the folder is replaced
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _link(source: str, target: str) -> None:
    """Gives a file a second name, which costs nothing; what is changed of it is written afresh. Or copies it."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _merge(path: Path, document: dict[str, Any]) -> list[Row]:
    own: dict[str, Any] = read_json(path) if path.is_file() else {"training": [], "rows": []}
    rows = {_key(row): row for row in own["rows"]}
    left_out = [row for row in document["rows"] if rows.get(_key(row), row)["n"] > row["n"]]
    rows |= {_key(row): row for row in document["rows"] if row not in left_out}
    runs = {(run["seed"], run["backend"], run.get("stage")): run for run in [*own["training"], *document["training"]]}
    write_json(path, {"format": FORMAT, "training": list(runs.values()), "rows": sorted(rows.values(), key=_order)})
    return left_out


def add_report(folder: Path, report: Report) -> list[Row]:
    """Adds an evaluation of the preset's own weights to its results.json; returns what `add_results` does.

    Raises:
        PresetError: the evaluation was of other weights or of another task.
    """
    preset = Preset(folder, folder.name)
    if any(row["weights_sha256"] != preset.weights_sha256 for row in report.rows):
        raise PresetError(f"this evaluation is not of the weights in {folder}; nothing was written")
    if report.task != preset.task:
        raise PresetError(f"the results in {folder} are of {preset.task}, not {report.task}; nothing was written")
    rows = [{**row, "preset": folder.name, "training_seed": _training_seed(preset)} for row in report.rows]
    return add_results(folder, {"training": [], "rows": rows})


def _training_seed(preset: Preset) -> int | None:
    """Returns the seed of a preset's weights: that of their rows, or else of all runs, if it is one."""
    seeds = {row.get("training_seed") for row in preset.rows}
    seeds = seeds or {run["seed"] for run in (preset.results or {"training": []})["training"]}
    return seeds.pop() if len(seeds) == 1 else None


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in KEY)


def _order(row: Row) -> tuple[Any, ...]:
    own = (row["weights_sha256"], row["backend"], row["seed"], row["length"] or 0, row["metric"])
    return (row.get("stratum") is not None, *own)  # strata stay in the order of their task
