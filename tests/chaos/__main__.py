"""`python -m tests.chaos`: attacks, and a table of what was tried and what held.

The exit status is 1 if anything did not hold.

--seconds N   how long, about (default: 120); what is under way is finished
--seed N      which cases (default: 0); the same seed tries the same cases in the same order
--only WORD   only attacks with this word in their name
"""

import argparse
import importlib
import random
import sys
import tempfile
import time
from pathlib import Path

import tests.conftest  # noqa: F401 - no network, few threads
from kzoo.backend import ensure_backend
from kzoo.evaluation.report import text_table
from tests.chaos.place import Place, Tried

# What it is called: module, function, and its share of the time.
ATTACKS = {
    "training killed at a file operation, resumed to equal weights": ("training", "kills", 4),
    "disk full during a training, resumed to equal weights": ("training", "full_disk", 3),
    "damaged checkpoint refused, or resumed to equal weights": ("training", "damaged_checkpoints", 2),
    "two trainings into one folder: one succeeds": ("training", "rivals", 1),
    "save killed at a file operation: old or new preset": ("saving", "kills", 2),
    "disk full during a save: old or new preset": ("saving", "full_disk", 2),
    "four processes write results: no row lost": ("saving", "writers", 1),
    "damaged preset refused, or loaded as its files say": ("saving", "damaged", 3),
    "costly preset: refused, or built within 1 GiB and 10 s": ("costs", "costs", 2),
    "odd input to generate or evaluate: an answer or a sentence": ("inputs", "calls", 2),
    "odd argument of a public function: an answer or a sentence": ("functions", "functions", 2),
    "odd command line: an answer or a sentence": ("inputs", "commands", 2),
}


def attack(module: str, name: str, place: Place, rng: random.Random, seconds: float) -> Tried:
    """Makes the cases of one attack until the time is up, at least one; returns how many, and what did not hold."""
    count, failures, end = 0, [], time.monotonic() + seconds
    for tried in getattr(importlib.import_module(f"tests.chaos.{module}"), name)(place, rng):
        count += tried.count
        failures += tried.failures
        if time.monotonic() > end:
            break
    return Tried(count, failures)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m tests.chaos", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", metavar="WORD")
    options = parser.parse_args(arguments)
    chosen = {what: attack for what, attack in ATTACKS.items() if options.only in what}
    if not chosen:
        parser.error(f"no attack has {options.only!r} in its name: {'; '.join(ATTACKS)}")
    backend, started, rows, failures = ensure_backend(), time.monotonic(), [], []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = Place(Path(folder))
        place.unbroken(0), place.unbroken(1)
        for what, (module, name, share) in chosen.items():
            left = max(0.0, started + options.seconds - time.monotonic())
            rest = [other[2] for other in list(chosen.values())[len(rows) :]]
            found = attack(module, name, place, random.Random(options.seed), left * share / sum(rest))
            rows.append([what, str(found.count), str(found.count - len(found.failures))])
            failures += found.failures
    print(text_table(["attack", "tried", "held"], rows))
    for failure in failures:
        print(f"did not hold: {failure}")
    seconds = time.monotonic() - started
    print(f"{backend}, seed {options.seed}, {seconds:.0f} s: {len(failures)} did not hold")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
