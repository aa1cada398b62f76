"""Where the heads of a Transformer looked, and where their biases let them look."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kzoo.annotations import Array, Text
from kzoo.errors import InputError
from kzoo.inspection.plots import check_format, drawn, finished, new_picture, token_ticks, traced
from kzoo.models.named_arrays import Trace
from kzoo.models.protocols import TracesLayers

if TYPE_CHECKING:
    from kzoo.inspection.picture import Picture

COLUMNS = 4  # heads a row of the picture
WEIGHTS = {"cmap": "Blues", "vmin": 0, "vmax": 1}

Map = tuple[str, Array, Sequence[str], Sequence[str]]  # title of a head, by its number; its weights; rows and columns


def draw_heads(trace: Trace) -> "Picture":
    """Returns a picture of a map a head: of each layer of a decoder, else of the last layer."""
    maps: list[Map]
    if "token" in trace.labels:
        tokens, first = trace.labels["token"], len(trace.labels["token"]) - len(trace.labels["written"])
        maps = [(f"layer {k + 1}, head {{}}", layer, tokens, tokens) for k, layer in enumerate(trace["weights"])]
        below = "red: from here on each row writes the next token"
        figure = _draw(maps, WEIGHTS, "attention weight", ("token that reads", "token read"), first)
    else:
        written, layers = trace.labels["written"], len(trace["weights"])
        maps = [
            ("head {}, source", trace["weights"][-1], written, trace.labels["source"]),
            ("head {}, written", trace["self_weights"][-1], written, trace.labels["read"]),
        ]
        below = f"the last of {layers} layers" if layers > 1 else ""
        figure = _draw(maps, WEIGHTS, "attention weight", ("token written, from the top down", "token read"))
    figure.heading(trace.text, trace.answer, below)
    return figure


@drawn
def plot_biases(model: Any, text: Text, path: str | Path | None = None, output: Text | None = None) -> "Picture":
    """Draws the biases of a decoder's attention, a matrix a head: to the source, then to what was written.

    As Figures 4, 5 and 11 of [Duan et al., 2023](https://arxiv.org/abs/2310.11984). What is closed is grey.

    Args:
        model: TransformerSeq2Seq, with biases that do not depend on its states.
        text: str. A source, whose length gives the matrices their size.
        path: Path. Where to write it; its suffix, .png, .svg or .pdf, gives the format. Defaults to nowhere.
        output: str. The output that goes with it. Defaults to what the model writes.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        InputError: the model has no such biases, or there are more tokens than a picture has room for.
    """
    from kzoo.layers.bias.masking_bias import MASKED

    check_format(path)
    if not isinstance(model, TracesLayers):
        raise InputError(f"{type(model).__name__} has no heads that look at a source; a TransformerSeq2Seq has")
    trace = traced(model, text, output)
    written = trace.labels["written"]
    found = [("source", "bias", trace.labels["source"]), ("written", "self_bias", trace.labels["read"])]
    maps: list[Map] = [
        (f"head {{}}, {title}", np.where(trace[name][-1] > MASKED / 2, trace[name][-1], np.nan), written, read)
        for title, name, read in found
        if name in trace
    ]
    if not maps:
        raise InputError("this model has no biases that can be drawn; windowed, alibi and calibrated ones can")
    lowest = min(float(np.nanmin(map_[1])) for map_ in maps)
    style = {"cmap": "viridis", "vmin": min(lowest, -1e-3), "vmax": 0}
    figure = _draw(maps, style, "bias (grey is closed)", ("token written, from the top down", "token read"))
    figure.heading(trace.text, trace.answer)
    return finished(figure, path)


def _draw(
    maps: list[Map], style: dict[str, Any], label: str, words: tuple[str, str], first: int | None = None
) -> "Picture":
    """Returns a picture of a panel a head, of each map in rows of their own; a red line stands above row `first`."""
    heads = len(maps[0][1])
    width = max(1.7, min(max(0.14 * len(columns) for _, _, _, columns in maps), 9.0))
    height = max(1.4, min(0.14 * len(maps[0][2]), 9.0))
    across = max(1, min(COLUMNS, heads, int(16 / width)))
    lines = [(map_, start) for map_ in maps for start in range(0, heads, across)]
    figure = new_picture(across * (width + 0.15) + 2.0, len(lines) * (height + 0.65) + 0.9)
    axes = figure.subplots(len(lines), across, squeeze=False)
    for ((title, values, rows, columns), start), line in zip(lines, axes, strict=True):
        for k, panel in enumerate(line):
            if start + k >= heads:
                panel.set_axis_off()
                continue
            panel.set_facecolor("0.8")
            image = panel.imshow(values[start + k], aspect="auto", interpolation="nearest", **style)
            panel.set_title(title.format(start + k + 1), fontsize=9)
            token_ticks(panel.xaxis, columns, width / len(columns))
            if k == 0:
                token_ticks(panel.yaxis, rows, height / len(rows))
            else:
                panel.set_yticks([])
            if first is not None:
                panel.axhline(first - 0.5, color="C3", linewidth=1)
    figure.supxlabel(words[1], fontsize=10)
    figure.supylabel(words[0], fontsize=10)
    figure.colorbar(image, ax=axes, location="right", shrink=0.6, label=label)
    return figure
