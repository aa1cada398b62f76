"""Every mechanism of the five papers, one a file.

Shape letters, once for the project: B batch, T target length, S source length, N heads, D model size, H head size,
V vocabulary size. A mask is True at real tokens, which stand at the left of every row.
"""

from kzoo.backend import ensure_backend

ensure_backend()

from kzoo.registry import discover  # noqa: E402

globals().update(discover(__name__, __path__))
