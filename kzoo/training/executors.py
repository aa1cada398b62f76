"""Where runs are made: in this process, in processes of their own, or on a Ray cluster.

An executor is called with recipes by name and the folder for their presets, and yields each name when its run has
ended, with the reason if it failed. A run depends on its recipe only: the presets are the same with every executor.
"""

import logging
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from kzoo import checks
from kzoo.backend import ensure_backend
from kzoo.discovery import imported
from kzoo.errors import BackendError, InputError
from kzoo.saving.files import write_bytes, write_json
from kzoo.tasks import PairsFile
from kzoo.tasks import get as get_task
from kzoo.training.recipe import Recipe
from kzoo.training.train import train

Outcomes = Iterator[tuple[str, str | None]]
Executor = Callable[[Mapping[str, Recipe], Path], Outcomes]
RETRIES = 3  # of a run whose Ray worker was killed


def in_this_process(recipes: Mapping[str, Recipe], folder: Path) -> Outcomes:
    """Makes the runs one after another."""
    for name, recipe in recipes.items():
        try:
            train(recipe, folder / name, resume=True)
        except Exception as error:  # the others go on, whatever it was
            yield name, _reason(error)
        else:
            yield name, None


def in_processes(count: int) -> Executor:
    """Returns an executor that makes each run in a process of its own, so many at the same time.

    `<folder>/<name>.log` has what a process says; it is removed when the run went well. The processes end with this
    one, even if it is killed.

    Raises:
        InputError: `count` is out of range.
    """
    checks.integer("jobs", count, 1, 4096)

    def execute(recipes: Mapping[str, Recipe], folder: Path) -> Outcomes:
        children: set[subprocess.Popen[bytes]] = set()
        pool = ThreadPoolExecutor(count)
        try:
            running = {pool.submit(_train_in_child, children, recipes[name], folder / name): name for name in recipes}
            for future in as_completed(running):
                yield running[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in list(children):
                child.kill()

    return execute


def _train_in_child(children: set[subprocess.Popen[bytes]], recipe: Recipe, folder: Path) -> str | None:
    """Trains in a process of its own; returns why that failed, or None."""
    source, log = (folder.with_name(folder.name + end) for end in (".recipe.json", ".log"))
    write_json(source, recipe.to_config())
    task = get_task(recipe.task)
    files = [*imported, *([task.path.resolve()] if isinstance(task, PairsFile) else [])]
    command = [sys.executable, "-m", "kzoo.training.worker", str(source), str(folder), *map(str, files)]
    with log.open("wb") as said:
        # The worker ends when its standard input does, which nobody writes to.
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=said, stderr=said)
        children.add(child)
        code = child.wait()
        children.remove(child)
        if child.stdin is not None:
            child.stdin.close()
    source.unlink()
    if code == 0:
        log.unlink()
        return None
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return f"{lines[-1][:300] if lines else f'it ended with code {code}'} (see {log})"


def on_ray(address: str) -> Executor:
    """Returns an executor that makes the runs side by side on a Ray cluster.

    The run of a killed worker is taken up by another. Where the machines share no files it begins anew.

    Args:
        address: str. As "ray://host:10001" or "auto"; "local" starts a cluster on this machine.
    """

    def execute(recipes: Mapping[str, Recipe], folder: Path) -> Outcomes:
        ray = _connect(address)
        try:
            remote = ray.remote(num_cpus=1, max_retries=RETRIES)(_train_there)
            running = {
                remote.options(name=name).remote(recipe.to_config(), str(folder / name), _pairs(recipe)): name
                for name, recipe in recipes.items()
            }
            while running:
                (ready, *_), _ = ray.wait(list(running))
                name = running.pop(ready)
                try:
                    files = ray.get(ready)
                except Exception as error:
                    yield name, _reason(getattr(error, "cause", None) or error)
                    continue
                (folder / name).mkdir(exist_ok=True)
                for file, content in files.items():
                    if not (folder / name / file).is_file():  # the worker's machine shares no files with this one
                        write_bytes(folder / name / file, content)
                yield name, None
        finally:
            ray.shutdown()

    return execute


def _connect(address: str) -> Any:
    """Returns Ray, connected to a cluster.

    Raises:
        BackendError: Ray is not installed.
        InputError: there is no cluster at the address.
    """
    try:
        import ray
    except ImportError:
        raise BackendError('training on a cluster needs Ray, which is not installed: pip install "kzoo[ray]"') from None
    environment = {"KERAS_BACKEND": ensure_backend(), "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}
    options: dict[str, Any] = {"include_dashboard": False} if address == "local" else {}
    options["runtime_env"] = {"env_vars": environment}
    try:
        _check_reachable(address)
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **options)
    except Exception as error:
        raise InputError(f"no Ray cluster answers at {address} ({' '.join(str(error).split()):.200})") from error
    return ray


def _check_reachable(address: str) -> None:
    """Raises `OSError` unless something listens at host:port; Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _pairs(recipe: Recipe) -> tuple[str, bytes] | None:
    """Returns name and content of the file of pairs that a recipe trains on, if it does."""
    task = get_task(recipe.task)
    return (task.path.name, task.content) if isinstance(task, PairsFile) else None


def _train_there(config: dict[str, Any], folder: str, pairs: tuple[str, bytes] | None = None) -> dict[str, bytes]:
    """Trains on a worker; returns the files of the preset."""
    if pairs is not None:
        with tempfile.TemporaryDirectory() as beside:
            (Path(beside) / pairs[0]).write_bytes(pairs[1])
            get_task(str(Path(beside) / pairs[0]))
    path = train(Recipe.from_config(config), folder, resume=True)
    return {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()}


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
