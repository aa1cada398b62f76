"""Recipes whose attention is supervised by an alignment: from pairs alone, and the same after a break."""

import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.tasks.base import Split, Task
from kzoo.tasks.copying import ReverseCopy
from kzoo.training import fit
from kzoo.training.recipe import Recipe
from kzoo.training.train import train

CONFIG = {
    "format": 2,
    "task": "reverse_copy",
    "supervision": [],
    "model": {
        "class": "RecurrentSeq2Seq",
        "config": {"attention": "waypoint", "embedding_units": 6, "encoder_units": 4},
    },
    "stages": [
        {
            "data": {"examples": 32, "batch_size": 16},
            "budget": {"epochs": 2},
            "objective": {"attention_supervision": {"from": "alignment", "steps": 5}},
            "selection": {"by": "last"},
        }
    ],
    "evaluation": {"lengths": [5], "examples": 4},
}


def with_stage(**changes):
    return {**CONFIG, "stages": [{**CONFIG["stages"][0], **changes}]}


@pytest.mark.once
def test_it_needs_nothing_declared_and_is_written_as_read():
    recipe = Recipe.from_config(CONFIG)
    assert recipe.supervision == () and recipe.stages[0].objective.learned_alignment.steps == 5
    assert recipe.to_config()["stages"][0]["objective"] == CONFIG["stages"][0]["objective"]
    told = {"attention_supervision": {"from": "alignment", "weight": 0.5}}
    assert Recipe.from_config(with_stage(objective=told)).to_config()["stages"][0]["objective"] == told
    with pytest.raises(InputError, match="supervision must declare 'gold attention'"):
        Recipe.from_config(with_stage(objective={"attention_supervision": 1.0}))


@pytest.mark.once
@pytest.mark.parametrize(
    "changes, sentence",
    [
        ({"objective": {"attention_supervision": {"from": "gold"}}}, "from of attention_supervision"),
        ({"objective": {"attention_supervision": {}}}, "from of attention_supervision"),
        ({"objective": {"attention_supervision": {"from": "alignment", "weight": 0}}}, "the weight of"),
        ({"objective": {"attention_supervision": {"from": "alignment", "step": 3}}}, "did you mean 'steps'"),
        ({"data": {"fresh": True}, "budget": {"epochs": 1, "steps_per_epoch": 2}}, "data may not be fresh"),
    ],
)
def test_what_is_wrong_with_it_is_said(changes, sentence):
    with pytest.raises(InputError, match=sentence):
        Recipe.from_config(with_stage(**changes))


@pytest.mark.once
def test_it_sees_its_own_training_pairs_only(monkeypatch, tmp_path):
    """No gold attention, no grammar, and before the evaluation at the end no example but those it trains on."""

    def refuse(*_, **__):
        raise AssertionError("training from pairs alone asked the task for more")

    drawn, own = [], kzoo.tasks.get("reverse_copy").examples("train", 32)
    monkeypatch.setattr(ReverseCopy, "gold_attention", refuse)
    for name in ("solve", "intermediate", "stratum_examples"):
        monkeypatch.setattr(ReverseCopy, name, refuse)
    monkeypatch.setattr(Task, "examples", lambda self, *args, **options: drawn.append((args, options)) or own)
    monkeypatch.setattr("kzoo.training.train._write", lambda *_: None)
    train(Recipe.from_config(CONFIG), tmp_path / "run")
    assert drawn and all(call == (("train", 32), {}) for call in drawn)
    gold = {**with_stage(objective={"attention_supervision": 1.0}), "supervision": ["gold attention"]}
    with pytest.raises(AssertionError, match="asked the task for more"):
        train(Recipe.from_config(gold), tmp_path / "gold")


@pytest.mark.once
def test_a_broken_run_goes_on_to_the_same_weights(monkeypatch, tmp_path):
    monkeypatch.setitem(ReverseCopy.splits, "test", Split((5, 5), 4))
    whole = train(Recipe.from_config(CONFIG), tmp_path / "whole")

    class Break(fit.Progress):
        def on_epoch_end(self, epoch, logs=None):
            raise RuntimeError("broken")

    with monkeypatch.context() as patch:
        patch.setattr(fit, "Progress", Break)
        with pytest.raises(RuntimeError, match="broken"):
            train(Recipe.from_config(CONFIG), tmp_path / "broken")
    resumed = train(Recipe.from_config(CONFIG), tmp_path / "broken", resume=True)
    assert (resumed / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
