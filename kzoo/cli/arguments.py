"""What the verbs of the command take."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from kzoo.errors import InputError
from kzoo.saving import catalogue

PRESET = "a name, a folder, or hf://owner/name[@revision]"
PRESETS = 'names, as "onestep_*", folders, or hf://owner/name[@revision]'
MOST = 1_000  # lengths


def preset_argument(sub: argparse.ArgumentParser, count: str | None = None) -> None:
    """Adds the preset that a verb builds, or several, and the budget to build it within."""
    if count is None:
        sub.add_argument("preset", help=PRESET)
    else:
        sub.add_argument("presets", nargs=count, metavar="PRESET", help=PRESET)
    sub.add_argument(
        "--budget",
        type=float,
        default=1.0,
        help="how many times the usual limits on size and memory a preset may have (default: 1)",
    )


def import_argument(sub: argparse.ArgumentParser) -> None:
    """Adds the files of a user's own that a verb runs first."""
    sub.add_argument(
        "--import",
        dest="imports",
        action="append",
        type=Path,
        metavar="FILE",
        help="first run a Python file of your own that registers mechanisms or tasks",
    )


def bundled_by_pattern(presets: Sequence[str]) -> list[str]:
    """Returns the presets, each pattern as "onestep_*" replaced by the bundled presets and recorded runs that have it.

    Raises:
        InputError: none has it.
    """
    found: dict[str, None] = {}
    for preset in presets:
        is_pattern = "*" in preset or "?" in preset
        own = catalogue.names_of(catalogue.PRESET, catalogue.RUN, pattern=preset) if is_pattern else [preset]
        if not own:
            raise InputError(f"no bundled preset or recorded run is called {preset!r:.100}")
        found.update(dict.fromkeys(own))
    return list(found)


def lengths(text: str) -> list[int]:
    """Returns the lengths of "15,30,100", or of "10:100:10", both ends included."""
    try:
        if ":" in text:
            first, last, step = (int(part) for part in text.split(":"))
            found = range(first, last + 1, step)
            if len(found) > MOST:
                raise argparse.ArgumentTypeError(
                    f"{text!r} are {len(found):,} lengths, and at most {MOST:,} are measured"
                )
            lengths = list(found)
        else:
            lengths = [int(part) for part in text.split(",")]
    except ValueError:
        lengths = []
    if not lengths:
        raise argparse.ArgumentTypeError(f"{text!r} is neither like 15,30,100 nor like 10:100:10")
    return lengths


def words(text: str) -> list[str]:
    """Returns the words of "onestep,content"."""
    return [word for word in text.split(",") if word]


def numbers(text: str) -> list[int]:
    """Returns the numbers of "0,1,2"."""
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not like 0,1,2") from None
