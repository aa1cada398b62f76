"""What pictures have in common, and the accuracy by length; matplotlib is an extra."""

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from kzoo.annotations import Text
from kzoo.errors import BackendError, InputError
from kzoo.models.named_arrays import Trace
from kzoo.models.protocols import Traces, TracesSteps
from kzoo.registry import parameters_of

if TYPE_CHECKING:
    from kzoo.inspection.picture import Picture

ROOM = 200  # tokens, or steps, of a picture
COLORS = 10  # of curves that can be told apart
FORMATS = (".png", ".svg", ".pdf")

P = ParamSpec("P")
T = TypeVar("T")


def drawn(function: Callable[P, T]) -> Callable[P, T]:
    """Lets a function draw in kzoo's style; the session's settings of matplotlib stay as they are.

    Raises, when it is called:
        BackendError: matplotlib is not installed.
    """

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            from kzoo.inspection.picture import style
        except ImportError:
            raise BackendError('pictures need matplotlib; run: pip install "kzoo[plot]"') from None
        with style():
            return function(*args, **kwargs)

    return run


def new_picture(width: float, height: float) -> "Picture":
    """Returns an empty picture of so many inches."""
    from kzoo.inspection.picture import Picture

    return Picture(width, height)


def finished(figure: "Picture", path: str | Path | None, note: str = "") -> "Picture":
    """Returns a picture whose parts are all made, and writes it if there is a path."""
    if path is not None:
        figure.write(Path(path), note)
    else:
        figure.draw_without_rendering()
    return figure


def check_room(what: str, count: int) -> None:
    """Raises `InputError` if a picture has no room for so many tokens, or steps."""
    if count > ROOM:
        raise InputError(f"a picture has room for {ROOM} {what}, not for {count:,}")


def check_format(path: str | Path | None, formats: Sequence[str] = FORMATS) -> None:
    """Raises `InputError` unless a path has one of these suffixes, or is None."""
    if path is not None and Path(path).suffix not in formats:
        *others, last = formats
        known = f"{', '.join(others)} or {last}" if others else last
        raise InputError(f"a picture is written as {known}, not {Path(path).suffix or Path(path).name!r}")


NO_WEIGHTS = "the model has no attention weights to draw: its blocks have mixers, which attend to nothing"


def traced(model: Any, text: Text, output: Text | None = None, steps: int | None = None) -> Trace:
    """Returns the trace of a model for a picture.

    Raises:
        InputError: see `plot_attention`.
    """
    if not isinstance(model, Traces):
        raise InputError(f"{type(model).__name__} keeps no trace: a method trace(text)")
    given = {name: value for name, value in (("output", output), ("steps", steps)) if value is not None}
    for name in given:
        if name not in parameters_of(type(model).trace):
            raise InputError(f"{name} does not apply: a {type(model).__name__} has none to choose")
    check_room("tokens", len(model.text_preprocessor().encode_source(text)))
    if isinstance(model, TracesSteps):
        check_room("steps", model.inference_steps if steps is None else steps)
    trace: Trace = model.trace(text, **given)
    check_room("written tokens", len(trace.labels.get("written", ())))
    return trace


def token_ticks(axis: Any, tokens: Sequence[str], size: float) -> None:
    """Writes tokens at an axis, each of which has `size` inches; where that is too little, their positions."""
    font = min(9.0, 72 * size * 0.85)
    if font < 3.5:
        axis.set_ticks(range(0, len(tokens), 10))
        return
    axis.set_ticks(range(len(tokens)), tokens, fontsize=font)
    for label, token in zip(axis.get_ticklabels(), tokens, strict=True):
        if axis.axis_name == "x" and len(token) * font * 0.65 > 72 * size:  # wider than its column
            label.set_rotation(90)


@drawn
def plot_lengths(
    curves: Mapping[str, Sequence[Mapping[str, Any]]],
    path: str | Path | None = None,
    trained: tuple[int, int] | None = None,
    note: str = "",
    unit: str = "",
) -> "Picture":
    """Draws sequence accuracy against length, a curve a preset.

    Lengths are on a logarithmic axis where the longest is ten times the shortest. Points of several curves
    are drawn a little beside their length, not to hide each other.

    Args:
        curves: rows by the name of their curve; only sequence accuracy is drawn, with its 95 % interval, and the
            paper's numbers as open circles where rows have them.
        path: Path. Where to write it; its suffix, .png, .svg or .pdf, gives the format. Defaults to nowhere.
        trained: (int, int). The lengths trained on, drawn as a band.
        note: str. Kept in the file's description, to tell which results it shows.
        unit: str. What a length counts.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        InputError: there are more curves than colours.
    """
    check_format(path)
    if len(curves) > COLORS:
        advice = "name fewer, or draw a task: kzoo plot leaderboard TASK"
        raise InputError(f"a picture has {COLORS} curves at most, not {len(curves)}: {advice}")
    figure = new_picture(7.4, 3.6)
    axes = figure.subplots()
    lengths, published = list(trained or ()), False
    for i, (name, rows) in enumerate(curves.items()):
        found = sorted((row for row in rows if row["metric"] == "sequence_accuracy" and row["length"]), key=_length)
        x, y = [row["length"] for row in found], [100 * row["value"] for row in found]
        margins = [[max(0.0, 100 * (row["value"] - row["low"])) for row in found]]
        margins.append([max(0.0, 100 * (row["high"] - row["value"])) for row in found])
        points = beside(x, i, len(curves))
        axes.errorbar(points, y, yerr=margins, fmt="o-", color=f"C{i}", capsize=3, markersize=5, label=name)
        paper = [(row["length"], 100 * row["paper"]) for row in found if row.get("paper") is not None]
        if paper:
            axes.plot(*zip(*paper, strict=True), "o", mfc="none", color=f"C{i}", markersize=11)
        lengths, published = lengths + x, published or bool(paper)
    if published:
        color = "C0" if len(curves) == 1 else "0.3"
        axes.plot([], [], "o", mfc="none", color=color, markersize=11, label="the paper")
    accuracy_axes(axes, lengths, trained, unit)
    axes.legend(
        loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, title="bars: 95 % interval", title_fontsize=9
    )
    return finished(figure, path, note)


def beside(lengths: Sequence[int], index: int, count: int) -> list[float]:
    """Returns where the points of one of several curves are drawn: beside their lengths, not to hide each other."""
    step = 1.2 ** (1 / max(count - 1, 4))
    return [length * step ** (index - (count - 1) / 2) for length in lengths]


def accuracy_axes(axes: Any, lengths: Sequence[int], trained: tuple[int, int] | None, unit: str) -> list[Any]:
    """Scales axes for sequence accuracy against length, with the trained lengths as a band, which is returned."""
    band = []
    if trained:
        band.append(axes.axvspan(*trained, color="0.88", zorder=0, label=f"trained on {trained[0]} to {trained[1]}"))
    length_axis(axes, lengths, unit)
    axes.set(ylim=(-4, 104), ylabel="sequence accuracy (%)")
    axes.grid(alpha=0.3)
    return band


def length_axis(axes: Any, lengths: Sequence[int], unit: str) -> None:
    """Scales an axis of lengths, and says what they count."""
    scale = ""
    if lengths and max(lengths) >= 10 * max(1, min(lengths)):
        from matplotlib.ticker import LogLocator, NullLocator

        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
        axes.tick_params(axis="x", labelsize=8 if max(lengths) > 500 else 11)
        scale = ", logarithmic"
    else:
        axes.set_xlim(0, None)
    axes.set_xlabel(f"length ({unit}{scale})" if unit else f"length{scale}")


def _length(row: Mapping[str, Any]) -> int:
    return int(row["length"])
