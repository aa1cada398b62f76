"""Examples of the epochs to come, drawn in processes of their own while an epoch is trained on."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from kzoo import checks
from kzoo.discovery import import_file, imported
from kzoo.errors import TrainingError

Encoded = list[tuple[Any, Any]]


class DrawingAhead:
    """Draws and encodes the examples of epochs, several at the same time, each in a process of its own.

    What an epoch has depends on its number only, and is the same as without.

    Args:
        draw: function that returns the examples of an epoch. It goes to other processes, so it can be pickled.
        preprocessor: Preprocessor, likewise.
        epochs: int. So many epochs ahead are drawn, each in its own process: 1 to 256.
        last: int or None. The last epoch that is drawn. Defaults to None: there is none.

    Raises:
        InputError: `epochs` is out of range.
    """

    def __init__(
        self, draw: Callable[[int], Iterable[Any]], preprocessor: Any, epochs: int, last: int | None = None
    ) -> None:
        self.draw, self.preprocessor, self.last = draw, preprocessor, last
        self.epochs = checks.integer("draw_ahead", epochs, 1, 256)
        self.pool: ProcessPoolExecutor | None = None
        self.under_way: dict[int, Future[Encoded]] = {}

    def begin(self, epoch: int) -> None:
        """Begins to draw an epoch and those behind it."""
        if self.pool is None:
            spawned = multiprocessing.get_context("spawn")  # a fork of a process that runs an accelerator can hang
            self.pool = ProcessPoolExecutor(self.epochs, spawned, _begin_process, (list(imported),))
        behind = epoch + self.epochs if self.last is None else min(epoch + self.epochs, self.last + 1)
        self.under_way = {number: found for number, found in self.under_way.items() if number >= epoch}
        for number in range(epoch, behind):
            if number not in self.under_way:
                self.under_way[number] = self.pool.submit(drawn, self.draw, self.preprocessor, number)

    def __call__(self, epoch: int) -> Encoded:
        """Returns the encoded examples of an epoch, and lets go of them.

        Raises:
            TrainingError: a process ended before it had drawn them.
        """
        try:
            if epoch not in self.under_way:
                self.begin(epoch)
            found = self.under_way.pop(epoch, None)
            return drawn(self.draw, self.preprocessor, epoch) if found is None else found.result()
        except BrokenProcessPool:
            raise TrainingError(
                "a process that draws examples ahead has ended: memory does not suffice for so many, or a script calls "
                'kzoo.train without `if __name__ == "__main__":`'
            ) from None

    def close(self) -> None:
        """Ends the processes."""
        if self.pool is not None:
            processes = list((self.pool._processes or {}).values())
            self.pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()  # which `shutdown` waits for, though nobody needs what it draws
        self.pool, self.under_way = None, {}


def encoded(examples: Iterable[Any], preprocessor: Any) -> Encoded:
    """Returns examples as the ids of their sources and targets."""
    return [preprocessor.encode(source, target) for source, target in examples]


def drawn(draw: Callable[[int], Iterable[Any]], preprocessor: Any, epoch: int) -> Encoded:
    """Returns the encoded examples of an epoch."""
    return encoded(draw(epoch), preprocessor)


def _begin_process(files: list[Path]) -> None:
    """Imports the user's own files, which may register what is drawn, and ends with the process that asked."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for file in files:
        import_file(file)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(3)
