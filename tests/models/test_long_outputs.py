"""Outputs of thousands of symbols: right where the task is solved; where a family ends, a sentence before the work."""

import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError

pytestmark = [pytest.mark.once, pytest.mark.slow]


@pytest.mark.parametrize("name, length, least", [("onestep_recopy", 3_600, 10_000), ("waypoint_copy", 5_000, 5_000)])
def test_thousands_of_symbols_are_right(name, length, least):
    model = kzoo.from_preset(name)
    example = kzoo.tasks.get(model.task_name).sample(np.random.default_rng(0), length)
    assert len(example.target) >= least
    assert model.generate([list(example.source)], max_length=len(example.target) + 5) == [" ".join(example.target)]


@pytest.mark.parametrize("name", ["onestep_copy", "abc_addition", "mirrored_incrementer", "ndr_ctl_forward"])
def test_a_source_has_an_end(name):
    model = kzoo.from_preset(name)
    source = [model.preprocessor.tokenizer.tokens[0]] * 10_001
    if name == "abc_addition":
        source[5_000] = "+"
    with pytest.raises(InputError, match="a source has|tokens|digits") as error:
        model.generate([source])
    assert "\n" not in str(error.value)
