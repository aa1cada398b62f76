"""Odd inputs to `generate`, `evaluate` and the command: an answer, or one sentence."""

import contextlib
import io
import os
import random
from typing import Any

import numpy as np

import kzoo
from kzoo.cli.main import main
from kzoo.errors import KzooError
from tests.chaos.forks import DONE
from tests.chaos.forks import forked as run
from tests.chaos.place import Attack, Place, Tried

BATCH = 12  # inputs a process
ODD: list[Any] = [None, True, 0, -1, 5, 2.5, 10**30, float("nan"), float("inf"), "", " ", "1+2", "1+", "x" * 50, "é"]
ODD += ["\x1b[2J", "\u202e", "\ud800", "1" * 20_000, b"1+2", [], ["1+2"], ["1+2", None], [["1", "+"]], [[]], [5], {}]
ODD += [{"1+2": 1}, {"1+2"}, ("1+2", "3+4"), object, np.int64(3), np.array("1+2"), np.array(["1+2", "3+4"])]
ODD += [np.zeros((2, 2)), np.array([]), range(3), range(0), iter(["1+2"]), [3, 4], [0], [-1], [10**9], [True], [None]]
WORDS = [
    "0",
    "-1",
    "3",
    "1:5:2",
    "1:9999999999:1",
    "5:1:1",
    "a,b",
    ",",
    "nan",
    "1e9",
    "~nouser/x",
    "../..",
    "/dev/null",
]
WORDS += ["hf://", "hf://a/b@..", "$\\frac$", "\x1b[31m", "\u202e", "", "--json", "--lengths", "--examples", "--steps"]
WORDS += ["--output", "--seed", "--max-length", "--resume", "addition", "recopy", "onestep_recopy", "1+2", "--write"]
VERBS = ["list", "info", "generate", "evaluate", "train", "export", "card", "data", "results", "plot", "doctor", "nope"]


def calls(place: Place, rng: random.Random) -> Attack:
    """Odd values as arguments of `generate` and `evaluate`."""
    while True:
        chosen = [(rng.random() < 0.6, rng.randrange(len(ODD)), rng.random() < 0.3) for _ in range(BATCH)]
        ended = run(lambda chosen=chosen: _try_calls(place, chosen))
        yield Tried(BATCH, ended.value if ended.how == DONE else [f"{chosen}: {ended.value}"])


def _try_calls(place: Place, chosen: list[tuple[bool, int, bool]]) -> list[str]:
    model, failures = kzoo.from_preset(place.preset), []
    for generates, index, other in chosen:
        value = ODD[index]
        if generates:
            label, call = "generate", lambda value=value, other=other: _generate(model, value, other)
        else:
            label, call = "evaluate", lambda value=value, other=other: _evaluate(model, value, other)
        try:
            call()
        except KzooError as error:
            if "\n" in str(error) or len(str(error)) > 1500:
                failures.append(f"{label} of {value!r:.60}: {error!s:.200}")
        except Exception as error:
            failures.append(
                f"{label} of {value!r:.60}{' as its limit' if other else ''}: {type(error).__name__}: {error}"
            )
    return failures


def _generate(model: Any, value: Any, as_limit: bool) -> None:
    model.generate("1+2", max_length=value) if as_limit else model.generate(value, max_length=4)


def _evaluate(model: Any, value: Any, as_limit: bool) -> None:
    more = {"lengths": [3], "examples": value} if as_limit else {"lengths": value, "examples": 2}
    kzoo.evaluate(model, **more)


def commands(place: Place, rng: random.Random) -> Attack:
    """Odd command lines: exit code 0, 1 or 2, and no traceback."""
    while True:
        place.fresh()
        lines = [_line(place, rng) for _ in range(BATCH)]
        ended = run(lambda lines=lines: _try_commands(place, lines))
        yield Tried(BATCH, ended.value if ended.how == DONE else [f"{lines}: {ended.value}"])


def _try_commands(place: Place, lines: list[list[str]]) -> list[str]:
    os.chdir(place.fresh().parent)
    return [told for line in lines if (told := _try_command(line))]


def _line(place: Place, rng: random.Random) -> list[str]:
    verb = rng.choice(VERBS)
    words = [rng.choice([*WORDS, str(place.preset)]) for _ in range(rng.randrange(5))]
    safe = {
        "train": ["--resume", "--output", "/dev/null/x"],
        "evaluate": ["--examples", "2"],
        "data": ["--examples", "2"],
    }
    safe |= {
        "export": ["--output", "/dev/null/x"],
        "card": ["--output", "/dev/null/x"],
        "plot": ["--output", "/dev/null/x.png"],
    }
    words = [word for word in words if word not in ("--write", "--output")]  # nothing is written outside the place
    return [verb, *words, *safe.get(verb, [])]


def _try_command(line: list[str]) -> str | None:
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            code = main(line)
    except SystemExit as error:
        code = error.code
    except Exception as error:
        return f"kzoo {line!r:.200}: {type(error).__name__}: {error!s:.200}"
    fine = code in (0, 1, 2, None) and "Traceback" not in said.getvalue()
    return None if fine else f"kzoo {line!r:.200}: code {code}, {said.getvalue()[-200:]}"
