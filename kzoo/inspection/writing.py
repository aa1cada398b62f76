"""A model that writes token by token, step by step: as a picture, or as an animation."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kzoo.annotations import Array, Text
from kzoo.errors import InputError
from kzoo.inspection.plots import (
    NO_WEIGHTS,
    check_format,
    check_room,
    drawn,
    finished,
    new_picture,
    token_ticks,
    traced,
)
from kzoo.models.named_arrays import Trace
from kzoo.saving.files import expand, replace_file

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation

    from kzoo.inspection.picture import Picture

MOST_STEPS = 40  # of a picture
FRAMES_A_SECOND = 1
REST = 3  # frames that the last one stays


@drawn
def plot_writing(model: Any, text: Text, path: str | Path | None = None, output: Text | None = None) -> "Picture":
    """Draws a strip for each token that a model wrote: where each head looked, among all that was there to read.

    Args:
        model: a model that writes token by token.
        text: str. The source.
        path: Path. Where to write it; its suffix, .png, .svg or .pdf, gives the format. Defaults to nowhere.
        output: str. The output to force. Defaults to what the model writes.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        InputError: the model writes no tokens, or more than a picture has room for.
    """
    check_format(path)
    steps = _steps(model, text, output)
    if len(steps.written) > MOST_STEPS:
        raise InputError(
            f"a picture has room for {MOST_STEPS} written tokens, not for {len(steps.written)}; an animation has more"
        )
    width, height = steps.size()
    figure = new_picture(width + 3.0, len(steps.written) * (height + 0.62) + 1.0)
    for t, axes in enumerate(figure.subplots(len(steps.written), 1, squeeze=False)[:, 0]):
        image = steps.draw(axes, t)
    figure.colorbar(image, ax=figure.axes, location="right", shrink=min(1.0, 2 / len(steps.written)), label="weight")
    figure.heading(steps.trace.text, steps.trace.answer, steps.below)
    return finished(figure, path)


@drawn
def animate_writing(
    model: Any, text: Text, path: str | Path | None = None, output: Text | None = None
) -> "FuncAnimation":
    """Animates how a model writes: a frame a token, with where each head looked.

    Args:
        model: a model that writes token by token.
        text: str. The source.
        path: Path. Where to write it, a .gif file. Defaults to nowhere.
        output: str. The output to force. Defaults to what the model writes.

    Returns:
        A `matplotlib.animation.FuncAnimation`; in a notebook, `IPython.display.HTML(animation.to_jshtml())` shows it.

    Raises:
        InputError: the model writes no tokens, or more than an animation has room for.
    """
    from matplotlib.animation import FuncAnimation, PillowWriter

    from kzoo.inspection.picture import style

    check_format(path, (".gif",))
    steps = _steps(model, text, output)
    check_room("frames", len(steps.written))
    width, height = steps.size()
    figure = new_picture(max(width + 3.0, 5.0), height + 1.9)
    axes = figure.subplots()
    figure.colorbar(steps.draw(axes, 0), ax=axes, location="right", label="weight")
    figure.heading(steps.trace.text, steps.trace.answer, steps.below)

    def frame(t: int) -> list[Any]:
        with style():
            axes.clear()
            return [steps.draw(axes, min(t, len(steps.written) - 1))]

    animation = FuncAnimation(figure, frame, frames=len(steps.written) + REST, interval=1000 / FRAMES_A_SECOND)
    if path is not None:
        with replace_file(expand(path)) as new:
            animation.save(new, writer=PillowWriter(fps=FRAMES_A_SECOND), dpi=100)
    return animation


@dataclass(frozen=True)
class _Steps:
    """What each step looked at: `weights` (steps, rows, columns); `first` is the column of the first written token."""

    trace: Trace
    rows: list[str]
    columns: list[str]
    weights: Array
    first: int
    below: str

    @property
    def written(self) -> list[str]:
        return self.trace.labels["written"]

    def size(self) -> tuple[float, float]:
        """Returns the inches of one strip."""
        return max(3.0, min(0.3, 14 / len(self.columns)) * len(self.columns)), 0.24 * len(self.rows)

    def draw(self, axes: Any, t: int) -> Any:
        """Draws one step; returns the image."""
        width, height = self.size()
        there = self.first + t  # columns, read so far
        columns = [token if k < there else "" for k, token in enumerate(self.columns)]
        weights = np.where(np.arange(len(columns)) < there, self.weights[t], np.nan)
        axes.set_facecolor("0.94")
        style = {"cmap": "Blues", "vmin": 0, "vmax": 1}
        image = axes.imshow(weights, aspect="auto", interpolation="nearest", **style)
        token_ticks(axes.xaxis, columns, width / len(columns))
        axes.xaxis.tick_top()
        axes.tick_params(axis="x", length=0)
        token_ticks(axes.yaxis, self.rows, height / len(self.rows))
        before = " ".join(["..."] * (t > 8) + self.written[max(0, t - 8) : t])
        words = f"step {t + 1} of {len(self.written)}: writes {self.written[t]}"
        axes.set_xlabel(f"{words} after {before}" if before else words, loc="left", color="C3")
        return image


def _steps(model: Any, text: Text, output: Text | None) -> _Steps:
    trace = traced(model, text, output)
    if "written" not in trace.labels:
        raise InputError(f"a {type(model).__name__} answers at once; what it did is in the picture of its attention")
    if "weights" not in trace:
        raise InputError(NO_WEIGHTS)
    weights, number = trace["weights"], len(trace.labels["written"])
    if not number:
        raise InputError("nothing was written")
    if "token" in trace.labels:
        layers, heads, tokens, _ = weights.shape
        rows = [f"layer {k + 1}, head {n + 1}" for k in range(layers) for n in range(heads)]
        steps = np.moveaxis(weights[:, :, -number:].reshape(layers * heads, number, tokens), 1, 0)
        return _Steps(
            trace, rows, trace.labels["read"], steps, tokens - number + 1, "rows: heads; columns: tokens read"
        )
    source = trace.labels["source"]
    if "head" in trace.axes["weights"]:
        steps, rows = np.moveaxis(weights[-1], 1, 0), [f"head {n + 1}" for n in range(weights.shape[1])]
        below = f"rows: heads of the last of {len(weights)} layers; columns: tokens read"
    else:
        steps, rows, below = weights[:, None], ["attention"], "columns: tokens read"
    return _Steps(trace, rows, source, steps, len(source) + number, below)
