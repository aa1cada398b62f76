"""The leaderboard: its scores by hand, what the protocol keeps out, and a submission that is measured anew."""

import json
import math
import re
import shutil

import numpy as np
import pytest

import kzoo
from kzoo.cards import protocol
from kzoo.cards.leaderboard import as_json, entries, entry_of, markdown, obstacles
from kzoo.cards.verification import verify
from kzoo.cli.main import main
from kzoo.errors import InputError, PresetError
from kzoo.saving.preset import Preset
from kzoo.training.recipe import Recipe, load_recipe

STAGE = {"budget": {"epochs": 1}, "data": {"examples": 64}, "selection": {"by": "last"}}


@pytest.fixture(scope="module")
def board():
    return entries()


def recipe(**changes):
    config = {"task": "parity_check", "supervision": [], "mechanism": "delta", "stages": [STAGE]}
    config["model"] = {"class": "RecurrentClassifier", "config": {"reader": "delta", "units": 8}}
    return Recipe.from_config(config | changes)


@pytest.mark.once
def test_scores():
    assert protocol.scored_lengths(kzoo.tasks.get("copy")) == [15, 30, 100]
    assert protocol.scored_lengths(kzoo.tasks.get("parity_check")) == [60, 80, 120, 200, 400]
    assert protocol.scored_lengths(kzoo.tasks.get("scan")) == []
    found = {15: 1.0, 30: 0.9, 100: 0.5, 7: 0.0}
    assert protocol.chomsky_score(found, [15, 30, 100]) == pytest.approx(0.8)
    assert protocol.chomsky_score({15: 1.0}, [15, 30]) is None
    assert protocol.reach(found, [15, 30, 100], 10) == 3 and protocol.reach({15: 0.89, 30: 1.0}, [15, 30], 10) == 0
    assert protocol.spread([0.5, 1.0]) == {"mean": 0.75, "sd": pytest.approx(0.35355, abs=1e-4), "min": 0.5, "max": 1.0}
    assert math.isnan(protocol.spread([1.0])["sd"])


@pytest.mark.once
def test_what_the_protocol_allows():
    assert protocol.breaches(recipe(), 350_000, [{"steps": 3_000, "examples_seen": 384_000}]) == []
    assert protocol.breaches(recipe(), 350_001) == ["it has 350,001 parameters, more than 350,000"]
    long = [{"steps": 3_001, "examples_seen": 400_000}]
    found = protocol.breaches(recipe(), None, long)
    assert found[0] == "it was trained on 3,001 steps, more than 3,000" and "400,000 examples" in found[1]
    stages = [{"seed": seed, "stage": k, "steps": 1_600, "examples_seen": 100_000} for seed in (0, 1) for k in (0, 1)]
    assert protocol.breaches(recipe(), None, stages) == ["it was trained on 3,200 steps, more than 3,000"]
    assert protocol.breaches(recipe(), None, [stages[0], stages[2]]) == []
    other = recipe(task="sorter", stages=[STAGE | {"data": {"split": "windows"}}])
    assert protocol.breaches(other) == ["it was trained on another split than train"]
    assert protocol.breaches(load_recipe("theorem_sorter"), 302) == ["its weights are set, not trained"]


@pytest.mark.once
def test_the_run_that_another_began_with_counts():
    earlier = protocol.began_with(recipe(init_from="second_order_tagger_a5"))
    assert earlier["steps"] == 3_000 and protocol.began_with(recipe()) == {}
    found = protocol.breaches(recipe(init_from="second_order_tagger_a5"), None, [{"steps": 10, "examples_seen": 640}])
    assert found[0] == "it was trained on 3,010 steps with the 3,000 of the run that it began with, more than 3,000"
    chain = protocol.began_with(load_recipe("long_ndr_arithmetic"))  # that began with another, too
    first, second = (protocol.began_with(recipe(init_from=n)) for n in ("ndr_arithmetic", "stretched_ndr_arithmetic"))
    assert chain == second and second["steps"] > first["steps"] > 0
    assert protocol.began_with(load_recipe("abc_addition"))["steps"] > protocol.STEPS  # it was calibrated in another


@pytest.mark.once
def test_what_was_learned():
    task = kzoo.tasks.get("parity_check")
    assert protocol.at_trained([{40: 1.0}, {40: 0.5, 60: 0.0}], task) == 0.75
    assert protocol.at_trained([{40: 1.0}, {60: 1.0}], task) is None
    assert [protocol.learned(x) for x in (None, 0.9, 0.89)] == [True, True, False]


@pytest.mark.once
def test_a_run_takes_what_all_its_stages_take():
    stage = {"steps": 100, "examples_seen": 6_400, "seconds": 10.0}
    training = [stage | {"seed": seed, "stage": k, "seconds": 10.0 + seed} for seed in (0, 1, 2) for k in (0, 1)]
    training[-1]["seconds"] = 9_000.0  # this one was held up
    runs = protocol.totals(training)
    assert [run["steps"] for run in runs] == [200] * 3 and [run["examples_seen"] for run in runs] == [12_800] * 3
    assert [run["seconds"] for run in runs] == [20.0, 22.0, 9_012.0]
    two_stages = entry_of(Preset.find("tape_odds_first"))
    assert two_stages["steps"] == 3_000


@pytest.mark.once
def test_tags():
    assert protocol.tags(recipe()) == ()
    assert protocol.tags(recipe(init_from="somewhere")) == ("pretrained",)
    assert protocol.tags(load_recipe("monotonic_copy")) == ("published validation",)  # as its paper selects
    assert protocol.tags(recipe(stages=[STAGE | {"selection": {"by": "validation"}}])) == ()
    with pytest.raises(InputError, match="supervision must declare 'built-in alignment'"):
        recipe(task="sum_digits", model={"class": "TransformerDecoder", "config": {"encoding": "coupled"}})


@pytest.mark.once
def test_entries_keep_to_the_protocol(board):
    assert len(board) > 50 and {"copy", "recopy", "lookup"} <= {entry["task"] for entry in board}
    for entry in board:
        assert 0 < entry["parameters"] <= protocol.PARAMETERS and entry["steps"] <= protocol.STEPS
        for seed in entry["seeds"].values():
            assert seed["score"] == pytest.approx(np.mean([seed["accuracy"][n] for n in entry["lengths"]]))
            assert len(seed["weights_sha256"]) == 64
    for one in board:
        assert one["apart"] == one["tags"] + (["last token alone"] if one["last_token_alone"] else [])
    for entry in board:  # a rank is one more than how many are better
        own = [other for other in board if all(other[key] == entry[key] for key in ("task", "apart"))]
        scores = {other["name"]: (other["score"]["mean"], other["score"]["min"]) for other in own}
        assert entry["rank"] == 1 + sum(score > scores[entry["name"]] for score in scores.values())
    means = [(entry["task"], entry["apart"], -entry["score"]["mean"]) for entry in board]
    assert means == sorted(means)
    assert json.loads(json.dumps(as_json(board), allow_nan=False))
    apart = {entry["model"] for entry in board if entry["last_token_alone"]}
    assert apart == {"RecurrentClassifier"} and {e["task"] for e in board if e["last_token_alone"]} == {"s3"}


@pytest.mark.once
def test_the_page_is_what_is_rendered(root):
    assert (root / "hub_cards" / "leaderboard.md").read_text(encoding="utf-8") == markdown()


@pytest.mark.once
def test_every_word_of_the_page_is_explained(root, board):
    """The mechanisms on the other page, to which each links, the tags above the tables."""
    text, words = ((root / "hub_cards" / name).read_text() for name in ("leaderboard.md", "which_mechanism.md"))
    linked = set(re.findall(r"which_mechanism\.md#(\w+)", text))
    assert linked == {entry["mechanism"] for entry in board} and all(f'<a id="{name}"></a>' in words for name in linked)
    legend = text.split("What the tags say:")[1].split("## All tasks")[0]
    assert {tag for entry in board for tag in entry["tags"]} == set(re.findall(r"^- \*([^*]+)\*: \w", legend, re.M))
    for link in re.findall(r"\]\(([^)#]+)", text):
        assert (root / "hub_cards" / link).exists(), link


@pytest.mark.once
def test_the_command(capsys):
    assert main(["results", "--leaderboard", "monotonic_copy", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["entries"]
    assert [x["name"] for x in found] == ["monotonic_copy"] and set(found[0]["seeds"]) >= {"0"}
    assert main(["results", "--leaderboard", "*_copy"]) == 0
    assert "monotonic_copy" in capsys.readouterr().out
    assert main(["results", "--leaderboard", "--run"]) == 2 and main(["results", "--examples", "3"]) == 2
    assert main(["results", "--verify", "monotonic_copy"]) == 2
    assert "is a recorded run, without weights: kzoo train monotonic_copy --output DIR" in capsys.readouterr().err


@pytest.mark.once
def test_runs_are_found_by_their_names_too_and_what_is_left_out_says_why(capsys):
    assert main(["results", "--leaderboard", "onestep_copy_8_epochs"]) == 0
    assert "onestep_copy_8_epochs" in capsys.readouterr().out
    assert main(["results", "--leaderboard", "copy"]) == 0
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines()[2:]} == {"copy"}
    assert main(["results", "--leaderboard", "sorter"]) == 2
    assert "counting_sorter is not on the leaderboard: it was trained on" in capsys.readouterr().err
    assert main(["results", "--leaderboard", "hinted_sorter"]) == 2
    said = capsys.readouterr().err
    assert "hinted_sorter is not on the leaderboard: it was trained on" in said and "more than 3,000" in said
    assert main(["results", "--leaderboard", "theorem_sort*"]) == 2
    assert "theorem_sorter is not on the leaderboard: its weights are set, not trained" in capsys.readouterr().err
    assert main(["results", "--leaderboard", "nothing"]) == 2
    assert "no run is of 'nothing'" in capsys.readouterr().err


@pytest.mark.once
def test_a_seed_counts_with_every_length_measured_on_enough_examples(tmp_path):
    folder = tmp_path / "monotonic_copy"
    shutil.copytree(Preset.find("monotonic_copy").folder, folder)
    whole = entry_of(Preset.find(folder))
    results = json.loads((folder / "results.json").read_text())

    def seeds_with(change):
        rows = [row for row in (change(dict(row)) for row in results["rows"]) if row]
        (folder / "results.json").write_text(json.dumps({**results, "rows": rows}))
        preset = Preset.find(folder)
        return entry_of(preset), obstacles(preset)

    few, _ = seeds_with(lambda row: row | {"n": 199} if row["training_seed"] == 1 else row)
    assert set(few["seeds"]) == set(whole["seeds"]) - {1}
    cut, _ = seeds_with(lambda row: None if (row["training_seed"], row["length"]) == (2, 100) else row)
    assert set(cut["seeds"]) == set(whole["seeds"]) - {2}
    none, why = seeds_with(lambda row: row | {"n": 199})
    assert none is None and why[0].startswith("no seed has results of 200 examples or more at each of 15, 30, 100")


@pytest.mark.once
@pytest.mark.slow
def test_a_submission_is_measured_anew(tmp_path, capsys):
    evaluation = {"evaluation": {"lengths": [60, 80, 120, 200, 400], "examples": protocol.TESTED}}
    folder = kzoo.train(recipe(**evaluation), tmp_path / "delta_parity")
    assert all(check.holds for check in verify(folder)) and main(["results", "--verify", str(folder)]) == 0
    assert "length 400, fresh examples" in capsys.readouterr().out
    entry = entry_of(Preset.find(folder))
    assert entry["lengths"] == [60, 80, 120, 200, 400] and list(entry["seeds"]) == [0] and entry["tags"] == []
    assert protocol.fresh_seed("ab", kzoo.tasks.get("copy")) != protocol.fresh_seed("ac", kzoo.tasks.get("copy"))
    # One that claims more than it can do.
    results = json.loads((folder / "results.json").read_text())
    for row in results["rows"]:
        if row["metric"] == "sequence_accuracy":
            row |= {"value": 1.0, "n": 40} if row["length"] == 60 else {"value": 1.0}
    (folder / "results.json").write_text(json.dumps(results))
    metadata = json.loads((folder / "metadata.json").read_text())
    metadata["files"].pop("results.json")
    (folder / "metadata.json").write_text(json.dumps(metadata))
    failed = [check for check in verify(folder) if not check.holds]
    assert failed[0] == ("protocol", False, "fewer than 200 examples were measured at 60")
    assert len(failed) == 11 and main(["results", "--verify", str(folder), "--json"]) == 1


@pytest.mark.once
def test_what_cannot_be_verified():
    with pytest.raises(PresetError, match="without weights"):
        verify("monotonic_copy")
    with pytest.raises(PresetError, match="waypoint_scan has no results of its weights at any length"):
        verify("waypoint_scan")
