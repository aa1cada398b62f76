"""Accuracy on strata, of stand-ins whose answers are known and of a small model."""

import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.evaluation import measure
from kzoo.evaluation.report import Report, stratum_table
from kzoo.evaluation.results import add_report
from kzoo.evaluation.stress import stress
from kzoo.saving.documents import by_length, by_stratum
from kzoo.saving.files import read_json
from kzoo.saving.preset import Preset

TASK = kzoo.tasks.get("recopy")


def test_each_stratum_is_measured_on_its_own_examples(oracle):
    report = stress(oracle("012"), lengths=[6, 12], examples=40)
    assert {row["stratum"] for row in report.rows} == set(TASK.strata)
    for row in report.rows:
        examples = TASK.stratum_examples(row["stratum"], 40, 0, row["length"])
        right = sum(example.source[0] not in "012" for example in examples)
        assert (row["n"], row["value"]) == (len(examples), right / len(examples))
        assert row["low"] <= row["value"] <= row["high"] and "paper" not in row
    assert {row["value"] for row in report.rows if row["stratum"] == "high_digits"} == {1.0}
    assert report.accuracy() == {}  # strata are no lengths


def test_rows_say_what_was_measured(oracle):
    report = stress(oracle(), strata=["one_digit"], seed=2)
    assert [row["length"] for row in report.rows] == [10, 30, 100]
    row = report.rows[0]
    assert (row["preset"], row["task"], row["metric"]) == ("onestep_recopy", "recopy", "sequence_accuracy")
    assert (row["n"], row["seed"], row["version"]) == (10, 2, kzoo.__version__) and len(row["weights_sha256"]) == 64


def test_a_task_without_lengths_is_measured_on_its_test_split():
    task = kzoo.tasks.get("scan")
    model = kzoo.models.RecurrentSeq2Seq.from_task("scan", embedding_units=4, encoder_units=4)
    report = stress(model, task, examples=4)
    assert {row["stratum"] for row in report.rows} == set(task.strata)
    assert all(row["length"] is None and 24 <= row["lengths"][0] <= row["lengths"][1] <= 48 for row in report.rows)
    assert str(report).splitlines()[0].split() == ["stratum", "test", "split"]


@pytest.mark.parametrize("cells", [1, 5_000])
def test_the_size_of_batches_changes_nothing(oracle, cells, monkeypatch):
    expected = stress(oracle("01"), lengths=[6], examples=10).rows
    monkeypatch.setattr(measure, "MAX_NUMBERS", cells)
    assert stress(oracle("01"), lengths=[6], examples=10).rows == expected


def test_a_real_model_gets_what_evaluate_says(make_model):
    model = make_model()
    report = stress(model, lengths=[1], examples=10, strata=["one_digit"])
    outputs = model.generate([" ".join(e.source) for e in TASK.stratum_examples("one_digit", 10, 0, 1)], max_length=8)
    right = [" ".join(e.target) for e in TASK.stratum_examples("one_digit", 10, 0, 1)]
    assert report.rows[0]["value"] == sum(a == b for a, b in zip(outputs, right, strict=True)) / 10


@pytest.mark.parametrize(
    "options, message",
    [
        ({"lengths": [0]}, "a length must be an integer from 1"),
        ({"examples": 0}, "examples must be an integer from 1"),
        ({"strata": ["ones"]}, "unknown stratum of recopy 'ones'"),
        ({"strata": ["runs"], "lengths": [1]}, "no inputs of length 1"),
        ({"steps": 5}, "has no steps to choose"),
    ],
)
def test_bad_arguments_are_one_sentence(oracle, options, message):
    with pytest.raises(InputError, match=message):
        stress(oracle(), **options)


def test_a_task_without_strata_says_so(oracle, monkeypatch):
    monkeypatch.setattr(type(TASK), "strata", {})
    with pytest.raises(InputError, match="recopy has no strata"):
        stress(oracle())


def test_rows_stand_beside_those_of_lengths(own_preset):
    add_report(own_preset, kzoo.evaluate(own_preset, lengths=[3], examples=12))
    add_report(own_preset, stress(own_preset, lengths=[3], examples=12))
    results = read_json(own_preset / "results.json")
    assert [row["length"] for row in Preset.find(own_preset).rows] == [3, 3]
    assert [row["stratum"] for row in Preset.find(own_preset).stratum_rows] == [
        name for name in TASK.strata if TASK.strata[name].has(3)
    ]
    assert len(by_length(results["rows"])) + len(by_stratum(results["rows"])) == len(results["rows"])
    add_report(own_preset, stress(own_preset, lengths=[3], examples=12))
    assert read_json(own_preset / "results.json") == results
    assert kzoo.from_preset(own_preset).preset_name == "tiny_recopy"


def test_the_table_has_a_line_a_stratum():
    row = {"metric": "sequence_accuracy", "value": 1.0, "low": 0.9, "high": 1.0, "n": 1200}
    rows = [row | {"stratum": "runs", "length": 30}, row | {"stratum": "runs", "length": 10, "value": 0.95}]
    rows.append(row | {"stratum": "ones", "length": 30, "n": 10})
    header, lines = stratum_table(rows)
    assert header == ["stratum", "10", "30"]
    assert lines == [
        ["runs", "95.0 % (90.0 % to 100 %) / 1,200", "100 % (90.0 % to 100 %) / 1,200"],
        ["ones", "", "100 % (90.0 % to 100 %) / 10"],
    ]
    assert str(Report(None, "recopy", "jax", rows)).count("\n") == 3
