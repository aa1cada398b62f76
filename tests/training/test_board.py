"""The comparison of newer mechanisms on newer tasks: its recipes."""

import numpy as np
import pytest
from keras import ops

from kzoo import tasks
from kzoo.cards import protocol
from kzoo.errors import InputError
from kzoo.training import board
from kzoo.training.build import build


def test_there_are_twenty_mechanisms_and_fourteen_tasks():
    assert len(set(board.MECHANISMS)) == len(board.MECHANISMS) >= 20 and len(set(board.TASKS)) == 14
    pairs = board.pairs()
    assert len(set(pairs)) == len(pairs)
    assert ("stack", "parity_check") in pairs and ("stack", "copy") not in pairs
    assert {task for m, task in pairs if m == "delta"} == set(board.TASKS)
    assert {task for m, task in pairs if m == "looped"} == {task for m, task in pairs if m == "lstm"}
    assert [task for m, task in pairs if m == "coupled"] == ["sum_digits"]
    assert {task for m, task in pairs if m == "path_tagger"} == set(board.TAGGED) < set(board.TASKS)
    for writer in ("neural_gpu_tagger", *board.BEHIND):
        assert {task for m, task in pairs if m == writer} == {*board.TAGGED, *board.WRITTEN} < set(board.TASKS)


@pytest.mark.once
def test_every_recipe_keeps_to_the_protocol():
    for mechanism, task in board.pairs():
        recipe = board.recipe(mechanism, task)
        (stage,) = recipe.stages
        steps = stage.budget.epochs * stage.budget.steps_per_epoch
        run = {"steps": steps, "examples_seen": steps * stage.data.batch_size}
        assert protocol.breaches(recipe, training=[run]) == [] and protocol.tags(recipe) == recipe.supervision
        assert recipe.supervision == (("built-in alignment",) if mechanism == "coupled" else ())
        assert (recipe.mechanism, recipe.task) == (mechanism, task)
        curriculum = stage.data.curriculum
        assert bool(curriculum) == (task in board.SHORT_FIRST) and list(curriculum) == sorted(curriculum)
        assert not curriculum or (curriculum[0], curriculum[-1]) == tasks.get(task).splits["train"].lengths
        scored = protocol.scored_lengths(tasks.get(task))
        assert scored and set(scored) < set(recipe.evaluation["lengths"])
        assert bool(recipe.layout.get("behind")) == (mechanism in board.BEHIND and task in board.WRITTEN)


@pytest.mark.parametrize("mechanism", board.MECHANISMS)
def test_every_mechanism_answers(mechanism):
    task = "mqar" if mechanism in board.TAGGERS else "flip_flop"
    model = build(board.recipe(mechanism, task))
    assert model.count_params() <= protocol.PARAMETERS
    x, *_ = model.preprocessor(tasks.get(task).examples("train", 3))
    assert np.isfinite(ops.convert_to_numpy(model(x))).all()


def test_others_are_refused():
    with pytest.raises(InputError, match="the comparison has no mechanism 'onestep'"):
        board.recipe("onestep", "copy")
