"""Attacks on a training: kills, a full disk, damaged checkpoints, and two of them in one folder."""

import os
import random

from kzoo.saving.files import read_json
from kzoo.training.train import train
from tests.chaos.forks import BROKE, DONE, FAILED, KILLED, REFUSED, Fork, Outcome, Trap, forked
from tests.chaos.mutations import mutate_bytes, mutate_json
from tests.chaos.place import Attack, Place, left_behind, not_whole, tried


def kills(place: Place, rng: random.Random) -> Attack:
    """A training is killed at a file operation, and resumed to the same weights."""
    weights, operations = place.unbroken()
    for at in rng.sample(range(operations), operations):
        output = place.fresh()
        ended = forked(lambda output=output: str(train(place.recipe(), output)), Trap(output.parent, at))
        found = [f"operation {at}: {ended}" if ended.how != KILLED else None]
        if output.exists():
            found.append(not_whole(output, weights))
        yield tried(*found, *_resumed(place, output, weights, f"killed at operation {at}"))


def full_disk(place: Place, rng: random.Random) -> Attack:
    """The disk is full from a file operation of a training on; with space again it is resumed to the same weights."""
    weights, operations = place.unbroken()
    for at in rng.sample(range(operations), operations):
        output = place.fresh()
        ended = forked(lambda output=output: str(train(place.recipe(), output)), Trap(output.parent, at, full=True))
        label = f"full at operation {at}"
        yield tried(_is_told(ended, label), *_resumed(place, output, weights, label))


def damaged_checkpoints(place: Place, rng: random.Random) -> Attack:
    """A file of a killed training's checkpoint is damaged: it is refused, or the weights are the same."""
    weights, operations = place.unbroken()
    while True:
        output, at = place.fresh(), rng.randrange(operations // 2, operations)
        forked(lambda output=output: str(train(place.recipe(), output)), Trap(output.parent, at))
        files = sorted(path for path in output.parent.glob("tiny.training/*") if not path.name.startswith("."))
        if not files or output.exists():
            continue
        path = rng.choice(files)
        content, kind = path.read_bytes(), rng.randrange(4)
        path.unlink()
        if kind == 0:
            os.mkfifo(path)
        elif kind < 3:
            mutate = mutate_json if path.suffix == ".json" else mutate_bytes
            path.write_bytes(mutate(rng, content) if content else b"x")
        label = f"killed at operation {at}, {path.name} {('a FIFO', 'damaged', 'damaged', 'removed')[kind]}"
        ended = forked(lambda output=output: str(train(place.recipe(), output, resume=True)))
        yield tried(not_whole(output, weights) if ended.how == DONE else _is_told(ended, label))


def rivals(place: Place, rng: random.Random) -> Attack:
    """Two trainings write to one folder: one says that it succeeded, and all of the preset is of that one."""
    while True:
        output, seeds = place.fresh(), (0, rng.randrange(2))
        whole = {seed: place.unbroken(seed)[0] for seed in seeds}
        forks = [Fork(lambda seed=seed, output=output: str(train(place.recipe(seed), output))) for seed in seeds]
        ended = [fork.wait() for fork in forks]
        label = f"seeds {seeds}"
        count = [outcome.how for outcome in ended].count(DONE)
        winner = read_json(output / "recipe.json").get("seed", 0) if output.exists() else 0
        yield tried(
            f"{label}: {count} of 2 said that they succeeded" if count != 1 else None,
            *(_is_told(outcome, label) for outcome in ended),
            not_whole(output, whole[winner]),
            left_behind(output),
        )


def _resumed(place: Place, output: object, weights: bytes, label: str) -> list[str | None]:
    ended = forked(lambda: str(train(place.recipe(), output, resume=True)))
    if ended.how != DONE:
        return [f"{label}: the resume {ended.how}: {ended.value}"]
    return [f"{label}: {found}" if found else None for found in (not_whole(output, weights), left_behind(output))]


def _is_told(ended: Outcome, label: str) -> str | None:
    """Returns what is wrong with an end that may be a success, or one sentence."""
    if ended.how in (REFUSED, FAILED):
        return None if str(ended.value) and "\n" not in str(ended.value) else f"{label}: said {ended.value!r}"
    return f"{label}: {ended.value}" if ended.how in (BROKE, KILLED) else None
