"""What a model with shared depth did at each step."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kzoo.annotations import Text
from kzoo.errors import InputError
from kzoo.inspection.plots import check_format, drawn, finished, new_picture, token_ticks, traced
from kzoo.models.named_arrays import Trace
from kzoo.models.protocols import TracesSteps

if TYPE_CHECKING:
    from kzoo.inspection.picture import Picture

COLUMNS = 5  # attention maps a row of the picture


def draw_steps(trace: Trace) -> "Picture":
    """Returns a picture of the attention weights of every step, a map a step, of several heads the largest weight."""
    source, weights = trace.labels["column"], trace["weights"].max(axis=1)
    side = max(1.5, min(0.17 * len(source), 9.0))
    columns = max(1, min(COLUMNS, len(weights), int(16 / side)))
    rows = -(-len(weights) // columns)
    figure = new_picture(columns * (side + 0.2) + 1.6, rows * (side + 0.45) + 1.2)
    axes = figure.subplots(rows, columns, squeeze=False)
    for panel in axes.flat[len(weights) :]:
        panel.set_axis_off()
    for step, (panel, map_) in enumerate(zip(axes.flat, weights, strict=False)):
        image = panel.imshow(map_, cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
        panel.set_title(f"step {step + 1}", fontsize=9)
        token_ticks(panel.xaxis, source, side / len(source))
        if step % columns == 0:
            token_ticks(panel.yaxis, source, side / len(source))
        else:
            panel.set_yticks([])
    heads = trace["weights"].shape[1]
    label = "attention weight" + (f", the largest of {heads} heads" if heads > 1 else "")
    figure.supxlabel("column read", fontsize=10)
    figure.supylabel("column that reads", fontsize=10)
    figure.heading(trace.text, trace.answer)
    figure.colorbar(image, ax=axes, location="right", shrink=0.6, label=label)
    return figure


@drawn
def plot_gates(model: Any, text: Text, path: str | Path | None = None, steps: int | None = None) -> "Picture":
    """Draws how open the copy gates were, the mean over a column's channels, by column and step.

    As Figure 3 of [Csordas et al., 2022](https://arxiv.org/abs/2110.07732): at 0 a column is copied, at 1 renewed. The
    scale ends at the largest mean of the picture, which may be far below 1.

    Args:
        model: TransformerClassifier, whose block must have a copy gate.
        text: str.
        path: Path. Where to write it; its suffix, .png, .svg or .pdf, gives the format. Defaults to nowhere.
        steps: int. Defaults to the model's `inference_steps`.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        InputError: the model has no steps or no gates, or there are more steps or tokens than a picture has room for.
    """
    check_format(path)
    if not isinstance(model, TracesSteps):
        raise InputError(f"{type(model).__name__} does not run one block step by step")
    trace = traced(model, text, steps=steps)
    if "gates" not in trace:
        raise InputError("this model has no copy gates; the blocks ndr, abs_rel_gate and rel_gate do")
    source, openness = trace.labels["column"], trace["gates"].mean(axis=-1)
    wide, high = min(0.34, 14 / len(source)), min(0.26, 14 / len(openness))
    width, height = max(3.2, wide * len(source)), max(2.2, high * len(openness))
    figure = new_picture(width + 1.7, height + 1.2)
    axes = figure.subplots()
    image = axes.imshow(openness, cmap="Oranges", vmin=0, vmax=openness.max(), aspect="auto", interpolation="nearest")
    token_ticks(axes.xaxis, source, width / len(source))
    token_ticks(axes.yaxis, [str(step) for step in range(1, len(openness) + 1)], height / len(openness))
    axes.set(xlabel="column", ylabel="step")
    figure.colorbar(image, ax=axes, label="mean gate (0 copies, 1 renews)")
    figure.heading(trace.text, trace.answer)
    return finished(figure, path)
