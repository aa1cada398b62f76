"""Words that pairs treat alike change places, and the recipes that train so."""

import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.training.batches import training_examples
from kzoo.training.exchange_words import exchange_words, exchangeable
from kzoo.training.recipe import Recipe

pytestmark = pytest.mark.once

RECIPE = {
    "format": 2,
    "task": "scan_jump",
    "mechanism": "waypoint",
    "supervision": ["data augmentation"],
    "model": {"class": "RecurrentSeq2Seq", "config": {"encoder_units": 4}},
    "stages": [{"budget": {"epochs": 1}, "data": {"exchange_words": True}}],
}


def kinds(*pairs):
    return exchangeable([kzoo.tasks.Example(tuple(source.split()), tuple(target.split())) for source, target in pairs])


def test_docstring_example(run_examples):
    run_examples(exchange_words)


@pytest.mark.parametrize("name", ["scan_jump", "scan_turn_left", "scan_around_right"])
def test_what_is_exchanged_in_scan_is_still_right(name):
    task, scan = kzoo.tasks.get(name), kzoo.tasks.get("scan")
    before = task.examples("train")
    after = kzoo.exchange_words(before, seed=1)
    assert len(after) == len(before) and after != before
    assert all(scan.solve(source) == target for source, target in after)
    assert after == kzoo.exchange_words([(" ".join(x), " ".join(y)) for x, y in before], seed=1)
    assert after != kzoo.exchange_words(before, seed=2)


def test_it_makes_commands_that_were_left_out():
    jump, right = (kzoo.tasks.get(name).examples("train") for name in ("scan_jump", "scan_around_right"))
    assert not any("jump" in x.source and len(x.source) > 1 for x in jump)
    assert sum("jump" in x.source and len(x.source) > 1 for x in kzoo.exchange_words(jump)) > 1_000
    assert not any("around right" in " ".join(x.source) for x in right)
    assert sum("around right" in " ".join(x.source) for x in kzoo.exchange_words(right)) > 1_000


def test_which_words_are_of_one_kind():
    walk, jump = ("walk", "W"), ("jump", "J")
    assert kinds(walk, jump, ("walk twice", "W W")) == [{"walk": ("W",), "jump": ("J",)}]
    turns = [("turn left", "L"), ("turn right", "R")]
    assert kinds(walk, jump, *turns) == [{"walk": ("W",), "jump": ("J",)}, {"left": ("L",), "right": ("R",)}]
    # A word that stands for another token in other company takes all of them along.
    faces = [("face left", "FL"), ("face right", "FR")]
    assert {"left": ("FL", "L"), "right": ("FR", "R")} in kinds(*turns, *faces)
    assert {"turn": ("L", "R"), "face": ("FL", "FR")} in kinds(*turns, *faces)
    assert len(kinds(*turns, *faces)) == 2
    assert set(kzoo.exchange_words([*turns, *faces] * 20)) <= {(tuple(x.split()), (y,)) for x, y in [*turns, *faces]}
    assert kinds(*turns, faces[0]) == []  # right does not stand where left does


@pytest.mark.parametrize(
    "pairs",
    [
        [("walk", "W"), ("jump", "W")],  # two words for one token
        [("walk", "W"), ("walk", "J"), ("jump", "K")],  # two tokens for one word
        [("walk", "W"), ("jump jump", "J")],  # not in the same place
        [("walk", "W W"), ("jump", "J J")],  # more than one token
    ],
)
def test_what_tells_nothing(pairs):
    assert kinds(*pairs) == []
    with pytest.raises(InputError, match="no words may change places: no pairs with a target of one token"):
        kzoo.exchange_words(pairs)


@pytest.mark.parametrize(
    "pairs, message", [([], "there are no pairs"), ([("a",)], "pair 0 must be"), (3, "must be a list")]
)
def test_bad_pairs(pairs, message):
    with pytest.raises(InputError, match=message):
        kzoo.exchange_words(pairs)


def test_a_recipe_trains_on_exchanged_examples():
    recipe = Recipe.from_config(RECIPE)
    task = kzoo.tasks.get("scan_jump")
    found = training_examples(recipe.stages[0], 5, task, None)
    assert found == kzoo.exchange_words(task.examples("train"), 5)
    assert recipe.to_config()["stages"][0]["data"] == {"exchange_words": True}


def test_a_recipe_says_so():
    with pytest.raises(InputError, match="supervision must declare 'data augmentation'"):
        Recipe.from_config({**RECIPE, "supervision": []})
    data = {"exchange_words": True, "fresh": True}
    with pytest.raises(InputError, match="exchange_words needs examples that stay"):
        Recipe.from_config({**RECIPE, "stages": [{"budget": {"epochs": 1, "steps_per_epoch": 2}, "data": data}]})
