"""One training at a time in a folder."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from kzoo.errors import InputError, PresetError

NAME = "lock"

if sys.platform == "win32":
    import msvcrt

    def _try(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Holds the lock of a folder, which is made if need be; when nothing else is in it at the end, it is removed.

    The system ends the lock with the process, also one that was killed, and the next one takes the file over.

    Raises:
        PresetError: another process, or thread, holds it.
        InputError: the folder cannot be written.
    """
    path = folder / NAME
    handle = _open(path)
    while True:
        try:
            _try(handle)
        except OSError:
            holder = os.pread(handle, 20, 1).decode(errors="replace").strip() if sys.platform != "win32" else ""
            os.close(handle)
            raise PresetError(
                f"another training{f' (process {holder})' if holder else ''} writes to {folder}: wait until it has "
                "ended, or choose another output"
            ) from None
        if _is(handle, path):
            break
        os.close(handle)  # the one before removed the file after it was opened here
        handle = _open(path)
    os.ftruncate(handle, 0)
    os.write(handle, f" {os.getpid()}\n".encode())
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
            folder.rmdir()
        os.close(handle)


def _is(handle: int, path: Path) -> bool:
    """Whether a path still leads to an open file."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def _open(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise InputError(f"{path.parent} cannot be written ({error.strerror or error})") from error
