"""`python -m tests.chaos` tries every attack for a moment; and tells what does not hold."""

import random
import re

import pytest

from tests.chaos import __main__ as chaos
from tests.chaos.place import Place, tried


@pytest.mark.once
@pytest.mark.slow
def test_it_holds(python):
    done = python(
        "from tests.chaos.__main__ import main; sys.exit(main(['--seconds', '1', '--seed', '1']))", timeout=280
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for what in chaos.ATTACKS:
        count, held = map(int, re.search(rf"{re.escape(what)} +(\d+) +(\d+)", done.stdout).groups())
        assert count == held > 0


@pytest.mark.once
def test_what_does_not_hold_is_told(monkeypatch, capsys, tmp_path):
    def broken(place, rng):
        yield tried(None)
        yield tried("it broke", None)

    monkeypatch.setattr(Place, "unbroken", lambda place, seed: (b"", 0))
    monkeypatch.setattr("tests.chaos.inputs.calls", broken)
    assert chaos.attack("inputs", "calls", Place(tmp_path), random.Random(0), 1e9) == (2, ["it broke"])
    monkeypatch.setattr(chaos, "attack", lambda *arguments: chaos.Tried(2, ["it broke"]))
    assert chaos.main(["--only", "odd input"]) == 1
    told = capsys.readouterr().out
    assert "did not hold: it broke" in told and re.search(r"a sentence +2 +1\n", told)
    with pytest.raises(SystemExit):
        chaos.main(["--only", "nothing like this"])
