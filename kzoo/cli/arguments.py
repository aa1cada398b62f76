"""What the verbs of the command take."""

import argparse

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
