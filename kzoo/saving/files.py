"""Files are written beside and renamed, and read with a limit on their size."""

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from kzoo.errors import PresetError

MAX_JSON = 1_000_000


def write_bytes(path: Path, content: bytes) -> None:
    """Writes a whole file, or, if killed, nothing."""
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


def write_json(path: Path, value: Any) -> None:
    """Writes a value as indented JSON, whole or not at all."""
    write_bytes(path, (dump_json(value) + "\n").encode())


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
        PresetError: the file is missing, over 1 MB, no JSON, names a key twice, or holds no mapping.
    """
    if not path.is_file():
        raise PresetError(f"{path} is missing")
    if path.stat().st_size > MAX_JSON:
        raise PresetError(f"{path} is larger than {MAX_JSON:,} bytes")
    try:
        value = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_unique, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode()  # escaped halves of characters cannot be written again
    except (ValueError, RecursionError) as error:
        raise PresetError(f"{path} is not valid JSON ({error})") from None
    if not isinstance(value, dict):
        raise PresetError(f"{path} must hold one JSON object")
    return value


def sha256(path: Path) -> str:
    """Returns the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is named twice")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")
