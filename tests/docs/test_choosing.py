"""The page "Which mechanism for which task" in the site, and the pictures of the leaderboard."""

import re

import pytest

from docs import choosing
from docs.places import BuildError
from kzoo import tasks
from kzoo.cards.choice import choices

pytestmark = pytest.mark.once


def test_the_links_of_the_page():
    (text,) = choosing.choosing_page().values()
    links = set(re.findall(r"\]\(([^)]+)\)", text))
    chosen = {f"cards/{own['preset']['name']}.md" for own in choices() if own["preset"]}
    assert len(chosen) > 10 and chosen | {"tasks/copy.md", "leaderboard.md", "#how-it-is-chosen"} <= links
    inner = r"(cards|tasks|mechanisms)/\w+\.md|leaderboard\.md|#[\w-]+|https://arxiv\.org/abs/[\d.]+"
    assert all(re.fullmatch(inner, link) for link in links), links
    assert "Each mechanism" not in text and {"mechanisms/delta.md", "mechanisms/waypoint.md"} <= links
    assert {f"tasks/{name}.md" for name in tasks.names()} >= {link for link in links if link.startswith("tasks/")}


def test_a_stale_page(monkeypatch):
    monkeypatch.setattr(choosing.choice_page, "markdown", lambda: "others")
    with pytest.raises(
        BuildError, match=r"which_mechanism\.md is stale: kzoo results --choose --markdown > hub_cards/"
    ):
        choosing.choosing_page()


def test_the_pictures_of_the_leaderboard(monkeypatch, tmp_path):
    drawn = []

    def draw(words):
        drawn.append(words[2:-2])
        (tmp_path / words[-1].rpartition("/")[2]).write_text("<svg/>")
        return 0

    choosing.board_pictures.cache_clear()
    monkeypatch.setattr(choosing, "KEPT", tmp_path)
    monkeypatch.setattr(choosing, "main", draw)
    found = choosing.board_pictures()
    assert drawn == [[task] if task else [] for task in found] and {"", "copy"} <= set(found)
    assert len({path.name for path in found.values()}) == len(found)
    assert found[""].name in choosing.heat_map() and '??? note "copy"\n\n    ![accuracy' in choosing.curves()
    choosing.board_pictures.cache_clear()
    assert choosing.board_pictures() == found and len(drawn) == len(found)  # kept
    choosing.board_pictures.cache_clear()
    monkeypatch.setattr(choosing, "KEPT", tmp_path / "other")
    monkeypatch.setattr(choosing, "main", lambda words: 2)
    with pytest.raises(BuildError, match="kzoo plot leaderboard"):
        choosing.board_pictures()
    choosing.board_pictures.cache_clear()
