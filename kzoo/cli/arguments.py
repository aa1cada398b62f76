"""What the verbs of the command take."""

import argparse
import importlib.util
import sys
from pathlib import Path
from typing import Any

from kzoo.errors import InputError

PRESET = "a name, a folder, or hf://owner/name[@revision]"
MOST = 1_000  # lengths


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


def import_file(path: Path) -> None:
    """Runs a Python file, as one that registers mechanisms or tasks.

    Raises:
        InputError: it is not there, or fails.
    """
    if not path.is_file():
        raise InputError(f"--import: there is no file {path}")
    spec: Any = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None:
        raise InputError(f"--import: {path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(f"--import: {path} fails ({type(error).__name__}: {error})") from error
