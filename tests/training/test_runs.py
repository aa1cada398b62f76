"""Grids of recipes: their names, and the same presets one after another, on Ray, and after a worker was killed."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from kzoo.cli.main import main
from kzoo.errors import BackendError, InputError
from kzoo.saving.files import read_json, sha256
from kzoo.training.executors import in_processes, on_ray
from kzoo.training.recipe import load_recipe
from kzoo.training.runs import _Watch, grid, run_all

pytestmark = pytest.mark.once


@pytest.fixture
def recipe(config, tmp_path):
    """A recipe file."""
    path = tmp_path / "tiny.json"
    path.write_text(json.dumps({**config, "selection_examples": 10, "watch": []}))
    return path


def test_a_grid_has_every_pair_once(recipe):
    found = grid([recipe], mechanisms=["content", "onestep"], tasks=["copy", "lookup"], seeds=[0, 3])
    assert list(found)[:3] == ["content_copy-0", "content_copy-3", "content_lookup-0"] and len(found) == 8
    last = found["onestep_lookup-3"]
    assert (last.task, last.seed, last.model["config"]["attention"]) == ("lookup", 3, "onestep")
    assert last.model["config"]["encoder_units"] == 4
    assert list(grid([recipe, "onestep_copy"])) == ["tiny", "onestep_copy"]
    assert list(grid(["onestep_copy"], tasks=["lookup"])) == ["onestep_lookup"]
    watching = json.loads(recipe.read_text()) | {"watch": [15, 100], "evaluation": {"lengths": [15, 100]}}
    recipe.write_text(json.dumps(watching))
    kept, other = (next(iter(grid([recipe], tasks=[task]).values())) for task in ("copy", "scan"))
    assert kept.stages[0].selection.watch == (15, 100) and kept.evaluation == {"lengths": [15, 100]}
    assert (
        other.stages[0].selection.watch == (15,) and "lengths" not in other.evaluation
    )  # which has neither in its test
    with pytest.raises(InputError, match="two of these runs would have the name tiny-1"):
        grid([recipe], seeds=[1, 1])
    with pytest.raises(InputError, match="the model of theorem_sorter has no mechanism to change"):
        grid(["theorem_sorter"], mechanisms=["onestep"])


def weights(folder):
    return {path.parent.name: sha256(path) for path in sorted(Path(folder).glob("*/model.safetensors"))}


def kill(worker, when):
    """Kills the process of a Ray worker, by the name of its task, once a file exists; returns when that is done."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if when.is_file() and json.loads(when.read_text())["epoch"] >= 2:
            for entry in Path("/proc").glob("[0-9]*"):
                try:
                    found = (entry / "cmdline").read_bytes().startswith(f"ray::{worker}".encode())
                except OSError:
                    continue
                if found:
                    os.kill(int(entry.name), signal.SIGKILL)
                    return
        time.sleep(0.02)


@pytest.mark.slow
def test_ray_makes_the_same_presets_also_when_a_worker_is_killed(recipe, tmp_path):
    name = f"killed{os.getpid()}"
    recipes = {name: grid([recipe])["tiny"], "other": grid([recipe], seeds=[5])["tiny-5"]}
    stage = recipes[name].stages[0]
    recipes[name] = replace(recipes[name], stages=(replace(stage, budget=replace(stage.budget, epochs=12)),))
    assert run_all(recipes, tmp_path / "here") == {}
    notes = tmp_path / "ray" / f"{name}.training" / "notes.json"
    killer = threading.Thread(target=kill, args=(name, notes))
    killer.start()
    assert run_all(recipes, tmp_path / "ray", on_ray("local")) == {}
    killer.join()
    assert weights(tmp_path / "ray") == weights(tmp_path / "here") and len(weights(tmp_path / "here")) == 2
    history = read_json(tmp_path / "ray" / name / "results.json")["training"][0]["history"]
    assert [row["epoch"] for row in history] == list(range(1, 13))


@pytest.mark.slow
def test_processes_make_the_same_presets_and_tell_what_failed(recipe, tmp_path, capsys):
    recipes = grid([recipe], seeds=[0, 5])
    bad = {**recipes["tiny-0"].model, "config": {"attention": "no_such"}}
    assert run_all(recipes, tmp_path / "here") == {}
    done = {}
    failed = run_all(
        {"bad": replace(recipes["tiny-0"], model=bad), **recipes},
        tmp_path / "processes",
        in_processes(2),
        progress=True,
        finished=done.__setitem__,
    )
    assert list(failed) == ["bad"] and failed["bad"].startswith("kzoo: unknown attention 'no_such'")
    assert "no_such" in (tmp_path / "processes" / "bad.log").read_text()
    assert done == {name: tmp_path / "processes" / name for name in recipes}
    assert weights(tmp_path / "processes") == weights(tmp_path / "here")
    assert sorted(path.name for path in (tmp_path / "processes").iterdir()) == ["bad.log", "tiny-0", "tiny-5"]
    assert "6/9" in capsys.readouterr().err  # epochs: those of the run that failed are not made
    with pytest.raises(InputError, match="jobs must be an integer from 1"):
        in_processes(0)


ENDLESS = """
import json, sys
from kzoo.training.executors import in_processes
from kzoo.training.recipe import Recipe
from kzoo.training.runs import run_all
run_all({"endless": Recipe.from_config(json.loads(sys.argv[1]))}, sys.argv[2], in_processes(1))
"""


@pytest.mark.slow
def test_a_child_ends_with_its_parent(config, tmp_path):
    plain = {"selection": "last", "watch": [], "schedule": "constant", "warmup_steps": 0}
    config = json.dumps({**config, **plain, "epochs": 100_000})
    parent = subprocess.Popen([sys.executable, "-c", ENDLESS, config, str(tmp_path)])
    notes = tmp_path / "endless.training" / "notes.json"

    def children():
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"kzoo.training.worker" in words and str(tmp_path / "endless").encode() in words:
                found.append(entry.name)
        return found

    deadline = time.monotonic() + 120
    while not notes.is_file() and time.monotonic() < deadline and parent.poll() is None:
        time.sleep(0.1)
    assert notes.is_file() and len(children()) == 1
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 20
    while children() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert children() == []


def test_a_run_that_fails_is_told_and_the_others_are_made(recipe, tmp_path, capsys):
    checkpoint = tmp_path / "out" / "location_recopy.training" / "notes.json"
    checkpoint.parent.mkdir(parents=True)
    checkpoint.write_text("{}")
    options = ["--mechanisms", "content,location", "--output", str(tmp_path / "out"), "--json"]
    assert main(["train", str(recipe), *options]) == 1
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert list(found["results"]) == ["content_recopy"] and list(found["failed"]) == ["location_recopy"]
    assert "kzoo: location_recopy failed: " in err and "location_recopy.training" in err
    before = weights(tmp_path / "out")
    assert main(["train", str(recipe), "--mechanisms", "content", "--output", str(tmp_path / "out")]) == 0
    assert weights(tmp_path / "out") == before and "content_recopy" in capsys.readouterr().out
    assert main(["train", str(recipe), "--seeds", "1", "--seed", "1", "--output", "x"]) == 2


def test_without_ray_or_a_cluster_it_is_one_sentence(recipe, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="no Ray cluster answers at 127.0.0.1:9 "):
        run_all(grid([recipe]), tmp_path / "out", on_ray("127.0.0.1:9"))
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(BackendError, match=r'pip install "kzoo\[ray\]"'):
        run_all(grid([recipe]), tmp_path / "out", on_ray("local"))


def test_the_progress_bar_counts_seconds_where_they_are_known(tmp_path):
    recipe = load_recipe("onestep_copy_8_epochs")  # 8 epochs
    recipes = {"short": recipe, "long": recipe}
    (tmp_path / "short").mkdir()
    (tmp_path / "short" / "recipe.json").write_text("{}")  # it is done
    sizes = {"short": 20.0, "long": 400.0}
    assert [_Watch(recipes, tmp_path, False, given).bar.total for given in (None, sizes)] == [16, 420]
    assert [_Watch(recipes, tmp_path, False, given).count() for given in (None, sizes)] == [8, 20]
