"""Which mechanism for which task: the rules by hand, and the page that they make."""

import json
import re

import pytest

from kzoo.cards import choice, protocol
from kzoo.cards.choice import best, candidate_of, choices, recommended
from kzoo.cards.choice_page import lines, markdown
from kzoo.cards.explain import in_words
from kzoo.cards.groups import GROUPS, distinctive, group_of
from kzoo.cli.main import main
from kzoo.saving import catalogue
from kzoo.saving.preset import Preset
from kzoo.training.recipe import Recipe

pytestmark = pytest.mark.once
STAGE = {"budget": {"epochs": 1}, "data": {"examples": 64}, "selection": {"by": "last"}}


@pytest.fixture(scope="module")
def found():
    return choices()


def cell(mechanism, score, seeds=1, tags=(), holds=30):
    found = {"mechanism": mechanism, "score": score, "seeds": seeds, "tags": list(tags), "holds": holds}
    return found | {"going_on": 0 if holds is None else seeds}


def recipe(model, config, task="copy"):
    model = {"class": model, "config": config}
    return Recipe.from_config({"task": task, "supervision": [], "mechanism": "m", "model": model, "stages": [STAGE]})


def test_the_best_are_alike_with_the_fewest_tags_and_most_seeds_first():
    cells = [cell("a", 1.0, tags=["x", "y"]), cell("b", 0.991, tags=["x"]), cell("c", 0.995, 3, tags=["x"])]
    assert [one["mechanism"] for one in best([*cells, cell("d", 0.98, 5, tags=["x"])])] == ["c", "b"]
    others = [cell("a", 0.995, 1, tags=["x"]), cell("b", 0.995, 3, tags=["y"])]
    assert [one["mechanism"] for one in best(others)] == ["b"]  # never two under the tags of one
    assert best([cell("a", 0.4, holds=None)]) == [] and best([]) == []


def test_the_preset_to_take():
    def preset(name, score, tags, parameters, weakest=0.9):
        return {"name": name, "score": score, "tags": tags, "parameters": parameters, "weakest": weakest}

    told = preset("told", 1.0, ["gold attention"], 10)
    one, two = preset("one", 0.992, [], 300), preset("two", 0.992, [], 200)
    assert recommended([told, one, two]) is two
    lucky = preset("lucky", 1.0, [], 10, weakest=0.5)
    assert recommended([told, lucky, one]) is one and recommended([told, lucky]) is lucky
    assert recommended([told, preset("worse", 0.98, [], 10)]) is told and recommended([]) is None


def test_what_is_chosen_from_the_recorded_results(found):
    assert len(found) > 10 and len({own["task"] for own in found}) == len(found)
    for own in found:
        assert all(not one["tags"] for one in own["alone"]) and all(one["tags"] for one in own["more"])
        for side in (own["alone"], own["more"]):
            rivals = [one for one in own["ran"] if bool(one["tags"]) == bool(side and side[0]["tags"])] if side else []
            assert all(one["score"] <= side[0]["score"] + choice.ALIKE for one in rivals if one["holds"])
        chosen = own["preset"]
        if chosen is not None:
            rows = Preset.find(chosen["name"]).rows
            measured = {row["length"]: row["value"] for row in rows if row["metric"] == "sequence_accuracy"}
            lengths = own["lengths"] or [None]
            assert chosen["score"] == pytest.approx(sum(measured[n] for n in lengths) / len(lengths))
            assert catalogue.bundled(chosen["name"], catalogue.PRESET) is not None
            assert all(other["score"] <= chosen["score"] + choice.ALIKE for other in own["presets"])


def test_what_is_no_candidate():
    assert candidate_of(Preset.find("theorem_sorter")) is None  # constructed
    known = candidate_of(Preset.find("onestep_copy"))
    assert known["holds"] == 100 and known["tags"] == [protocol.PUBLISHED_VALIDATION] and known["breaches"] == []
    assert candidate_of(Preset.find("looped_parity_check"))["weakest"] < 0.6  # one of its seeds is at chance


def test_the_groups_are_told_by_what_recipes_are_made_of():
    titles = {
        ("RecurrentSeq2Seq", "content"): "content",
        ("RecurrentSeq2Seq", "bi_relative"): "distances",
        ("RecurrentSeq2Seq", "onestep"): "pointers",
        ("RecurrentSeq2Seq", "mix_onestep_pr"): "mixtures",
        ("RecurrentSeq2Seq", "waypoint"): "waypoints",
        ("RecurrentSeq2Seq", "location"): "places",
    }
    for (model, attention), title in titles.items():
        assert group_of(recipe(model, {"attention": attention})).title == title
    assert group_of(recipe("TransformerSeq2Seq", {"self_bias": "windowed"}, "parity")).title == "windows"
    assert group_of(recipe("TransformerSeq2Seq", {"self_bias": "alibi"}, "parity")).title == "distances"
    assert group_of(recipe("TransformerClassifier", {}, "ctl_forward")).title == "depth"
    assert group_of(recipe("TransformerClassifier", {"block": "transformer"}, "ctl_forward")).title == "content"
    assert group_of(recipe("RecurrentClassifier", {"reader": "delta"}, "parity_check")).title == "states"
    windows = {"class": "TransformerBlock", "config": {"attention": {"config": {"bias": "windowed"}}}}
    looped = {"block": windows, "depth": "looped"}
    assert group_of(recipe("TransformerClassifier", looped, "parity_check")).title == "loops"
    for reader in ("beam_tree", "rir", "crvnn"):
        assert group_of(recipe("RecurrentClassifier", {"reader": reader}, "listops")).title == "trees"
    for mixer, title in {"delta": "states", "path": "paths", "canon": "neighbours", "dot_product": "content"}.items():
        reader = {"class": "MixerReader", "config": {"mixer": mixer}}
        assert group_of(recipe("SequenceTagger", {"reader": reader}, "s3")).title == title
    assert group_of(recipe("SequenceTagger", {}, "s3")).title == "states"
    assert group_of(recipe("SequenceTagger", {"reader": "neural_gpu"}, "copy")).title == "cells"
    for reader in ("stack", "pushdown"):
        assert group_of(recipe("SequenceTagger", {"reader": reader}, "copy")).title == "stacks"
    assert len({group.title for group in GROUPS}) == len(GROUPS)
    assert distinctive(recipe("TransformerClassifier", {"block": "rel"}, "ctl_forward")) == ["RelativeBias"]
    assert distinctive(recipe("RecurrentSeq2Seq", {"attention": "content"}, "copy")) == ["ContentAttention"]


def test_the_page_is_what_is_rendered(root):
    text = markdown()
    stale = "run: kzoo results --choose --markdown > hub_cards/which_mechanism.md"
    assert (root / "hub_cards" / "which_mechanism.md").read_text(encoding="utf-8") == text, stale
    told = dict(re.findall(r'^\| <a id="(\w+)"></a>\*\*\1\*\* \| (.+) \| .*\|$', text, re.MULTILINE))
    assert set(told) == set(re.findall(r"\]\(#(\w+)\)", text)) and len(told) > 80 and all(map(in_words, told))
    for place in set(re.findall(r"\]\(\.\./(layers/[\w/]+\.py)\)", text)):
        assert (root / place).is_file()
    for name in catalogue.names_of(catalogue.PRESET):
        assert f"({name}.md)" not in text or (root / "hub_cards" / f"{name}.md").is_file()


def test_the_page_says_what_a_task_lacks(monkeypatch, found):
    own = next(one for one in found if one["task"] == "copy")
    ran = [one | {"holds": None, "going_on": 0} for one in own["ran"] if not one["tags"]]
    weak = own["preset"] | {"holds": None, "score": 0.25}
    changed = own | {"alone": [], "more": [], "ran": ran, "preset": weak}
    monkeypatch.setattr("kzoo.cards.choice_page.choices", lambda: [changed])
    line = next(line for line in markdown().splitlines() if line.startswith("| **copy**"))
    assert "| none goes on; nearest is [" in line and "25.0 %" in line and line.endswith("| none goes on | not run |")
    ran[0] |= {"mechanism": "a", "run": "onestep_copy", "seeds": 3, "going_on": 2}
    line = next(line for line in markdown().splitlines() if line.startswith("| **copy**"))
    assert line.endswith("| none goes on; 2 of 3 seeds of [a](onestep_copy.md) do | not run |")
    assert lines([changed])[1][0][1:3] == ["none goes on; 2 of 3 seeds of a do", "not run"]


def test_the_short_table(monkeypatch, found):
    text = markdown().partition("## In short")[2].partition("## By task")[0]
    solved = {own["task"] for own in found if own["preset"] and own["preset"]["score"] > 0.99}
    assert all(text.count(f"[{task}](") == 1 for task in solved) and len(solved) > 40
    shown = re.findall(r"^\| (.*) \| \*\*(\w+)\*\*: ", text, re.MULTILINE)
    assert len(shown) >= 8 and all(asks for asks, _ in shown)
    own = next(one for one in found if one["task"] == "copy")
    cases = {
        "(waypoint_copy.md) (10×) |": {},
        r"(waypoint_copy.md)\* (10×) |": {"tags": ["gold attention"]},
        "(waypoint_copy.md) (10×, 3 of 5 seeds) |": {"solved": 3},
        "(waypoint_copy.md) (10×, one seed) |": {"seeds": 1, "solved": 1},
        "No preset is right at every length of copy.": {"holds": 30},
    }
    for words, change in cases.items():
        changed = own | {"preset": own["preset"] | change}
        monkeypatch.setattr("kzoo.cards.choice_page.choices", lambda changed=changed: [changed])
        assert words in markdown().partition("## By task")[0], words


def test_the_page_says_how_many_seeds_the_best_have(monkeypatch, found):
    own = next(one for one in found if one["task"] == "copy")
    first = own["ran"][0] | {"tags": [], "score": 1.0}
    for counts, words in (((3, 1), "(1 to 3 seeds)"), ((3, 3), "(3 seeds)"), ((1, 1), "(1 seed)")):
        changed = own | {"alone": [first | {"seeds": count} for count in counts], "more": []}
        monkeypatch.setattr("kzoo.cards.choice_page.choices", lambda changed=changed: [changed])
        assert words in next(line for line in markdown().splitlines() if line.startswith("| **copy**"))


def test_the_command(capsys):
    assert main(["results", "--choose", "*copy", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"copy", "recopy"} <= {own["task"] for own in found} and all(own["task"].endswith("copy") for own in found)
    assert main(["results", "--choose", "copy"]) == 0
    out = capsys.readouterr().out
    assert found[0]["preset"]["name"] in out and "right up to" in out
    assert main(["results", "--verify", "lstm_flip_flop", "--leaderboard"]) == 2
    assert main(["results", "--choose", "--leaderboard"]) == 2 and main(["results", "--choose", "--run"]) == 2
