"""What a notebook meets: reprs, tables, callbacks, other forms of data; a fit is of the task whose data it had."""

import keras
import pandas
import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.evaluation.report import Report

PAIRS = [("4 7", "4 4 4 7 7 7 7 7"), ("1", "1")]


class Rows:
    """Rows as the package datasets has them, which is known by its name only."""

    def __init__(self, rows):
        self.rows, self.column_names = rows, list(rows[0])

    def __iter__(self):
        return iter(self.rows)


Rows.__module__ = "datasets.arrow_dataset"


@pytest.mark.once
def test_early_stopping_knows_the_direction(make_model):
    model = make_model()
    model.compile()
    stop = keras.callbacks.EarlyStopping(monitor="val_sequence_accuracy", patience=1)
    model.fit(PAIRS, validation_data=PAIRS, epochs=1, verbose=0, callbacks=[stop])
    assert stop.monitor_op(1.0, 0.5) and not stop.monitor_op(0.5, 1.0)


@pytest.mark.once
def test_fit_takes_pairs_in_every_form(make_model):
    model = make_model()
    named = [{"source": source, "target": target, "line": i} for i, (source, target) in enumerate(PAIRS)]
    table = pandas.DataFrame(named)
    for form in (PAIRS, tuple(PAIRS), named, Rows(named), table, [[s.split(), t.split()] for s, t in PAIRS]):
        assert len(model.fit(form, verbose=0, validation_data=form).history["val_loss"]) == 1
    with pytest.raises(InputError, match="a data set needs the columns source and target; this has text"):
        model.fit(Rows([{"text": "4"}]))
    with pytest.raises(InputError, match="a data set needs the columns source and target; this has line"):
        model.fit(table[["line"]])
    with pytest.raises(InputError, match="validation_split is of arrays; of pairs keep some apart"):
        model.fit(PAIRS, validation_split=0.2)
    with pytest.raises(InputError, match=r"x must be what preprocessor.sources .* \(generate takes texts\): a dict of"):
        model.predict(["4 7"])
    assert model.generate("4 7", max_length=3)


@pytest.mark.once
def test_a_fit_is_of_the_task_whose_data_it_had(make_model, tmp_path):
    model = make_model()
    model.supervision = []
    model.fit(kzoo.tasks.get("copy").dataset("train", 8), verbose=0)
    model.save_to_preset(tmp_path / "tuned")
    assert (model.task_name, kzoo.Preset.find(tmp_path / "tuned").supervision) == ("copy", None)


@pytest.mark.once
def test_tasks_and_data_say_what_they_are():
    task = kzoo.tasks.get("recopy")
    assert repr(task).startswith("<task recopy (digits): train 10,000 of length 5 to 10; ")
    assert repr(task.dataset("train", 5)).startswith("<5 examples of recopy: 5 7 2 5 1 6 8 5 -> 5 5 5 7 ")


@pytest.mark.once
def test_a_report_is_a_table_everywhere():
    row = {
        "task": "recopy",
        "metric": "sequence_accuracy",
        "value": 0.5,
        "low": 0.4,
        "high": 0.6,
        "n": 4,
        "paper": None,
    }
    report = Report("a<b", "recopy", "jax", [{**row, "length": 5}, {**row, "length": 30, "value": 1.0}])
    assert repr(report) == "<report of a<b on recopy: 5: 50.0 %, 30: 100 %>"
    assert "<th>length</th>" in report._repr_html_() and "<td>50.0 %</td>" in report._repr_html_()
    assert report.to_dataframe().set_index("length")["value"].to_dict() == {5: 0.5, 30: 1.0}


@pytest.mark.slow
def test_a_keras_file_loads_once_the_class_is_imported(make_model, python, tmp_path):
    model = make_model()
    model.save(tmp_path / "model.keras")
    code = """
from kzoo.models import RecurrentSeq2Seq
import keras
print(keras.saving.load_model(sys.argv[1]).generate("4 7 9 8", max_length=4))
"""
    done = python(code, tmp_path / "model.keras")
    assert done.stdout.strip() == model.generate("4 7 9 8", max_length=4), done.stderr
