"""How many published numbers are reproduced."""

from kzoo.cards.tally import outcome, tally, tally_table


def cell(ours, paper, published=None, mechanism="a", length=15):
    found = {"task": "copy", "mechanism": mechanism, "length": length, "ours": ours, "paper": paper}
    return found | {"published": paper if published is None else published}


def test_outcomes():
    assert outcome(cell(0.99, 1.0)) == outcome(cell(1.0, 0.995)) == "reproduced"
    assert outcome(cell(0.98, 1.0)) == "lower" and outcome(cell(0.5, 0.3)) == "higher"
    assert outcome(cell(None, 0.3)) == "not run" and outcome(cell(0.3, None, 0.3)) == "not comparable"
    assert outcome(cell(0.3, None)) is None


def test_of_several_runs_the_best_counts():
    counts = tally([cell(0.2, 1.0), cell(1.0, 1.0), cell(None, 1.0, length=30), cell(0.1, 1.0, mechanism="b")])
    assert counts == {"copy": {"reproduced": 1, "not run": 1, "lower": 1}}
    assert "| all | 3 | 1 | 0 | 1 | 0 | 1 |" in tally_table(counts) and "[copy](#copy)" in tally_table(counts)
