"""Many recipes: a grid of mechanisms, tasks and seeds, trained one after another or on a Ray cluster."""

import itertools
import logging
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from kzoo.backend import ensure_backend
from kzoo.errors import BackendError, InputError, KzooError
from kzoo.saving.files import write_bytes
from kzoo.tasks import get as get_task
from kzoo.training.recipe import Recipe, load_recipe
from kzoo.training.train import train

# The argument of a model that is its mechanism.
MECHANISM = {
    "RecurrentSeq2Seq": "attention",
    "RecurrentClassifier": "reader",
    "TransformerClassifier": "block",
    "TransformerDecoder": "block",
    "TransformerSeq2Seq": "self_bias",
}
RETRIES = 3  # of a run whose worker was killed


def grid(
    sources: Sequence[str | Path],
    mechanisms: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
) -> dict[str, Recipe]:
    """Returns every recipe with every mechanism, task and seed, by the name that its preset gets.

    Args:
        sources: sequence of what `load_recipe` takes.
        mechanisms: sequence of str, in the place of the recipes' own. Defaults to these.
        tasks: sequence of str, likewise.
        seeds: sequence of int, likewise.

    Returns:
        dict of Recipe by name: `<mechanism>_<task>` where one of the two is given, else as its source; and `-<seed>`.

    Raises:
        InputError: two would have one name, a model has no mechanism to change, or a recipe is not valid.
    """
    found: dict[str, Recipe] = {}
    for source in sources:
        recipe = load_recipe(source)
        key, own = MECHANISM.get(recipe.model["class"]), recipe.model.get("config", {})
        if mechanisms and key is None:
            raise InputError(f"the model of {source} has no mechanism to change")
        choices: list[Sequence[Any]] = [mechanisms or [None], tasks or [None], seeds or [None]]
        for mechanism, task, seed in itertools.product(*choices):
            name, changes = Path(source).stem, dict[str, Any]()
            if mechanism or task:
                name = f"{mechanism or own.get(key, name)}_{task or recipe.task}"
            if mechanism:
                changes["model"] = {**recipe.model, "config": {**own, str(key): mechanism}}
                changes["mechanism"] = mechanism
            if task:
                changes |= {"task": task, "task_version": get_task(task).version}
            if seed is not None:
                name, changes["seed"] = f"{name}-{seed}", seed
            if name in found:
                raise InputError(f"two of these runs would have the name {name}")
            found[name] = replace(recipe, **changes)
    return found


def train_all(
    recipes: Mapping[str, Recipe], output: str | Path, ray: str | None = None, progress: bool = False
) -> dict[str, str]:
    """Trains each recipe to a preset folder: one after another here, or side by side on a Ray cluster.

    A run that is done is skipped, one that was cut off goes on from its checkpoint; so also on Ray, where the run of a
    killed worker is taken up by another. Where the machines of a cluster share no files it begins anew. The presets
    are the same either way: a run depends on its recipe only.

    Args:
        recipes: dict of Recipe by name.
        output: str or Path. The folder for the preset folders; on Ray the path of the same on every machine.
        ray: str. The address of a Ray cluster, as "ray://host:10001" or "auto"; "local" starts one on this machine.
        progress: bool. Whether to show a progress bar on stderr.

    Returns:
        dict of str. Of each run that failed the reason, by name; empty if all went well.

    Raises:
        BackendError: Ray is not installed.
        InputError: there is no cluster at the address.
    """
    folder = Path(output).expanduser().resolve()
    folder.mkdir(parents=True, exist_ok=True)
    failed: dict[str, str] = {}
    with tqdm(total=len(recipes), unit=" runs", disable=not progress) as bar:

        def done(name: str, error: Exception | None) -> None:
            if error is not None:
                failed[name] = " ".join(str(error).split())[:300]
            bar.update()

        if ray is not None:
            _on_ray(recipes, folder, ray, done)
        else:
            for name, recipe in recipes.items():
                try:
                    train(recipe, folder / name, resume=True)
                except KzooError as error:
                    done(name, error)
                else:
                    done(name, None)
    return failed


def _on_ray(
    recipes: Mapping[str, Recipe], folder: Path, address: str, done: Callable[[str, Exception | None], None]
) -> None:
    try:
        import ray
    except ImportError:
        raise BackendError('training on a cluster needs Ray, which is not installed: pip install "kzoo[ray]"') from None
    environment = {"KERAS_BACKEND": ensure_backend(), "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}
    options: dict[str, Any] = {"include_dashboard": False} if address == "local" else {}
    try:
        _knock(address)
        ray.init(
            address, runtime_env={"env_vars": environment}, log_to_driver=False, logging_level=logging.ERROR, **options
        )
    except Exception as error:
        raise InputError(f"no Ray cluster answers at {address} ({' '.join(str(error).split()):.200})") from error
    try:
        remote = ray.remote(num_cpus=1, max_retries=RETRIES)(_train_there)
        running = {
            remote.options(name=name).remote(recipe.to_config(), str(folder / name)): name
            for name, recipe in recipes.items()
        }
        while running:
            (ready, *_), _ = ray.wait(list(running))
            name = running.pop(ready)
            try:
                files = ray.get(ready)
            except Exception as error:
                done(name, getattr(error, "cause", None) or error)
                continue
            (folder / name).mkdir(exist_ok=True)
            for file, content in files.items():
                if not (folder / name / file).is_file():  # the worker's machine shares no files with this one
                    write_bytes(folder / name / file, content)
            done(name, None)
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Raises `OSError` unless something listens at host:port; Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _train_there(config: dict[str, Any], folder: str) -> dict[str, bytes]:
    """Trains on a worker; returns the files of the preset."""
    path = train(Recipe.from_config(config), folder, resume=True)
    return {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()}
