"""The errors are sentences."""

import numpy as np
import pytest

from kzoo.errors import BackendError, InputError, KzooError, PresetError, UnknownNameError, did_you_mean
from kzoo.layers.attention.attention_cell import AttentionCell


@pytest.mark.parametrize("error", [InputError, UnknownNameError, PresetError, BackendError])
def test_an_error_prints_as_its_sentence(error):
    assert issubclass(error, KzooError)
    assert str(error("no such thing")) == "no such thing"


def test_did_you_mean():
    assert (
        did_you_mean("preset", "onestp", ["onestep", "monotonic"]) == "unknown preset 'onestp'; did you mean 'onestep'?"
    )
    assert did_you_mean("preset", "zzz", ["b", "a"]) == "unknown preset 'zzz'; known are: a, b"
    assert did_you_mean("preset", "zzz", []) == "unknown preset 'zzz'; known are: none"


def test_a_mechanism_that_is_not_finished_says_which_method_it_lacks():
    class Nearest(AttentionCell):
        def build_weights(self, query_shape, memory_shape):
            pass

    cell = Nearest(units=4)
    cell.build((2, 4), (2, 5, 4))
    prepared = cell.prepare(np.ones((2, 5, 4), "float32"), np.ones((2, 5), bool))
    with pytest.raises(NotImplementedError, match="Nearest needs a method weigh"):
        cell(np.ones((2, 4), "float32"), prepared, cell.get_initial_state(prepared))
