"""Files and folders are written atomically, and read with a limit on their size."""

import ctypes
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kzoo.errors import InputError, KzooError, OutputError, PresetError

MAX_JSON = 1_000_000
MAX_TEXT = 10_000
# Control characters, and those that change the direction of a text or have no width.
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"')  # of valid JSON, keys among them


def expand(path: str | Path) -> Path:
    """Returns an absolute path, "~" and "~user" replaced.

    Raises:
        InputError: it is no path, or there is no such user.
    """
    try:
        return Path(path).expanduser().resolve()
    except (RuntimeError, TypeError, ValueError, OSError) as error:
        raise InputError(f"{str(path)!r:.200} is no path ({' '.join(str(error).split()):.100})") from None


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Makes the folder above what is written in the block; what the system then refuses is one sentence.

    Raises:
        OutputError: the path cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except KzooError:
        raise
    except OSError as error:
        no_folder = path.parent.exists() and not path.parent.is_dir()
        reason = f"{path.parent} is no folder" if no_folder else error.strerror or error
        raise OutputError(f"{path} cannot be written ({reason})") from error


def write_bytes(path: Path, content: bytes) -> None:
    """Writes a whole file, or, if killed, nothing; a pipe or a device is written to.

    Raises:
        OutputError: it cannot be written.
    """
    with writing(path):
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(content)
            return
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Gives a path beside `path`, with its suffix; what the block writes there takes its place when the block ends.

    Raises:
        OutputError: it cannot be written.
    """
    new = path.with_name(f".{path.stem}.new{path.suffix}")
    with writing(path):
        try:
            yield new
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)


@contextmanager
def replace_folder(folder: Path) -> Iterator[Path]:
    """Gives a new folder beside `folder`, which takes its place when the block ends, and is removed if the block fails.

    Where the system can exchange two folders (Linux), a reader finds the old or the new one at every moment; elsewhere
    there is none for an instant.

    Raises:
        OutputError: it cannot be written.
    """
    with writing(folder):
        _sweep(folder)
        new = Path(tempfile.mkdtemp(prefix=f".{folder.name}.new-{os.getpid()}-", dir=folder.parent))
        try:
            os.chmod(new, 0o755)
            yield new
            if not folder.exists():
                os.rename(new, folder)
            elif not _exchange(new, folder):
                _put(new, folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)


def _put(new: Path, folder: Path) -> None:
    """Puts one folder in the place of another, which is restored if that fails."""
    old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.old-{os.getpid()}-", dir=folder.parent))
    os.rename(folder, old / "preset")
    try:
        os.rename(new, folder)
    except BaseException:
        os.rename(old / "preset", folder)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Exchanges two folders in one step; returns False where the system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    at_fdcwd, rename_exchange = -100, 2
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    return rename is not None and not rename(
        at_fdcwd, os.fsencode(one), at_fdcwd, os.fsencode(other), ctypes.c_uint(rename_exchange)
    )


def _sweep(folder: Path) -> None:
    """Removes what processes that were killed have left beside a folder."""
    for path in folder.parent.iterdir():
        start, marker, rest = path.name.rpartition(".new-")
        pid = rest.partition("-")[0]
        if marker and start == f".{folder.name}" and pid.isdigit() and not _is_alive(int(pid)):
            shutil.rmtree(path, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    if sys.platform == "win32":  # where `os.kill` would end it
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def write_json(path: Path, value: Any) -> None:
    """Writes a value as indented JSON, whole or not at all.

    Raises:
        PresetError: `read_json` would refuse it.
    """
    content = (dump_json(value) + "\n").encode(errors="surrogatepass")
    parse_json(path, content)
    write_bytes(path, content)


def dump_json(value: Any) -> str:
    """Returns JSON a person can read: two levels of indentation, rows of numbers and leaf objects on one line."""
    return _dump(value, 0)


def _dump(value: Any, depth: int) -> str:
    flat = json.dumps(value, ensure_ascii=False)
    nested = isinstance(value, (dict, list)) and any(isinstance(v, (dict, list)) for v in _values(value))
    if not isinstance(value, (dict, list)) or not value or (not nested and (depth > 1 or isinstance(value, list))):
        return flat
    if depth and len(flat) <= 100:
        return flat
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict):
        items = [f"{json.dumps(key)}: {_dump(item, depth + 1)}" for key, item in value.items()]
    else:
        items = [_dump(item, depth + 1) for item in value]
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    return f"{opening}\n{inner}" + f",\n{inner}".join(items) + f"\n{outer}{closing}"


def _values(value: Any) -> list[Any]:
    return list(value.values() if isinstance(value, dict) else value)


def read_json(path: Path) -> dict[str, Any]:
    """Returns the mapping in a JSON file.

    Raises:
        PresetError: the file is missing, over 1 MB, no JSON, names a key twice, holds no mapping, or
            has a text with control characters.
    """
    if not path.is_file():
        raise PresetError(f"{path} is missing")
    if path.stat().st_size > MAX_JSON:
        raise PresetError(f"{path} is larger than {MAX_JSON:,} bytes")
    return parse_json(path, path.read_bytes())


def parse_json(path: Path, content: bytes) -> dict[str, Any]:
    """Returns the mapping in the content of a JSON file, as `read_json` does; `path` is for the message."""
    if len(content) > MAX_JSON:
        raise PresetError(f"{path} is larger than {MAX_JSON:,} bytes")
    try:
        whole = content.decode()
        value = json.loads(whole, object_pairs_hook=_unique, parse_constant=_refuse)
        texts = [json.loads(text) for text in dict.fromkeys(_TEXTS.findall(whole))]
        "".join(texts).encode()  # escaped halves of characters cannot be written again
    except (ValueError, RecursionError) as error:
        raise PresetError(f"{path} is not valid JSON ({error})") from None
    if not isinstance(value, dict):
        raise PresetError(f"{path} must hold one JSON object")
    # What a terminal or a page would not show as it is.
    for text in texts:
        if UNSEEN.search(text):
            raise PresetError(f"{path} has a text with a control character: {ascii(text)[:80]}")
        if len(text) > MAX_TEXT:
            raise PresetError(f"{path} has a text of more than {MAX_TEXT:,} characters")
    return value


def sha256(path: Path) -> str:
    """Returns the SHA-256 of a file, in hexadecimal.

    Raises:
        PresetError: it is missing, or no regular file.
    """
    if not path.is_file():
        raise PresetError(f"{path} is missing")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is named twice")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")
