"""A process that makes one run: `python -m kzoo.training.worker RECIPE FOLDER [FILE...]`, see `executors.in_processes`.

The files are Python files that register mechanisms or tasks, and files of pairs.
"""

import os
import sys
import threading
from pathlib import Path

from kzoo.errors import KzooError


def main(recipe: str, folder: str, *files: str) -> int:
    """Trains; returns 0, or 2 after an error of kzoo."""
    from kzoo.discovery import import_file
    from kzoo.tasks.pairs_file import is_file_of_pairs, read
    from kzoo.training.train import train

    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        for file in files:
            read(file) if is_file_of_pairs(file) else import_file(Path(file))
        train(recipe, folder, resume=True)
    except KzooError as error:
        print(f"kzoo: {error}", file=sys.stderr)
        return 2
    return 0


def _end_with_parent() -> None:
    """Ends this process when its standard input ends, as it does with the process that started it."""
    while os.read(0, 4096):  # not `sys.stdin`, whose lock the end of the interpreter would wait for
        pass
    os._exit(3)


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
