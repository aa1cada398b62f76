"""Where target tokens come from, as a picture."""

from pathlib import Path

from kzoo.data.alignment import Alignment
from kzoo.errors import InputError
from kzoo.inspection.plots import check_room, pyplot, save_figure


def plot_alignment(alignment: Alignment, index: int, path: Path) -> None:
    """Draws how likely each target token of a pair comes from each source token, a row a target token; SVG or PNG.

    Args:
        alignment: Alignment, as `kzoo.align` returns it.
        index: int. Which of its pairs.
        path: Path. Its suffix, .svg or .png, gives the format.

    Raises:
        BackendError: matplotlib is not installed.
        InputError: there is no such pair, or it has more tokens than a picture has room for.
    """
    if not 0 <= index < len(alignment.pairs):
        raise InputError(f"there are pairs 0 to {len(alignment.pairs) - 1}, not {index}")
    source, target = alignment.pairs[index]
    check_room("tokens", max(len(source), len(target)))
    size = (1.5 + 0.3 * (len(source) + 1), 1.0 + 0.3 * len(target))
    figure, axes = pyplot().subplots(figsize=size, layout="constrained")
    axes.imshow(alignment.posteriors[index], cmap="Blues", vmin=0.0, vmax=1.0, aspect="equal")
    axes.set_xticks(range(len(source) + 1), [*source, "end"])
    axes.set_yticks(range(len(target)), target)
    axes.set(xlabel="source", ylabel="target")
    save_figure(figure, path)
