"""What happens between epochs, on made-up scores."""

import keras
import pytest

import kzoo
from kzoo.evaluation.measure import measure
from kzoo.training.callbacks import LengthAccuracy, best_weights, stop_on_non_finite
from kzoo.training.fit import stage_callbacks
from kzoo.training.notes import begin_notes
from kzoo.training.recipe import Recipe


class Optimizer:
    learning_rate = 0.08


class Model:
    def __init__(self):
        self.optimizer, self.stop_training = Optimizer(), False


class Memory:
    """A checkpoint that keeps its notes."""

    def __init__(self, folder):
        self.folder, self.saved, self.best = folder, [], []

    def save_best(self, model, epoch):
        self.best.append(epoch)

    def save(self, model, notes):
        self.saved.append({**notes, "history": list(notes["history"])})


@pytest.fixture
def play(config, tmp_path, monkeypatch):
    """A function that plays epochs with given validation scores, and returns notes, rates, stored epochs and memory."""

    def run(scores, notes=None, logs=None, **changes):
        recipe = Recipe.from_config({**config, "schedule": "constant", "warmup_steps": 0, "watch": [], **changes})
        rates, model, memory = [], Model(), Memory(tmp_path)
        score = lambda model, examples: {"sequence_accuracy": scores[len(rates)]}  # noqa: E731
        monkeypatch.setattr(best_weights, "measure", score)
        monkeypatch.setattr(stop_on_non_finite, "named_variables", lambda model: {})
        notes = notes or begin_notes(recipe, 0, [])
        callbacks = stage_callbacks(recipe, 0, memory, notes)
        for callback in callbacks:
            callback.set_model(model)
        for epoch in range(len(scores)):
            own = dict(logs or {"loss": 1.0})
            for callback in callbacks:
                callback.on_epoch_begin(epoch)
            for callback in callbacks:
                callback.on_epoch_end(epoch, own)
            rates.append(model.optimizer.learning_rate)
            if model.stop_training:
                break
        return notes, rates, memory.best, memory

    return run


def test_the_best_is_kept_and_of_equals_the_latest(play):
    notes, _, stored, _ = play([0.1, 0.5, 0.3, 0.5, 0.4])
    assert stored == [1, 2, 4]
    assert (notes["best"], notes["best_epoch"], notes["epoch"]) == (0.5, 4, 5)
    assert [row["validation_accuracy"] for row in notes["history"]] == [0.1, 0.5, 0.3, 0.5, 0.4]


def test_the_rate_is_halved_at_the_fifth_epoch_without_a_new_best(play):
    # The first epoch is not counted: its score is no best for the others.
    _, rates, _, _ = play([0.9, 0.5, *[0.5] * 5, 0.5, 0.6, *[0.6] * 5], schedule="plateau")
    assert rates == [0.08] * 6 + [0.04] * 7 + [0.02]


def test_without_plateau_the_rate_stays(play):
    assert set(play([0.5] * 12)[1]) == {0.08}


def test_patience_counts_epochs_since_the_best(play):
    notes, rates, _, _ = play([0.1, 0.5, 0.4, 0.4, 0.4, 0.9], patience=3)
    assert len(rates) == 5 and notes["best_epoch"] == 2


def test_notes_are_taken_up_again(play):
    memory = play([0.5, 0.4])[3]
    again, _, stored, _ = play([0.4, 0.6], notes=memory.saved[0])
    assert stored == [2] and len(again["history"]) == 3


def test_numbers_that_are_not_finite_are_noted_as_unknown(play):
    notes, _, _, _ = play([0.5], logs={"loss": 1.0, "accuracy_at_5": float("nan"), "accuracy_at_3": 0.5})
    assert notes["history"][0]["accuracy_at_5"] is None and notes["history"][0]["accuracy_at_3"] == 0.5


def test_length_accuracy_puts_logs(make_model):
    model = make_model()
    callback = LengthAccuracy("recopy", [2, 3], examples=10)
    history = model.fit([("4 7", "4 4 4 7 7 7 7 7")], callbacks=[callback], verbose=0).history
    assert {"accuracy_at_2", "accuracy_at_3"} <= set(history)
    examples = kzoo.tasks.get("recopy").examples("validation", 10, length=3)
    assert history["accuracy_at_3"] == [measure(model, examples)["sequence_accuracy"]]
    assert isinstance(callback, keras.callbacks.Callback)


@pytest.mark.once
def test_a_callback_of_keras_monitors_a_length(make_model):
    stop = keras.callbacks.EarlyStopping("accuracy_at_2", mode="max", patience=1)
    watch = LengthAccuracy("recopy", [2], examples=4)
    data = [("4 7", "4 4 4 7 7 7 7 7")]
    history = make_model().fit(data, epochs=5, callbacks=[watch, stop], verbose=0).history
    assert history["accuracy_at_2"] == [0.0, 0.0] and stop.stopped_epoch == 1
