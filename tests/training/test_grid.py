"""Many runs: what is wanted, what is done, and that the missing ones are made."""

import pytest

import kzoo.training.grid as grid
from kzoo import tasks
from kzoo.cli.main import main
from kzoo.saving.files import write_json
from kzoo.saving.preset import Preset
from kzoo.training.estimate import pace, seconds, spoken, steps
from kzoo.training.grid import Run, missing, run_missing, unavailable, wanted
from kzoo.training.recipe import Recipe, load_recipe

pytestmark = pytest.mark.once


def published():
    return {(m, name) for name in tasks.names() for m in tasks.get(name).published.accuracy}


@pytest.fixture(scope="module")
def runs():
    return wanted()


def test_every_published_row_is_wanted_or_needs_files(runs):
    pairs = {(run.mechanism, run.task) for run in runs}
    assert {pair for pair in published() if pair not in pairs} == {pair for pair in published() if pair[1] == "cfq"}
    assert set(unavailable()) == {"cfq"} and "KZOO_CFQ" in unavailable()["cfq"]
    assert len(runs) == len(set(runs))
    assert ("alibi", "addition") in pairs and Run("rope_successor", "rope", "successor", 0).recipe().layout == {
        "digits": 7
    }
    assert not any("paper" in run.name for run in runs)
    assert {run.name for run in wanted("onestep_*copy")} >= {"onestep_copy", "onestep_recopy"}
    for run in runs:
        assert run.recipe().seed == run.seed and run.recipe().task == run.task


def test_with_its_files_cfq_is_wanted_too(tmp_path, monkeypatch):
    for split in ("train", "validation", "test"):
        (tmp_path / f"{split}.tsv").write_text("Did M0 direct M1\tSELECT count(*) WHERE { M0 ns:film.director M1 }\n")
    monkeypatch.setenv("KZOO_CFQ", str(tmp_path))
    assert unavailable() == {}
    rows = {mechanism for mechanism, task in published() if task == "cfq"}
    found = wanted("*_cfq")
    assert {(run.mechanism, run.seed) for run in found} == {(row, seed) for row in rows for seed in range(3)}
    recipe = found[0].recipe()
    assert (recipe.stages[0].data.batch_size, recipe.model["config"]["dropout"]) == (128, 0.4)


def test_what_is_worth_most_comes_first(runs):
    known = pace()
    new = [run for run in runs if run.seed == 0 and not grid._results(run.name)]
    assert runs[: len(new)] == new
    for part in (new, runs[len(new) :]):
        times = [seconds(run.recipe(), known) for run in part]
        assert times == sorted(times)


def test_the_time_is_that_of_the_runs_before():
    recipe = load_recipe("onestep_copy_8_epochs")
    first, *_ = Preset.find("onestep_copy_8_epochs").results["training"]
    assert steps(recipe) == first["steps"] == 2_496
    assert steps(load_recipe("ndr_arithmetic")) == 13_750
    known = pace(["onestep_copy_8_epochs"])
    assert seconds(recipe, known) == pytest.approx(first["seconds"], rel=1)
    assert seconds(load_recipe("mix_onestep_scan"), known) > seconds(recipe, known)
    assert [spoken(time) for time in (40, 720, 12_600)] == ["40 seconds", "12 minutes", "3.5 hours"]


@pytest.mark.slow
def test_missing_runs_are_made_once(tmp_path, monkeypatch):
    monkeypatch.setattr("kzoo.saving.catalogue.bundled_folder", lambda: tmp_path)
    model = {"class": "RecurrentSeq2Seq", "config": {"attention": "content", "encoder_units": 4}}
    tiny = {
        "model": model,
        "epochs": 1,
        "examples": 64,
        "selection": "last",
        "evaluation": {"lengths": [5], "examples": 8},
    }
    monkeypatch.setattr(Run, "recipe", lambda run: Recipe.from_config({"task": run.task, "seed": run.seed, **tiny}))
    monkeypatch.setattr(grid, "SEEDS", (0, 1))
    assert list(missing("content_copy")) == ["content_copy-0", "content_copy-1"]
    assert run_missing(tmp_path / "work", missing("content_copy")) == {}
    document = Preset.find("content_copy").results
    assert [run["seed"] for run in document["training"]] == [0, 1]
    assert {row["preset"] for row in document["rows"]} == {"content_copy"}
    assert {path.name for path in (tmp_path / "content_copy").iterdir()} == {
        "recipe.json",
        "results.json",
    }  # no weights
    assert missing("content_copy") == {}
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.slow
def test_a_failed_run_is_told_and_the_rest_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("kzoo.saving.catalogue.bundled_folder", lambda: tmp_path / "presets")
    for name, attention in (("bad_copy", "no such attention"), ("good_copy", "content")):
        model = {"class": "RecurrentSeq2Seq", "config": {"attention": attention, "encoder_units": 4}}
        recipe = {"format": 2, "task": "copy", "mechanism": name[:-5], "supervision": [], "model": model}
        recipe |= {
            "stages": [{"budget": {"epochs": 1}, "data": {"examples": 32}}],
            "evaluation": {"lengths": [5], "examples": 8},
        }
        (tmp_path / "presets" / name).mkdir(parents=True)
        write_json(tmp_path / "presets" / name / "recipe.json", recipe)
    monkeypatch.setattr(grid, "SEEDS", (0,))
    options = ["results", "*[ao]d_copy", "--run", "--jobs", "2", "--work", str(tmp_path / "work")]
    assert main(options) == 1
    said = capsys.readouterr().err
    assert "kzoo: 2 runs to make, about " in said
    assert "kzoo: bad_copy-0 failed: kzoo: unknown attention 'no such attention'" in said
    assert "needs the files" not in said  # the pattern leaves CFQ out
    assert [run["seed"] for run in Preset.find("good_copy").results["training"]] == [0]
    assert "unknown attention" in (tmp_path / "work" / "bad_copy-0.log").read_text()
    assert main(["results", "*_cfq", "--run", "--work", str(tmp_path / "work")]) == 0
    said = capsys.readouterr().err
    assert "kzoo: cfq is not run, it needs the files of https://" in said and said.endswith("no run is missing\n")
