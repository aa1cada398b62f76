"""Training with hints, on other splits, and recipes whose weights are set."""

import inspect
from dataclasses import replace

import numpy as np
import pytest

import kzoo
from kzoo.data.interleaving import Alternating
from kzoo.errors import InputError
from kzoo.saving.weights import serialize
from kzoo.training.batches import Drawn, training_batches, training_examples
from kzoo.training.build import build
from kzoo.training.recipe import Recipe, load_recipe
from kzoo.training.train import train

SMALL = {"units": 8, "hidden_units": 8, "layers": 1}


def recipe(hints=(), **changes):
    config = {
        "task": "sorter",
        "model": {"class": "TransformerDecoder", "config": {**SMALL, "hints": list(hints)}},
        "split": "uniform_repeated",
        "epochs": 2,
        "steps_per_epoch": 5,
        "fresh": True,
        "batch_size": 16,
        "selection": "last",
        "evaluation": {"lengths": [3], "examples": 8},
    }
    return Recipe.from_config({**config, **changes})


@pytest.mark.once
def test_a_recipe_with_hints_trains_task_and_hints_in_turn(tmp_path):
    folder = train(recipe(["sorted_successor", "count"]), tmp_path / "tiny_sorter")
    (run,) = kzoo.preset_info(folder)["results"]["training"]
    assert (run["steps"], run["examples_seen"]) == (10, 160)
    model = kzoo.from_preset(folder)
    assert model.hints == ["sorted_successor", "count"] and len(model.generate("5 3 1").split()) <= 3
    untrained = build(recipe(["sorted_successor", "count"]))
    for old, new in zip(untrained.hint_classes, model.hint_classes, strict=True):
        assert np.abs(np.array(old.get_weights()[0]) - new.get_weights()[0]).max() > 0


def test_batches_of_the_task_and_its_hint():
    made = training_batches(recipe(["sorted_successor"]), build(recipe(["sorted_successor"])))
    assert isinstance(made, Alternating) and len(made) == 5
    assert [int(made[i][0]["head"][0]) for i in range(5)] == [0, 1, 0, 1, 0]
    first = made[0][1].tolist()
    made.begin(1)
    assert made[0][1].tolist() != first  # fresh examples
    made.begin(0)
    assert made[0][1].tolist() == first
    assert (made[1][2].sum(axis=1) == 1).all() and (made[0][2].sum(axis=1) > 1).any()
    listed = recipe(["sorted_successor"], fresh=False, steps_per_epoch=None, examples=64)
    assert len(training_batches(listed, build(listed))) == 8  # a pass over both


def test_the_split_is_the_recipes():
    task = kzoo.tasks.get("sorter")
    listed = recipe(split="uniform", fresh=False, steps_per_epoch=None, examples=64)
    few = training_batches(listed, build(listed))
    encoded = [few.preprocessor.encode_source(row.source) for row in task.examples("uniform", 64)]
    assert [source for source, _ in few.pairs] == encoded
    with pytest.raises(InputError, match="unknown split of sorter 'unifrm'; did you mean 'uniform'"):
        recipe(split="unifrm")


def test_a_curriculum_goes_from_short_to_long():
    made = recipe(["sorted_successor"], epochs=4, curriculum=[3, 20])
    batches = training_batches(made, build(made)).batches
    longest = []
    for epoch in range(5):  # once more after the last, as Keras does
        for own in batches:
            own.begin(epoch)
            longest.append(max(source.index(100) for source, _ in own.pairs))
    assert longest[:4] == [3] * 4 and min(longest[4:]) > 10
    impossible = recipe(curriculum=[1])
    with pytest.raises(InputError, match="uniform_repeated of sorter has too few sources of at most 1 tokens"):
        training_batches(impossible, build(impossible))
    rare = replace(made.stages[0], data=replace(made.stages[0].data, split="train", curriculum=(12,), batch_size=2))
    small = Drawn(rare, 0, kzoo.tasks.get("listops"), 2)
    assert all(len(row.source) <= 12 for epoch in range(9) for row in small(epoch))  # few draws may have none
    few = recipe(task="parity_check", split="train", curriculum=[3])
    stage = replace(few.stages[0], data=replace(few.stages[0].data, sampling="balanced"))
    few = replace(few, stages=(stage,))
    drawn = training_batches(few, build(few))  # of the eight there are
    assert len(drawn.pairs) == 8 and len(drawn) == 5 and all(len(drawn[i][1]) == 16 for i in range(5))
    for changes in ({"fresh": False}, {"curriculum": [1, 2, 3]}):
        with pytest.raises(InputError, match="a curriculum needs fresh examples"):
            recipe(**{"curriculum": [4], **changes})


def test_a_stage_has_what_its_split_has():
    model = {"class": "TransformerClassifier", "config": {"units": 8}}
    made = recipe(task="arithmetic", split="train", model=model, curriculum=[13], batch_size=500, steps_per_epoch=20)
    drawn = training_examples(made.stages[0], made.seed, kzoo.tasks.get("arithmetic"), 20)(0)
    short = [row for row in kzoo.tasks.get("arithmetic").examples("train") if len(row.source) <= 13]
    shares = [np.mean(["(((" in "".join(row.source) for row in rows]) for rows in (drawn, short)]
    assert len(drawn) == 10_000 < len(short) and shares[0] == pytest.approx(shares[1], abs=0.02)  # though it is sorted


def test_a_hint_that_does_not_fit_is_one_sentence():
    with pytest.raises(InputError, match="carry has tokens that the vocabulary lacks"):
        build(recipe(["carry"]))


CONSTRUCTED = {"class": "construct_sorter", "config": {"longest": 5}}


def test_a_construction_is_not_trained(tmp_path):
    made = recipe(model=CONSTRUCTED, epochs=0)
    folder = train(made, tmp_path / "tiny_sorter")
    info = kzoo.preset_info(folder)
    assert info["results"]["training"][0]["steps"] == 0 and info["results"]["training"][0]["history"] == []
    assert all(row["value"] == 1 for row in info["results"]["rows"])
    assert serialize(kzoo.from_preset(folder)) == serialize(kzoo.models.construct_sorter(longest=5))
    assert load_recipe(folder) == made
    from kzoo.cards.card import render_card

    card = render_card(folder)
    assert "constructed, not trained" in card and "kzoo.models.construct_sorter` sets every weight" in card
    assert "| embedding | s to e_s | B.3 |" in inspect.getdoc(kzoo.models.construct_sorter)  # which it names
    assert "(trained)" not in card and "the end symbol" not in card


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"model": CONSTRUCTED}, "epochs must be 0 for construct_sorter"),
        ({"epochs": 0}, "epochs must be an integer from 1"),
        ({"model": {"class": "construct_sorter", "config": {"longst": 5}}, "epochs": 0}, "did you mean 'longest'"),
    ],
)
def test_bad_constructions(changes, message):
    with pytest.raises(InputError, match=message):
        build(recipe(**changes))


def test_each_length_has_as_many_examples():
    made = recipe(task="parity_check", split="train", epochs=2, curriculum=[4, 40])

    def of_each_length(**changes):
        stage = replace(made.stages[0], data=replace(made.stages[0].data, per_length=True, **changes))
        return training_batches(replace(made, stages=(stage,)), build(made))

    batches, lengths = of_each_length(), []
    for epoch in range(2):
        batches.begin(epoch)
        lengths.append([len(source) for source, _ in batches.pairs])
    assert np.unique(lengths[0], return_counts=True)[1].tolist() == [40, 40]
    found, counts = np.unique(lengths[1], return_counts=True)
    assert found.tolist() == list(range(4, 42)) and set(counts) == {3}  # with the symbol that asks
    with pytest.raises(InputError, match="train of parity_check has no sources of at most 2 tokens"):
        of_each_length(curriculum=(2,))
    with pytest.raises(InputError, match="per_length needs fresh examples"):
        of_each_length(fresh=False)
