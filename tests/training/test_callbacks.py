"""What happens between epochs, on made-up scores."""

import keras
import pytest

import kzoo
from kzoo.training import callbacks
from kzoo.training.callbacks import Bookkeeper, LengthAccuracy
from kzoo.training.fit import begin_notes
from kzoo.training.recipe import Recipe


class Optimizer:
    learning_rate = 0.08


class Model:
    def __init__(self):
        self.optimizer, self.stop_training = Optimizer(), False


class Memory:
    """A checkpoint that keeps its notes."""

    def __init__(self, folder):
        self.folder, self.saved = folder, []

    def save(self, model, notes):
        self.saved.append({**notes, "history": list(notes["history"])})


@pytest.fixture
def play(config, tmp_path, monkeypatch):
    """A function that plays epochs with given validation scores, and returns bookkeeper, rates and stored epochs."""

    def run(scores, notes=None, logs=None, **changes):
        recipe = Recipe.from_config({**config, "schedule": "constant", "warmup_steps": 0, **changes})
        stored, rates, model = [], [], Model()
        monkeypatch.setattr(callbacks, "save_weights", lambda model, path: stored.append(len(rates) + 1))
        monkeypatch.setattr(callbacks, "measure", lambda model, examples: {"sequence_accuracy": examples[len(rates)]})
        keeper = Bookkeeper(recipe.stages[0], Memory(tmp_path), notes or begin_notes(recipe, 0, []), scores)
        keeper.set_model(model)
        for epoch in range(len(scores)):
            keeper.on_epoch_begin(epoch)
            keeper.on_epoch_end(epoch, logs or {"loss": 1.0})
            rates.append(model.optimizer.learning_rate)
            if model.stop_training:
                break
        return keeper, rates, stored

    return run


def test_the_best_is_kept_and_of_equals_the_latest(play):
    keeper, _, stored = play([0.1, 0.5, 0.3, 0.5, 0.4])
    assert stored == [1, 2, 4]
    assert (keeper.notes["best"], keeper.notes["best_epoch"], keeper.notes["epoch"]) == (0.5, 4, 5)
    assert [row["validation_accuracy"] for row in keeper.notes["history"]] == [0.1, 0.5, 0.3, 0.5, 0.4]


def test_the_rate_is_halved_at_the_fifth_epoch_without_a_new_best(play):
    # The first epoch is not counted: its score is no best for the others.
    _, rates, _ = play([0.9, 0.5, *[0.5] * 5, 0.5, 0.6, *[0.6] * 5], schedule="plateau")
    assert rates == [0.08] * 6 + [0.04] * 7 + [0.02]


def test_without_plateau_the_rate_stays(play):
    assert set(play([0.5] * 12)[1]) == {0.08}


def test_patience_counts_epochs_since_the_best(play):
    keeper, rates, _ = play([0.1, 0.5, 0.4, 0.4, 0.4, 0.9], patience=3)
    assert len(rates) == 5 and keeper.notes["best_epoch"] == 2


def test_notes_are_taken_up_again(play):
    keeper, _, _ = play([0.5, 0.4])
    again, _, stored = play([0.4, 0.6], notes=keeper.checkpoint.saved[0])
    assert stored == [2] and len(again.notes["history"]) == 3


def test_numbers_that_are_not_finite_are_noted_as_unknown(play):
    keeper, _, _ = play([0.5], logs={"loss": float("nan"), "accuracy_at_3": 0.5})
    assert keeper.notes["history"][0]["loss"] is None and keeper.notes["history"][0]["accuracy_at_3"] == 0.5


def test_length_accuracy_puts_logs(make_model):
    model = make_model()
    callback = LengthAccuracy("recopy", [2, 3], examples=10)
    history = model.fit([("4 7", "4 4 4 7 7 7 7 7")], callbacks=[callback], verbose=0).history
    assert {"accuracy_at_2", "accuracy_at_3"} <= set(history)
    examples = kzoo.tasks.get("recopy").examples("validation", 10, length=3)
    assert history["accuracy_at_3"] == [callbacks.measure(model, examples)["sequence_accuracy"]]
    assert isinstance(callback, keras.callbacks.Callback)
