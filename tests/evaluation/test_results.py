"""results.json: rows are added, equal ones replaced, and never mixed with those of other weights."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

import kzoo
from kzoo.errors import PresetError
from kzoo.evaluation.report import Report
from kzoo.evaluation.results import add_report, add_results, results_document
from kzoo.saving.files import read_json, sha256
from kzoo.saving.preset import Preset


def report(digest, value=0.5, length=15, task="recopy", **more):
    row = {"preset": "x", "task": task, "length": length, "metric": "sequence_accuracy", "value": value, "n": 10}
    row |= {"seed": 0, "backend": "jax", "weights_sha256": digest, "low": 0.2, "high": 0.8, "paper": None}
    return Report("x", task, "jax", [row | more])


def run(seed):
    return {"seed": seed, "backend": "jax", "epoch": 3}


@pytest.fixture
def own(own_preset):
    """A preset with results of its own weights."""
    digest = sha256(own_preset / "model.safetensors")
    add_results(own_preset, results_document(report(digest), [run(0)]))
    return own_preset


def values(folder):
    return [(row["length"], row["seed"], row["value"]) for row in read_json(folder / "results.json")["rows"]]


def test_a_document_keeps_the_training_seed():
    document = results_document(report("a"), [run(4)])
    assert document["training"] == [run(4)] and document["rows"][0]["training_seed"] == 4


def test_equal_measurements_are_replaced_and_others_kept(own):
    digest = sha256(own / "model.safetensors")
    add_report(own, report(digest, 0.7))
    assert values(own) == [(15, 0, 0.7)]
    add_report(own, report(digest, 0.8, length=30))
    add_report(own, report(digest, 0.9, seed=1))
    assert values(own) == [(15, 0, 0.7), (30, 0, 0.8), (15, 1, 0.9)]
    rows = read_json(own / "results.json")["rows"]
    assert {row["preset"] for row in rows[1:]} == {"tiny_recopy"} and {row["training_seed"] for row in rows} == {0}


@pytest.mark.parametrize("runs, seed", [([4], 4), ([4, 4], 4), ([4, 5], None), ([], None)])
def test_the_first_rows_have_the_seed_of_the_runs(runs, seed, own_preset):
    """Where the runs are of several seeds, nothing says which one the weights are of."""
    digest = sha256(own_preset / "model.safetensors")
    training = [run(own) | {"stage": stage} for stage, own in enumerate(runs)]
    add_results(own_preset, {"training": training, "rows": []})
    add_report(own_preset, report(digest))
    assert read_json(own_preset / "results.json")["rows"][0]["training_seed"] == seed


def test_fewer_examples_never_replace_more(own):
    digest = sha256(own / "model.safetensors")
    fewer, more = report(digest, 0.7, n=5), report(digest, 0.9, n=20)
    assert [row["value"] for row in add_report(own, fewer)] == [0.7] and values(own) == [(15, 0, 0.5)]
    assert add_report(own, more) == [] and values(own) == [(15, 0, 0.9)]


def test_the_preset_stays_loadable(own):
    assert kzoo.from_preset(own).preset_name == "tiny_recopy"
    assert "results.json" in read_json(own / "metadata.json")["files"]


def test_other_seeds_stand_beside_the_own_rows(own):
    add_results(own, results_document(report("b" * 64, 0.3), [run(1)]))
    results = read_json(own / "results.json")
    assert [run["seed"] for run in results["training"]] == [0, 1]
    preset = Preset(own, "own")
    assert [row["value"] for row in preset.rows] == [0.5]
    assert [row["value"] for row in preset.other_rows] == [0.3]
    add_results(own, results_document(report("b" * 64, 0.3), [run(1)]))
    assert read_json(own / "results.json") == results


def test_of_several_example_seeds_the_first_is_shown(own):
    add_report(own, report(sha256(own / "model.safetensors"), 0.9, seed=1))
    assert [row["seed"] for row in Preset(own, "own").rows] == [0]


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda digest: report("c" * 64), "not of the weights"),
        (lambda digest: report(digest, task="copy"), "are of recopy, not copy"),
    ],
)
def test_what_does_not_belong_is_not_written(wrong, message, own):
    before = (own / "results.json").read_bytes()
    with pytest.raises(PresetError, match=f"{message}.*nothing was written"):
        add_report(own, wrong(sha256(own / "model.safetensors")))
    assert (own / "results.json").read_bytes() == before


def test_damaged_results_are_one_sentence(own):
    (own / "results.json").write_text(json.dumps({"rows": [{"length": 3}]}))
    with pytest.raises(PresetError, match=r"results\.json must have"):
        kzoo.preset_info(own)


def test_files_that_are_no_part_of_a_preset_stay_and_do_no_harm(own):
    digest = sha256(own / "model.safetensors")
    for name in ("results2.json", "Notes.json", "model-backup.safetensors"):
        (own / name).write_text("{}")
    (own / "notes").mkdir()
    (own / "notes" / "plan.txt").write_text("mine")
    weights = (own / "model.safetensors").read_bytes()
    add_report(own, report(digest, 0.8, length=30))
    assert (own / "notes" / "plan.txt").read_text() == "mine" and (own / "Notes.json").is_file()
    assert (own / "model.safetensors").read_bytes() == weights
    assert kzoo.from_preset(own).preset_name == "tiny_recopy"
    assert [path.name for path in own.parent.iterdir()] == [own.name]


def test_a_write_that_fails_leaves_a_preset_whole(own, monkeypatch):
    before = {path.name: path.read_bytes() for path in own.iterdir()}
    monkeypatch.setattr("kzoo.saving.save.write_metadata", lambda folder: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        add_report(own, report(sha256(own / "model.safetensors"), 0.8, length=30))
    assert {path.name: path.read_bytes() for path in own.iterdir()} == before
    assert [path.name for path in own.parent.iterdir()] == [own.name]


def test_no_row_is_lost_where_many_write(own):
    digest = sha256(own / "model.safetensors")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda length: add_report(own, report(digest, length=length)), range(20, 60)))
    assert [length for length, _, _ in values(own)] == [15, *range(20, 60)]
    Preset(own, own.name).verify()


@pytest.mark.once
@pytest.mark.parametrize("name", kzoo.list_presets())
def test_the_published_number_of_a_bundled_row_is_that_of_its_task(name):
    preset = Preset.find(name)
    published = kzoo.tasks.get(preset.task).published
    for row in preset.rows:
        if row["metric"] == "sequence_accuracy":
            assert row["paper"] == published.number(preset.mechanism, row["length"], preset.supervision), row
    strata = kzoo.tasks.get(preset.task).strata
    assert all(row["stratum"] in strata for row in preset.stratum_rows)
