"""The models: each composes the mechanisms of `kzoo.layers`, and is an ordinary `keras.Model`."""

from kzoo.backend import ensure_backend

ensure_backend()

import kzoo.layers as layers  # noqa: E402, F401  (fills the registry that the models draw on)
from kzoo.registry import discover, names  # noqa: E402


def kind_of(name: object) -> str:
    """Returns the kind that a model of that name is registered as: "classifier" or "model"."""
    return "classifier" if name in names("classifier") else "model"


globals().update(discover(__name__, __path__))
