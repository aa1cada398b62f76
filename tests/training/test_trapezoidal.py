"""The learning rate that falls at the end."""

import keras
import numpy as np
import pytest

import kzoo
from kzoo.training.optimizers import Trapezoidal
from kzoo.training.recipe import Recipe
from kzoo.training.train import train


def test_docstring_example(run_examples):
    run_examples(Trapezoidal, Trapezoidal=Trapezoidal)


def test_it_stays_and_then_falls_to_nothing_over_the_last_fifth():
    rates = [float(Trapezoidal(0.5, 100)(k)) for k in range(102)]
    np.testing.assert_allclose(rates[:81], 0.5)
    np.testing.assert_allclose(rates[80:101], np.linspace(0.5, 0, 21), atol=1e-7)
    assert rates[101] == 0


def test_the_rate_of_one_step_and_of_a_copy():
    assert float(Trapezoidal(0.5, 1)(0)) == 0.5
    rate = Trapezoidal(0.5, 100, warmup_steps=10)
    again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(rate))
    assert [float(again(k)) for k in (0, 4, 50, 95)] == pytest.approx([0.05, 0.25, 0.5, 0.125])


@pytest.mark.slow
@pytest.mark.once
def test_until_it_falls_it_trains_as_a_constant_rate_does(config, tmp_path):
    config |= {"epochs": 5, "selection": "last", "warmup_steps": 0, "watch": []}
    losses = []
    for schedule in ("constant", "trapezoidal"):
        folder = train(Recipe.from_config(config | {"schedule": schedule}), tmp_path / schedule)
        (run,) = kzoo.preset_info(folder)["results"]["training"]
        losses.append([row["loss"] for row in run["history"]])
    assert losses[0][:4] == losses[1][:4] and losses[0][4] != losses[1][4]
