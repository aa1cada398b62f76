"""Many runs: what is wanted, what is done, and that the missing ones are made."""

import pytest

import kzoo.training.grid as grid
from kzoo import tasks
from kzoo.saving.preset import Preset
from kzoo.training.grid import Run, run_missing, wanted
from kzoo.training.recipe import Recipe

pytestmark = pytest.mark.once


def test_wanted_covers_table_2_and_the_bundled_recipes():
    runs = wanted()
    pairs = {(run.mechanism, run.task) for run in runs}
    assert {(m, t) for t in grid.TASKS for m in tasks.get(t).published.accuracy} <= pairs
    assert len(runs) == len(set(runs))
    assert ("alibi", "addition") in pairs and Run("rope_successor", "rope", "successor", 0).recipe().layout == {
        "digits": 7
    }
    assert not any("paper" in run.name for run in runs)
    assert {run.name for run in wanted("onestep_*copy")} >= {"onestep_copy", "onestep_recopy"}
    for run in runs:
        assert run.recipe().seed == run.seed and run.recipe().task == run.task


@pytest.mark.slow
def test_missing_runs_are_made_once(tmp_path, monkeypatch):
    monkeypatch.setattr("kzoo.saving.catalogue.bundled_folder", lambda: tmp_path)
    model = {"class": "RecurrentSeq2Seq", "config": {"attention": "content", "encoder_units": 4}}
    tiny = {"model": model, "epochs": 1, "examples": 64, "selection": "last", "evaluation": {"examples": 8}}
    monkeypatch.setattr(Run, "recipe", lambda run: Recipe.from_config({"task": run.task, "seed": run.seed, **tiny}))
    assert [run.name for run in wanted("content_copy")] == ["content_copy"]
    assert run_missing(tmp_path / "work", "content_copy") == {}
    document = Preset.find("content_copy").results
    assert [run["seed"] for run in document["training"]] == [0]
    assert {row["preset"] for row in document["rows"]} == {"content_copy"}
    written = (tmp_path / "content_copy" / "results.json").stat().st_mtime_ns
    assert run_missing(tmp_path / "work", "content_copy") == {}
    assert (tmp_path / "content_copy" / "results.json").stat().st_mtime_ns == written
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.slow
def test_failed_run_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("kzoo.saving.catalogue.bundled_folder", lambda: tmp_path)
    model = {"class": "RecurrentSeq2Seq", "config": {"attention": "no such attention"}}
    monkeypatch.setattr(Run, "recipe", lambda run: Recipe.from_config({"task": run.task, "model": model, "epochs": 1}))
    failed = run_missing(tmp_path / "work", "content_copy")
    assert list(failed) == ["content_copy-0"]
    assert "kzoo: unknown attention 'no such attention'" in failed["content_copy-0"]
    assert "unknown attention" in (tmp_path / "work" / "content_copy-0.log").read_text()
