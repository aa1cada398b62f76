"""The choice of the Keras backend, made before Keras is first imported.

Keras takes TensorFlow unless told otherwise and fails where it is absent. When nothing chose a backend that is
installed, kzoo takes the first installed of jax, torch and tensorflow, and says so once.
"""

import contextlib
import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from kzoo.errors import BackendError, InputError, did_you_mean

BACKENDS = ("jax", "torch", "tensorflow")


def installed() -> list[str]:
    """Returns the installed backends in the order in which kzoo prefers them; imports none."""
    return [name for name in BACKENDS if importlib.util.find_spec(name) is not None]


def configured() -> str:
    """Returns the backend that Keras would take by itself: `KERAS_BACKEND`, else its config file, else tensorflow."""
    if os.environ.get("KERAS_BACKEND"):
        return os.environ["KERAS_BACKEND"]
    home = os.environ.get("KERAS_HOME") or Path.home() / ".keras"
    try:
        return str(json.loads((Path(home) / "keras.json").read_text())["backend"])
    except (OSError, ValueError, KeyError, TypeError):
        return "tensorflow"


def ensure_backend() -> str:
    """Imports Keras with a backend that is installed and no other, and returns the backend's name.

    Raises:
        BackendError: no backend is installed, or `KERAS_BACKEND` names one that is not.
        InputError: `KERAS_BACKEND` names none that kzoo runs on.
    """
    if "keras" in sys.modules and hasattr(sys.modules["keras"], "config"):
        return str(sys.modules["keras"].config.backend())
    available = installed()
    if not available:
        raise BackendError('no Keras backend is installed; run: pip install "kzoo[jax]" (or [torch], [tensorflow])')
    chosen = os.environ.get("KERAS_BACKEND", "")
    if chosen:
        if chosen not in BACKENDS:
            raise InputError(did_you_mean("KERAS_BACKEND", chosen, BACKENDS))
        if chosen not in available:
            raise BackendError(
                f"KERAS_BACKEND is {chosen!r}, which is not installed; installed: {', '.join(available)}"
            )
    elif (chosen := configured()) not in available:
        chosen = os.environ["KERAS_BACKEND"] = available[0]
        print(f"kzoo: using the {chosen} backend (set KERAS_BACKEND to choose)", file=sys.stderr)
    with no_other_backend(chosen):
        import keras  # noqa: F401
    return chosen


@contextlib.contextmanager
def no_other_backend(chosen: str | None = None) -> Iterator[None]:
    """Keeps Keras from importing backends that are not in use, other than `chosen`.

    On every backend Keras imports JAX when it is imported itself, and TensorFlow when it writes a config or sets seeds.
    """
    absent = [name for name in BACKENDS if name not in sys.modules and name != chosen]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
            lazy = getattr(sys.modules.get("keras.src.utils.module_utils"), name, None)
            if lazy is not None and hasattr(lazy, "_available"):
                lazy._available = None  # Keras asks again
