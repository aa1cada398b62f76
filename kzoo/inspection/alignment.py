"""Where target tokens come from, as a picture."""

from pathlib import Path
from typing import TYPE_CHECKING

from kzoo.data.alignment import Alignment
from kzoo.errors import InputError
from kzoo.inspection.plots import check_format, check_room, drawn, finished, new_picture, token_ticks

if TYPE_CHECKING:
    from kzoo.inspection.picture import Picture

CELL = 0.3  # inches of a token, where there are few


@drawn
def plot_alignment(alignment: Alignment, index: int, path: str | Path | None = None) -> "Picture":
    """Draws how likely each target token of a pair comes from each source token, a row a target token.

    Args:
        alignment: Alignment, as `kzoo.align` returns it.
        index: int. Which of its pairs.
        path: Path. Where to write it; its suffix, .png, .svg or .pdf, gives the format. Defaults to nowhere.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        BackendError: matplotlib is not installed.
        InputError: there is no such pair, or it has more tokens than a picture has room for.
    """
    check_format(path)
    if not 0 <= index < len(alignment.pairs):
        raise InputError(f"there are pairs 0 to {len(alignment.pairs) - 1}, not {index}")
    source, target = alignment.pairs[index]
    check_room("tokens", max(len(source), len(target)))
    cell = min(CELL, 14 / max(len(source) + 1, len(target)))
    figure = new_picture(max(3.0, cell * (len(source) + 1)) + 1.6, max(1.5, cell * len(target)) + 1.3)
    axes = figure.subplots()
    image = axes.imshow(alignment.posteriors[index], cmap="Blues", vmin=0.0, vmax=1.0, aspect="equal")
    token_ticks(axes.xaxis, [*source, "end"], cell)
    token_ticks(axes.yaxis, target, cell)
    axes.set(xlabel="source token", ylabel="target token, from the top down")
    figure.colorbar(image, ax=axes, shrink=0.6, label="probability that it comes from there")
    figure.heading(" ".join(source), " ".join(target))
    return finished(figure, path)
