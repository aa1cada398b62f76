"""The models: each composes the mechanisms of `kzoo.layers`, and is an ordinary `keras.Model`."""

from kzoo.backend import ensure_backend

ensure_backend()

import kzoo.layers as layers  # noqa: E402, F401  (fills the registry that the models draw on)
from kzoo.registry import discover  # noqa: E402

globals().update(discover(__name__, __path__))
