"""Pages from the repository's files, and the check of what was built."""

import pytest

from docs import cards, overview, results, subjects, tables
from docs.check import check
from docs.mechanisms import configuration
from docs.places import ROOT, BuildError
from docs.results import reach
from kzoo.saving.preset import Preset

pytestmark = pytest.mark.once


@pytest.fixture
def site(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "index.html").write_text('<a href="a/#here">a</a><img src="p.svg"><a href="https://elsewhere/">e</a>')
    (tmp_path / "a" / "index.html").write_text('<h1 id="here">A</h1><a href="..">up</a>')
    (tmp_path / "p.svg").write_text("<svg/>")
    return tmp_path


def test_a_whole_site(site):
    assert check(site) == ["a/index.html", "index.html"]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('<a href="b/">', "index.html: b/ leads nowhere"),
        ('<a href="a/#there">', "index.html: a/#there has no such place"),
        ('<a href="../a/">', "index.html: ../a/ leads nowhere"),
        ('<img src="q.svg">', "index.html: q.svg leads nowhere"),
        ('<script src="https://cdn.example/x.js">', "index.html loads https://cdn.example/x.js"),
        (f"<code>{ROOT}/x.py</code>", f"index.html names {ROOT}"),
        ('<link rel="stylesheet" href="//fonts.example/x.css">', "index.html loads //fonts.example/x.css"),
    ],
)
def test_a_broken_site(site, line, fault):
    (site / "index.html").write_text(line)
    with pytest.raises(BuildError) as caught:
        check(site)
    assert str(caught.value) == fault


def test_a_style_that_loads_from_elsewhere(site):
    (site / "x.css").write_text("a { background: url(https://elsewhere/x.png) }")
    with pytest.raises(BuildError, match=r"x\.css loads from elsewhere"):
        check(site)


@pytest.mark.slow
def test_the_tables_by_task_and_by_mechanism(monkeypatch):
    found = tables.tables()
    assert found["copy"].header[:4] == ["mechanism", "run", "supervision", "seeds"]
    assert all(len(row) == len(table.header) for table in found.values() for row in table.rows)
    own = tables.of_mechanism("onestep", "../")
    assert "[copy](../tasks/copy.md)" in own and "(../cards/onestep_copy.md)" in own and "../presets" not in own
    tables.tables.cache_clear()
    monkeypatch.setattr(tables, "markdown", lambda: "others")
    with pytest.raises(BuildError, match="stale"):
        tables.tables()
    tables.tables.cache_clear()


def test_a_stale_card(monkeypatch):
    monkeypatch.setattr(cards, "render_card", lambda name: "another")
    with pytest.raises(BuildError, match=r"hub_cards/\w+\.md is stale: kzoo card"):
        cards.card_pages()


def test_the_page_of_a_paper():
    text = subjects._paper("2310.11984")
    assert "[`CalibratedBias`](../api/kzoo.layers/CalibratedBias.md)" in text
    assert "### [addition](../tasks/addition.md)" in text and "Differences from the paper: its matrices" in text
    assert "### [copy]" not in text


def test_the_reach():
    assert reach([[5, 1.0, None], [10, 0.96, 1.0], [15, 0.5, None], [30, 1.0, None]]) == 10
    assert reach([[None, 1.0, None]]) is None and reach([[5, 0.2, None]]) is None


def test_the_config_of_a_run_without_weights_is_spelled_out():
    config = configuration(Preset.find("mix_onestep_pr_copy"))
    assert config["config"]["attention"]["class"] == "DirectionMix"
    assert configuration(Preset.find("alibi_addition"))["config"]["self_bias"]["class"] == "AlibiBias"
    line = next(line for line in results.data()["lines"] if line["name"] == "content_copy")
    assert line["reach"] == 10 and line["preset"] and line["bands"]["10"][1] == 1.0


def test_the_leaderboard(monkeypatch):
    lines = results.board_data()["lines"]
    (line,) = (line for line in lines if line["name"] == "mix_onestep_pr_copy")
    assert line["seeds"] == 3 and [length for length, _, _ in line["points"]] == [15, 30, 100]
    assert line["worst"] <= line["score"] and line["sd"] is not None and line["bands"]["100"][0] <= line["points"][2][1]
    monkeypatch.setattr(results.leaderboard, "markdown", lambda: "others")
    with pytest.raises(BuildError, match="stale: kzoo results --leaderboard"):
        results.results_pages()


def test_where_a_mechanism_works_and_breaks(monkeypatch):
    def line(task, name, points, supervision=()):
        found = {"task": task, "mechanism": "one", "name": name, "points": points, "supervision": supervision}
        return found | {"reach": reach(points), "preset": True}

    lines = [
        line("copy", "one_copy", [[10, 1.0, None], [100, 0.96, None]], ["gold attention"]),
        line("recopy", "one_recopy_2", [[15, 0.9, None]]),
        line("recopy", "one_recopy", [[15, 1.0, None], [30, 0.125, 1.0], [100, 1.0, None]]),
        line("lookup", "one_lookup", [[6, 1.0, None]]),  # nothing beyond the trained lengths
    ]
    trained = {"copy": (5, 10), "recopy": (5, 10), "lookup": (3, 6)}
    monkeypatch.setattr(results, "data", lambda: {"lines": lines, "trained": trained})
    assert results.verdict("one", "../") == (
        "It **goes on** to the longest length measured on [copy](../tasks/copy.md) (up to 100; gold attention).\n\n"
        "It **breaks** on [recopy](../tasks/recopy.md) (12.5 % at 30)."
    )
    assert results.verdict("two", "../") == ""


def test_how_far_presets_go():
    found = overview.overview(["content_copy", "onestep_copy", "onestep_recopy"]).splitlines()
    assert found[0].startswith("- **[content](../mechanisms/content.md).** Compares")
    assert "copy (the target is the source): Trained on 5 to 10 digits; right up to 10, 0 % at 15." in found[0]
    assert "the longest measured." in found[1] and "#page=walk&preset=onestep_copy" in found[1]
    assert found[2].startswith("- [onestep](../mechanisms/onestep.md) again:")
    assert "Not trained; right up to 200" in overview.overview(["theorem_sorter"])
    for wrong in ("no_such_preset", "mix_location_noisy_lookup_2"):
        with pytest.raises(BuildError, match=wrong):
            overview.overview([wrong])
