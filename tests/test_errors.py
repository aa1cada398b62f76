"""The errors are sentences."""

import pytest

from kzoo.errors import BackendError, InputError, KzooError, PresetError, UnknownNameError, did_you_mean


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
