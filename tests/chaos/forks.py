"""Actions in processes that are forked, killed or starved of disk space at one of their file operations.

The parent has imported what they need and computed nothing, so that it can be forked on every backend.
"""

import contextlib
import errno
import importlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from kzoo.errors import KzooError

TIMEOUT = 300.0  # seconds
CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.link", "os.symlink", "os.truncate"}
TAKES_SPACE = {"open", "os.mkdir", "os.link", "os.symlink", "fsync"}
DONE, REFUSED, FAILED, BROKE, KILLED = "done", "refused", "failed", "broke", "killed"


class Outcome(NamedTuple):
    """How an action ended, with its value or what was said, and how many file operations it made."""

    how: str
    value: Any
    operations: int


class Trap:
    """Counts what a process changes in a folder, and kills it or fills the disk before one of these operations.

    Args:
        folder: Path.
        at: int. The number of the operation, from 0; None only counts.
        full: bool. Whether the disk is full from then on, instead of a kill.
    """

    def __init__(self, folder: Path, at: int | None = None, full: bool = False) -> None:
        self.folder, self.at, self.full, self.count = str(folder), at, full, 0

    def set(self) -> None:
        """Watches this process until it ends."""
        plain = os.fsync

        def fsync(handle: int) -> None:
            self.meet("fsync")
            plain(handle)

        os.fsync = fsync
        sys.addaudithook(self._hear)

    def meet(self, event: str) -> None:
        """Counts one operation, and acts if it is the one."""
        self.count += 1
        if self.at is None or self.count <= self.at:
            return
        if not self.full:
            os.kill(os.getpid(), signal.SIGKILL)
        elif event in TAKES_SPACE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "ctypes.dlsym" and arguments[1] == "renameat2":  # the exchange of two folders, which has no event
            self.meet(event)
        elif event in CHANGES or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)):
            path = arguments[0]
            text = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else ""
            if text.startswith(self.folder) or (text and not os.path.isabs(text)):  # relative to an open folder
                self.meet(event)


class Fork:
    """An action that runs in a process of its own.

    Args:
        action: function without arguments, whose value can be written as JSON.
        trap: Trap.
    """

    def __init__(self, action: Callable[[], Any], trap: Trap | None = None) -> None:
        self._read, write = os.pipe()
        sys.stdout.flush()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._read)
            self._run(action, trap, write)
        os.close(write)
        self._deadline = time.monotonic() + TIMEOUT

    def _run(self, action: Callable[[], Any], trap: Trap | None, write: int) -> None:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        before = set(sys.modules)
        if trap is not None:
            trap.set()
        try:
            how, value = DONE, action()
        except KzooError as error:
            how, value = REFUSED, str(error)
        except OSError as error:
            how, value = FAILED, str(error)
        except BaseException as error:
            how, value = BROKE, f"{type(error).__name__}: {error}"
        count = trap.count if trap is not None else 0
        told = json.dumps([how, value, count, sorted(set(sys.modules) - before)]).encode()
        while told:
            told = told[os.write(write, told) :]
        os._exit(0)

    def wait(self) -> Outcome:
        """Returns how it ended; what takes longer than `TIMEOUT` is ended."""
        told = b""
        while ready := select.select([self._read], [], [], max(0.0, self._deadline - time.monotonic()))[0]:
            part = os.read(self._read, 65_536)
            if not part:
                break
            told += part
        if not ready:
            os.kill(self._pid, signal.SIGKILL)
        os.close(self._read)
        status = os.waitpid(self._pid, 0)[1]
        if not ready:
            return Outcome(BROKE, f"it took more than {TIMEOUT:.0f} s", 0)
        if not told:
            by_kill = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
            return Outcome(KILLED if by_kill else BROKE, f"it ended with status {status}", 0)
        how, value, count, modules = json.loads(told)
        _import(modules)
        return Outcome(how, value, count)


def forked(action: Callable[[], Any], trap: Trap | None = None) -> Outcome:
    """Runs an action in a process of its own, and returns how it ended."""
    return Fork(action, trap).wait()


def _import(modules: list[str]) -> None:
    """Imports what a process needed, so that the next need not; their import computes nothing."""
    for name in modules:
        if name.split(".")[0] in ("kzoo", "keras", "torch", "jax", "tensorflow", "numpy", "safetensors"):
            with contextlib.suppress(Exception):  # some are made as their parent is used
                importlib.import_module(name)
