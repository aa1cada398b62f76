"""Attacks on presets: kills and a full disk while one is replaced, many writers at once, and damaged files."""

import os
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import kzoo
from kzoo.cards.card import render_card
from kzoo.evaluation.results import add_results
from kzoo.saving.files import read_json
from tests.chaos.forks import DONE, FAILED, KILLED, REFUSED, Fork, Trap, forked
from tests.chaos.mutations import Damaged, assert_holds, attempt, mutate_json, mutate_weights
from tests.chaos.place import Attack, Place, Tried, left_behind, not_whole, tried

BATCH = 10  # damaged presets a process
JSON = ["config.json"] * 3 + ["tokenizer.json", "metadata.json", "results.json", "recipe.json"]


def kills(place: Place, rng: random.Random) -> Attack:
    """A save over a preset, or of results, is killed at a file operation: the preset is the old or the new one."""
    yield from _broken_off(place, rng, full=False)


def full_disk(place: Place, rng: random.Random) -> Attack:
    """The disk is full from a file operation of a save on: the preset is the old or the new one, alone."""
    yield from _broken_off(place, rng, full=True)


def _broken_off(place: Place, rng: random.Random, full: bool) -> Attack:
    new, old = place.unbroken(0)[0], place.unbroken(1)[0]
    preset, other = place.preset, place.folder / "unbroken-1" / "tiny"
    more = {**read_json(preset / "results.json"), "training": []}

    def save(output: Path) -> None:
        kzoo.from_preset(preset).save_to_preset(output)

    def write(output: Path) -> None:
        add_results(output, more)

    cases = []
    for name, action in (("save", save), ("results", write)):
        output = Path(shutil.copytree(other, place.fresh()))
        count = forked(lambda action=action, output=output: action(output), Trap(output.parent)).operations
        cases += [(name, action, at) for at in range(count)]
    for name, action, at in rng.sample(cases, len(cases)):
        output = Path(shutil.copytree(other, place.fresh()))
        ended = forked(lambda action=action, output=output: action(output), Trap(output.parent, at, full))
        found = [None if ended.how in ((DONE, FAILED, REFUSED) if full else (KILLED,)) else str(ended)]
        found.append(not_whole(output, old, new))
        if not full:  # the next save removes what this one left
            again = forked(lambda action=action, output=output: action(output))
            found += [None if again.how == DONE else str(again), not_whole(output, old, new)]
        found.append(left_behind(output))
        yield tried(*(f"{name}, operation {at}: {what}" if what else None for what in found))


def writers(place: Place, rng: random.Random) -> Attack:
    """Four processes add results to one preset at once: no row is lost."""
    document = read_json(place.preset / "results.json")
    row = document["rows"][0]
    while True:
        output = Path(shutil.copytree(place.preset, place.fresh()))
        first = rng.randrange(1, 10**6)

        parts = [range(first + 5 * k, first + 5 * k + 5) for k in range(4)]
        forks = [Fork(partial(_write, output, row, part)) for part in parts]
        ended = [fork.wait() for fork in forks]
        seeds = {row["seed"] for row in read_json(output / "results.json")["rows"]}
        lost = set(range(first, first + 20)) - seeds
        yield tried(
            f"{len(lost)} rows of seeds from {first} are lost" if lost else None,
            *(None if outcome.how == DONE else str(outcome) for outcome in ended),
            not_whole(output, place.unbroken()[0]),
            left_behind(output),
        )


def _write(output: Path, row: dict[str, Any], seeds: range) -> None:
    for seed in seeds:
        add_results(output, {"training": [], "rows": [{**row, "seed": seed}]})


def damaged(place: Place, rng: random.Random) -> Attack:
    """A file of a preset is mutated, cut, or no file: it is refused, or the model has exactly what the files say."""
    while True:
        numbers = [rng.randrange(10**9) for _ in range(BATCH)]
        copy = place.fresh()
        ended = forked(lambda copy=copy, numbers=numbers: _try_damaged(Damaged(place.preset, copy), numbers))
        yield Tried(BATCH, ended.value if ended.how == DONE else [f"{numbers}: {ended.value}"])


def _try_damaged(preset: Damaged, numbers: list[int]) -> list[str]:
    return [found for number in numbers if (found := _failure(lambda number=number: _damage(preset, number)))]


def _failure(call: Callable[[], object]) -> str | None:
    try:
        call()
    except AssertionError as error:
        return str(error).replace("\n", " ")[:300]
    return None


def _damage(preset: Damaged, number: int) -> None:
    rng = random.Random(number)
    kind = rng.randrange(8)
    name = "model.safetensors" if kind < 3 else rng.choice(JSON)
    label, folder = f"{name} of mutation {number}", preset.folder
    if kind == 7:
        (folder / name).unlink()
        _no_file(rng, folder / name)
    else:
        mutate = mutate_weights if name == "model.safetensors" else mutate_json
        preset(name, mutate(rng, preset.whole[name]), described=rng.random() < 0.8)
    model = attempt(label, lambda: kzoo.from_preset(folder))
    attempt(label, lambda: kzoo.preset_info(folder))
    attempt(label, lambda: render_card(folder))
    if model is not None and kind != 7:
        assert_holds(model, (folder / "model.safetensors").read_bytes(), label)
        attempt(label, lambda: model.generate("1+2", max_length=3))
    if kind == 7:
        _remove(folder / name)
        preset(name, preset.whole[name])


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def _no_file(rng: random.Random, path: Path) -> None:
    """Makes something that is no regular file of a preset, an empty file, or nothing."""
    kind = rng.randrange(7)
    if kind == 0:
        os.mkfifo(path)
    elif kind == 1:
        path.mkdir()
    elif kind < 5:
        path.symlink_to(("/dev/zero", path.name, path.parent / "no")[kind - 2])
    elif kind == 5:
        path.touch()
