"""Where attacks are made: a folder, a small training with its unbroken result, and what has to hold."""

import shutil
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from kzoo.saving.preset import Preset
from kzoo.training.recipe import Recipe
from kzoo.training.train import train
from tests.chaos.forks import DONE, Trap, forked

STAGE = {"data": {"examples": 16, "batch_size": 8}, "selection": {"examples": 4}}
CONFIG = {
    "format": 2,
    "task": "addition",
    "task_version": 1,
    "mechanism": "none",
    "supervision": [],
    "model": {"class": "TransformerSeq2Seq", "config": {"units": 4, "heads": 1, "hidden_units": 4, "layers": 1}},
    "stages": [{**STAGE, "budget": {"epochs": 1}}, {**STAGE, "budget": {"epochs": 2}}],
    "evaluation": {"lengths": [3], "examples": 4},
}


class Tried(NamedTuple):
    """How many cases an attack tried, and those that did not hold, a sentence each."""

    count: int
    failures: list[str]


Attack = Iterator[Tried]


def tried(*failures: str | None) -> Tried:
    """Returns one case, with what did not hold in it."""
    found = [failure for failure in failures if failure]
    return Tried(1, ["; ".join(found)] if found else [])


class Place:
    """A folder for attacks.

    Args:
        folder: Path.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self._whole = folder, {}

    def recipe(self, seed: int = 0) -> Recipe:
        """Returns the recipe of the small training."""
        return Recipe.from_config({**CONFIG, "seed": seed})

    def fresh(self) -> Path:
        """Returns the path of an output in an empty folder."""
        folder = self.folder / "try"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder / "tiny"

    def unbroken(self, seed: int = 0) -> tuple[bytes, int]:
        """Returns the weights that the training ends with, and how many file operations it makes."""
        if seed not in self._whole:
            output = self.folder / f"unbroken-{seed}" / "tiny"
            output.parent.mkdir(parents=True)
            done = forked(lambda: str(train(self.recipe(seed), output)), Trap(output.parent))
            assert done.how == DONE, done.value
            self._whole[seed] = (output / "model.safetensors").read_bytes(), done.operations
        return self._whole[seed]

    @cached_property
    def preset(self) -> Path:
        """Path. The preset of the unbroken training; read only."""
        self.unbroken()
        return self.folder / "unbroken-0" / "tiny"


def not_whole(output: Path, *allowed: bytes) -> str | None:
    """Returns what is wrong with a preset: its files do not agree, or its weights are none of these."""
    try:
        Preset(output, output.name).verify()
    except ValueError as error:
        return f"the preset is not whole: {error}"
    return None if (output / "model.safetensors").read_bytes() in allowed else "the preset has other weights"


def left_behind(output: Path) -> str | None:
    """Returns what stands beside an output that should stand alone."""
    others = sorted(path.name for path in output.parent.iterdir() if path != output)
    return f"left behind: {', '.join(others)}" if others else None
