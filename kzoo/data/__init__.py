"""Batches of examples, and alignments of pairs."""

from typing import TYPE_CHECKING

from kzoo.lazy import attach

if TYPE_CHECKING:
    from kzoo.data.alignment import Alignment as Alignment
    from kzoo.data.batches import Batches as Batches
    from kzoo.data.interleaving import Alternating as Alternating
else:
    __getattr__, __dir__, __all__ = attach(__name__, keras=True)
