"""The figure that pictures are drawn on; it needs matplotlib, an extra."""

import io
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib.style
from matplotlib.figure import Figure

from kzoo.inspection.plots import check_format
from kzoo.saving.files import expand, replace_file

# Equal data give equal files, and text stays text, also where it has a "$".
STYLE = {"svg.hashsalt": "kzoo", "svg.fonttype": "none", "pdf.fonttype": 42, "font.size": 11, "text.parse_math": False}


@contextmanager
def style() -> Iterator[None]:
    """Lets matplotlib draw as kzoo does, whatever the session has set; the session's settings come back after it."""
    with matplotlib.style.context(["default", STYLE]):
        yield


class Picture(Figure):
    """A matplotlib figure that belongs to no window and no session: a notebook shows it where a cell returns it."""

    def __init__(self, width: float, height: float, **kwargs: Any) -> None:
        super().__init__(figsize=(width, height), layout="constrained", **kwargs)

    def heading(self, text: str, answer: str, below: str = "") -> None:
        """Puts the input, its answer and a line that explains above all panels, in as many lines as it takes."""
        letters = max(24, int(self.get_size_inches()[0] * 72 / 6.6))  # of the size 11
        lines = textwrap.wrap(f"{text}  \u2192  {answer}", letters, break_on_hyphens=False)
        lines += textwrap.wrap(below, letters)
        width, height = self.get_size_inches()
        self.set_size_inches(width, height + 0.19 * (len(lines) - 1))
        self.suptitle("\n".join(lines), fontsize=11)

    def savefig(self, *args: Any, **kwargs: Any) -> None:
        """As of every figure, in kzoo's style."""
        with style():
            super().savefig(*args, **{"dpi": 150, **kwargs})

    def write(self, path: Path, note: str = "") -> None:
        """Writes the picture as PNG, SVG or PDF by the path's suffix, whole or not at all.

        Args:
            path: Path.
            note: str. Kept in the file's description.

        Raises:
            InputError: another suffix.
            OutputError: it cannot be written.
        """
        check_format(path)
        path = expand(path)
        metadata: dict[str, Any] = {"Subject" if path.suffix == ".pdf" else "Description": note} if note else {}
        dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
        with replace_file(path) as new:
            self.savefig(new, metadata=metadata | dates.get(path.suffix, {}))

    def _repr_png_(self) -> bytes:
        """The picture in a notebook, also where matplotlib is not set up for one."""
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=100)
        return buffer.getvalue()
