"""The constructed incrementer: right on every number, by the weights that its docstring names."""

import keras
import numpy as np
import pytest

import kzoo
from kzoo.models.constructed_incrementer import incrementer_weights
from kzoo.saving.weights import named_variables


@pytest.fixture(scope="module")
def model():
    return kzoo.models.construct_incrementer()


def wrong(model, numbers):
    """Returns the numbers that are not written plus one."""
    texts = [str(number) for number in numbers]
    return [text for text, output in zip(texts, model.generate(texts), strict=True) if output != str(int(text) + 1)]


def test_every_number_below_five_hundred(model):
    assert not wrong(model, range(1, 500))


def test_long_numbers(model):
    task, rng = kzoo.tasks.get("incrementer"), np.random.default_rng(0)
    numbers = ["".join(task.sample(rng, 100).source) for _ in range(4)]
    numbers += [f"{number[: 100 - nines]}{'9' * nines}" for number in numbers for nines in (1, 50)]
    assert not wrong(model, [*numbers, "9" * 100, "1" + "0" * 99])


def test_the_preset_holds_the_construction(model):
    preset = kzoo.from_preset("constructed_incrementer")
    assert preset.get_config() | {"name": ""} == model.get_config() | {"name": ""}
    for name, variable in named_variables(model).items():
        found = keras.ops.convert_to_numpy(named_variables(preset)[name].value)
        np.testing.assert_array_equal(keras.ops.convert_to_numpy(variable.value), found, err_msg=name)


@pytest.mark.once
def test_what_the_heads_look_at(model):
    """129 is written 0 3 1: each head finds its place, or the delimiter."""
    weights = np.asarray(model.trace("129")["weights"])[0, :, 3:]  # block, head, query from the delimiter on, key
    assert weights.argmax(-1).tolist() == [[2, 1, 0, 3], [3, 2, 1, 0]] and weights.max(-1).min() > 1 - 1e-6


@pytest.mark.once
@pytest.mark.parametrize("part", ["attention.key.kernel", "feed_forward.outer.kernel"])
def test_each_part_is_needed(part):
    """Without the look at the delimiter no number ends, without the carry none grows."""
    model, name = kzoo.models.construct_incrementer(), f"blocks.0.{part}"
    assert np.any(incrementer_weights()[name])
    named_variables(model)[name].assign(np.zeros_like(incrementer_weights()[name]))
    assert len(wrong(model, range(1, 10))) >= 8
