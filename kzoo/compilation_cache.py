"""What JAX compiled is kept on disk, for the next process.

The folder is `~/.cache/kzoo/jax` (or below `XDG_CACHE_HOME`), with at most 500 MB; what was not used for longest goes
first. The environment variable KZOO_COMPILATION_CACHE names another folder, or is 0 for none. Where JAX was given a
folder or a shortest time of its own, those are used.
"""

import hashlib
import os
import platform
from pathlib import Path
from typing import Any

SWITCH = "KZOO_COMPILATION_CACHE"
SIZE = 500_000_000
SECONDS = 0.1  # what is compiled faster is not kept


def folder() -> Path | None:
    """Returns the folder of this machine's kind of processor, or None if nothing is to be kept."""
    chosen = os.environ.get(SWITCH, "")
    if chosen.lower() in ("0", "off", "no", "false"):
        return None
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kzoo" / "jax"
    try:
        return Path(chosen or cache).expanduser().resolve() / _processor()
    except RuntimeError:  # no such user
        return None


def use_compilation_cache() -> None:
    """Lets JAX keep what it compiles; where it cannot, nothing is kept."""
    import jax

    config: Any = jax.config
    if config.jax_compilation_cache_dir:
        return
    try:
        path = folder()
        if path is None:
            return
        path.mkdir(parents=True, exist_ok=True)
        if not os.access(path, os.W_OK):
            return
    except (OSError, RuntimeError):  # no home, or one that is read-only
        return
    config.update("jax_compilation_cache_dir", str(path))
    config.update("jax_compilation_cache_max_size", SIZE)
    if "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in os.environ:
        config.update("jax_persistent_cache_min_compile_time_secs", SECONDS)


def _processor() -> str:
    """Returns a name for the kind of processor: programs of one may not run on another that shares the folder."""
    told = [platform.machine(), platform.processor()]
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        told += sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))})
    except OSError:
        pass
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]
