"""What the papers found, beside our runs: the rules by hand, and that the rows are of runs that can be compared."""

import json

import pytest

from kzoo.cards.claims import FILE, claims, found_again, section
from kzoo.cards.leaderboard import recipe_of
from kzoo.saving.preset import Preset

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    "seeds, control, found",
    [
        ([[1.0, 0.9], [0.95, 1.0]], 0.5, "yes"),
        ([[1.0, 0.9], [1.0, 0.89]], 0.5, "some seeds"),
        ([[1.0, 0.3], [0.8, 0.5]], 0.5, "in part"),
        ([[0.6, 0.5], [0.5, 0.5]], 0.5, "no"),
    ],
)
def test_when_a_claim_is_found_again(seeds, control, found):
    assert found_again(seeds, control) == found
    assert found_again(seeds, control, learned=False) == ("not learned" if found == "no" else found)


def test_every_claim_is_of_two_runs_on_one_task():
    found = claims()
    assert len(found) >= 12 and all(entry["scores"] and entry["control_scores"] for entry in found)
    for entry in found:
        own, control = (recipe_of(Preset.find(entry[key])) for key in ("run", "control"))
        assert own.task == control.task == entry["task"] and own.mechanism != control.mechanism
        assert min(entry["lengths"]) > entry["trained"] and max(entry["lengths"]) <= entry["times"] * entry["trained"]


def test_every_claim_has_a_paper_and_its_runs():
    for entry in json.loads(FILE.read_text(encoding="utf-8")):
        assert set(entry) == {"paper", "claim", "run", "control", "times"}
        assert "](https://arxiv.org/abs/" in entry["paper"] and not entry["claim"].endswith(".")


def test_the_section():
    title, _, table = section()
    assert title.startswith("## What their papers found") and len(table.splitlines()) == len(claims()) + 2
    (line,) = [line for line in table.splitlines() if "DeltaNet" in line]
    assert "| parity_check of 60 to 200 after up to 40 | [delta_reader](../presets/delta_reader_parity_check): " in line
    (entry,) = [entry for entry in claims() if entry["run"] == "delta_reader_parity_check"]
    assert "[positive_delta_reader](" in line and line.endswith(f"**{entry['found']}** |")
