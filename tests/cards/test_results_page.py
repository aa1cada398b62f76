"""Our results beside the papers'."""

from pathlib import Path

import pytest

from kzoo import tasks
from kzoo.cards import results_page
from kzoo.saving.files import write_json


@pytest.fixture
def one_run(tmp_path, monkeypatch):
    """Two seeds of one pair, and nothing else."""
    row = {"metric": "sequence_accuracy", "task": "copy", "n": 8, "seed": 0, "low": 0.0, "high": 1.0}
    row["weights_sha256"] = "0"
    rows = [{**row, "length": 15, "value": v, "training_seed": seed} for seed, v in ((0, 1.0), (1, 0.5))]
    runs = [{"seed": seed, "stage": stage, "steps": 1_248} for seed in (0, 1) for stage in (0, 1)]
    (tmp_path / "onestep_copy").mkdir()
    recipe = {"task": "copy", "mechanism": "onestep", "supervision": []}
    write_json(tmp_path / "onestep_copy" / "recipe.json", recipe)
    write_json(tmp_path / "onestep_copy" / "results.json", {"training": runs, "rows": rows})
    monkeypatch.setattr("kzoo.saving.catalogue.bundled_folder", lambda: tmp_path)


def test_cells(one_run):
    cells = {(c["mechanism"], c["task"], c["length"]): c for c in results_page.cells()}
    ours = cells["onestep", "copy", 15]
    assert ours["ours"] == 0.75 and ours["seeds"] == {0: 1.0, 1: 0.5} and ours["paper"] == 1.0
    assert (ours["spread"]["statistic"], ours["spread"]["low"], ours["spread"]["high"]) == ("median", 0.5, 1.0)
    missing = cells["content", "copy", 100]
    assert missing["ours"] is None and missing["seeds"] == {} and missing["paper"] == 0.0
    assert ours["steps"] == {0: 2_496, 1: 2_496} and ours["n"] == 8 and missing["n"] is None
    assert "KZOO_CFQ" in cells["content", "cfq", None]["needs"] and missing["needs"] == ""
    assert len(cells) == sum(len(v) for name in tasks.names() for v in tasks.get(name).published.accuracy.values())


def test_a_number_that_is_not_comparable_is_not_shown(one_run, tmp_path):
    run = {"metric": "sequence_accuracy", "task": "sorter", "length": 100, "value": 0.25, "training_seed": 0}
    run |= {"n": 8, "seed": 0, "low": 0.0, "high": 1.0, "weights_sha256": "0"}
    (tmp_path / "hinted_sorter").mkdir()
    recipe = {"task": "sorter", "mechanism": "hinted", "supervision": ["other training distribution"]}
    write_json(tmp_path / "hinted_sorter" / "recipe.json", recipe)
    write_json(tmp_path / "hinted_sorter" / "results.json", {"training": [{"seed": 0}], "rows": [run]})
    cells = {(c["mechanism"], c["length"]): c for c in results_page.cells() if c["task"] == "sorter"}
    ours, other = cells["hinted", 100], cells["tempered", 100]
    assert (ours["ours"], ours["paper"], ours["published"]) == (0.25, None, 0.926) and "windows" in ours["why"]
    assert (other["ours"], other["paper"], other["why"]) == (None, 0.452, None)  # nothing stands beside it
    text = results_page.markdown()
    line = "| hinted | [hinted_sorter](../presets/hinted_sorter) | other training distribution | 0 |  | not run / - |"
    assert line + " 25.0 % (n 8) / - |" in text
    assert "\nhinted: no number of the paper, since ours is trained on uniform lengths" in text


def test_markdown(one_run):
    text = results_page.markdown()
    line = "| onestep | [onestep_copy](../presets/onestep_copy) | none | 0, 1 | 2,496 |"
    assert line + " 75.0 % (50.0 % to 100 %) (n 8) / 100 % |" in text
    assert "Tables 2, 4 and 7: medians of 5 runs. The paper trains up to 100 epochs." in text
    assert "| content |  |  | not run |" in text and "| content |  |  | needs data |  | needs data / 62.1 % |" in text
    assert "[recipe](" not in text and "makes a run that a table lacks" in text
    assert text.index("Of 777 published numbers: [") < text.index("| all | 777 |") < text.index("## addition")
    assert "unpack them, and `KZOO_CFQ=FOLDER kzoo results --run '*_cfq'` makes the runs." in text


def test_a_row_that_is_not_run_links_to_its_recipe(one_run, tmp_path):
    (tmp_path / "content_copy").mkdir()
    write_json(tmp_path / "content_copy" / "recipe.json", {"task": "copy", "mechanism": "content", "supervision": []})
    line = "| content | [recipe](../presets/content_copy/recipe.json) |  | not run |  | not run / 0 % |"
    assert line in results_page.markdown()


def test_what_must_be_known_of_a_row_stands_under_its_table():
    text = results_page.markdown()
    assert "\nndr_ctl_forward: The 18 inference steps, 12 in training, were chosen by the accuracy" in text
    assert "\nonestep_reverse_lookup: Training seed 2 is shipped, the median of three." in text
    assert "\nrel_ctl_forward: Training has not converged: " in text
    table = text.partition("\n## arithmetic\n")[2].partition("\n## ")[0]
    assert "| test split | 1 * | 2 | 3 |" in table  # depth 1 is in the training list


@pytest.mark.once
def test_page_is_fresh():
    page = Path(__file__).parents[2] / "hub_cards" / "results.md"
    assert page.read_text() == results_page.markdown(), "run: kzoo results --markdown > hub_cards/results.md"
