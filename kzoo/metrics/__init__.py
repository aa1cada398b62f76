"""The metrics of training, for `model.compile`."""

from typing import TYPE_CHECKING

from kzoo.lazy import attach

if TYPE_CHECKING:
    from kzoo.metrics.accuracy import SequenceAccuracy as SequenceAccuracy
    from kzoo.metrics.accuracy import TokenAccuracy as TokenAccuracy
else:
    __getattr__, __dir__, __all__ = attach(__name__, keras=True)
