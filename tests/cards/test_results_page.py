"""Our results beside the papers'."""

from pathlib import Path

import pytest

from kzoo import tasks
from kzoo.cards import results_page
from kzoo.evaluation import results


@pytest.fixture
def one_run(tmp_path, monkeypatch):
    """Two seeds of one pair, and nothing else."""
    row = {"metric": "sequence_accuracy", "task": "copy"}
    rows = [{**row, "length": 15, "value": v, "training_seed": seed} for seed, v in ((0, 1.0), (1, 0.5))]
    (tmp_path / "onestep_copy").mkdir()
    from kzoo.saving.files import write_json

    write_json(tmp_path / "onestep_copy" / "results.json", {"training": [{"seed": 0}, {"seed": 1}], "rows": rows})
    monkeypatch.setattr("kzoo.saving.catalogue.bundled_folder", lambda: tmp_path)


def test_cells(one_run):
    cells = {(c["mechanism"], c["task"], c["length"]): c for c in results_page.cells()}
    ours = cells["onestep", "copy", 15]
    assert ours["ours"] == 0.75 and ours["seeds"] == {0: 1.0, 1: 0.5} and ours["paper"] == 1.0
    missing = cells["content", "copy", 100]
    assert missing["ours"] is None and missing["seeds"] == {} and missing["paper"] == 0.0
    assert len(cells) == sum(len(v) for name in tasks.names() for v in tasks.get(name).paper_accuracy.values())


def test_markdown(one_run):
    text = results_page.markdown()
    assert "| onestep | 0, 1 | 75.0 % / 100 % |" in text
    assert "| content | not run |" in text


@pytest.mark.once
def test_page_is_fresh():
    page = Path(__file__).parents[2] / "hub_cards" / "results.md"
    assert page.read_text() == results_page.markdown(), "run: kzoo results --markdown > hub_cards/results.md"


def test_documents_of_pairs(one_run):
    assert results.run_document("onestep_copy")["training"] == [{"seed": 0}, {"seed": 1}]
    assert results.run_document("content_copy") == {}
