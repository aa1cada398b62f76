"""How many published numbers are reproduced."""

import re

from kzoo.cards.tally import OUTCOMES, extremes, lists, outcome, outcomes, summary, tally, tally_table


def cell(ours, paper, published=None, mechanism="a", length=15, needs=""):
    found = {"task": "copy", "mechanism": mechanism, "length": length, "ours": ours, "paper": paper, "needs": needs}
    return found | {"published": paper if published is None else published}


def test_outcomes():
    assert outcome(cell(0.99, 1.0)) == outcome(cell(1.0, 0.995)) == "reproduced"
    assert outcome(cell(0.98, 1.0)) == "lower" and outcome(cell(0.5, 0.3)) == "higher"
    assert (
        outcome(cell(None, 0.3, needs="files")) == "needs data" and outcome(cell(0.3, 0.3, needs="files")) != "not run"
    )
    assert outcome(cell(None, 0.3)) == "not run" and outcome(cell(0.3, None, 0.3)) == "not comparable"
    assert outcome(cell(0.3, None)) is None


def test_of_several_runs_the_best_counts():
    found = outcomes([cell(0.2, 1.0), cell(1.0, 1.0), cell(None, 1.0, length=30), cell(0.1, 1.0, mechanism="b")])
    counts = tally(found)
    assert counts == {"copy": {"reproduced": 1, "not run": 1, "lower": 1}}
    assert "| all | 3 | 1 | 0 | 1 | 0 | 1 | 0 |" in tally_table(counts) and "[copy](#copy)" in tally_table(counts)


def test_where_both_fail_or_succeed():
    cells = [cell(ours, ours, length=i) for i, ours in enumerate((0.0, 0.01, 0.5, 0.99, 1.0, 1.0), 1)]
    found = extremes(cells, outcomes(cells))
    assert found == (
        " Of those reproduced, 2 are 1 % or less, where both fail, 3 are 99 % or more, where both succeed, and 1 are "
        "between."
    )


def test_every_number_is_counted_in_the_summary_and_listed_behind_its_link():
    found = outcomes(cell(ours, 0.5, length=i) for i, ours in enumerate((0.5, 0.9, 0.1, None), 1))
    found[("copy", "b", None)] = "needs data"
    text = summary(found)
    assert text == (
        "Of 5 published numbers: [1 reproduced](#reproduced), [1 higher](#higher), [1 lower](#lower), "
        "[1 not run](#not-run), [1 needs data](#needs-data)."
    )
    sections = "\n\n".join(lists(found))
    headings = re.findall("^## (.*)$", sections, re.MULTILINE)
    assert {heading.lower().replace(" ", "-") for heading in headings} == set(re.findall(r"\(#(.*?)\)", text))
    assert [heading.lower() for heading in headings] == [word for word in OUTCOMES if word != "not comparable"]
    assert "## Higher\n\n- [copy](#copy): a 2\n" in sections and "b test split" in sections
