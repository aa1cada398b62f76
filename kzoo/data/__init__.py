"""Batches of examples."""

from typing import TYPE_CHECKING

from kzoo.lazy import attach

if TYPE_CHECKING:
    from kzoo.data.batches import Batches as Batches
    from kzoo.data.interleaving import Alternating as Alternating
else:
    __getattr__, __dir__, __all__ = attach(__name__, keras=True)
