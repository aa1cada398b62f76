"""Accuracy by length: measuring it, keeping it, showing it."""

from typing import TYPE_CHECKING

from kzoo.lazy import attach

if TYPE_CHECKING:
    from kzoo.evaluation.measure import edit_distance as edit_distance
    from kzoo.evaluation.report import Report as Report
    from kzoo.evaluation.seeds import Aggregate as Aggregate
    from kzoo.evaluation.seeds import aggregate as aggregate
else:
    __getattr__, __dir__, __all__ = attach(__name__, keras=True)
