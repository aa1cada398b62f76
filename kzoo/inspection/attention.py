"""Where a model looked."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kzoo.annotations import Text
from kzoo.errors import InputError
from kzoo.inspection.gates import draw_steps
from kzoo.inspection.heads import draw_heads
from kzoo.inspection.plots import NO_WEIGHTS, check_format, drawn, finished, new_picture, token_ticks, traced
from kzoo.models.named_arrays import Trace

if TYPE_CHECKING:
    from kzoo.inspection.picture import Picture

# What a location mechanism keeps besides its weights, with the words for a picture.
STATES = {
    "center": "centre\n(position)",
    "spread": "spread\n(positions)",
    "mix": "share of\nlocation",
    "visit": "share of\nthe visit",
}
SHARES = ("mix", "visit")
ANSWERS = 40  # the most that a picture of answers has room for
CELL = 0.3  # inches of a token, where there are few


@drawn
def plot_attention(
    model: Any,
    text: Text,
    path: str | Path | None = None,
    output: Text | None = None,
    steps: int | None = None,
) -> "Picture":
    """Draws where a model looked while it read or wrote, from its `trace`.

    Of a recurrent model, the weights, a row a written token, and beside them the mechanism's states, as the centre; of
    a Transformer that writes, a map a head: of each layer where it is a decoder, of the last layer where it reads a
    source, as Figures 2, 8 and 9 of [Duan et al., 2023](https://arxiv.org/abs/2310.11984); of one with shared depth, a
    map a step, of several heads the largest weight, as Figure 2 of
    [Csordas et al., 2022](https://arxiv.org/abs/2110.07732). A recurrent classifier has no attention: of it, what it
    would answer after each token; of a tagger likewise its answers. Of more than 40 answers only the likeliest.

    Args:
        model: a model of kzoo, or one with `trace`.
        text: str. The source.
        path: Path. Where to write it; its suffix, .png, .svg or .pdf, gives the format. Defaults to nowhere.
        output: str. The output to force, of a model that writes. Defaults to what the model writes.
        steps: int. Steps to make, of a model that makes steps. Defaults to the model's own.

    Returns:
        A `matplotlib.figure.Figure`, which belongs to no window; a notebook shows it where a cell returns it.

    Raises:
        InputError: the model keeps no trace, an argument does not apply, or there are more tokens or steps than a
            picture has room for.

    Example:

    ```python
    figure = kzoo.inspection.plot_attention(kzoo.from_preset("theorem_sorter"), "5 3 1 4 2")
    figure.savefig("sorter.pdf")
    ```
    """
    check_format(path)
    trace = traced(model, text, output, steps)
    axes = trace.axes.get("weights", ())
    if "step" in axes:
        figure = draw_steps(trace)
    elif "head" in axes:
        figure = draw_heads(trace)
    elif axes:
        figure = _draw_weights(trace)
    elif "answers" in trace:
        figure = _draw_answers(trace)
    else:
        raise InputError(NO_WEIGHTS)
    return finished(figure, path)


def _draw_weights(trace: Trace) -> "Picture":
    source, written, weights = trace.labels["source"], trace.labels["written"], trace["weights"]
    states = [name for name in STATES if name in trace and np.ptp(trace[name]) > 0]
    wide, high = (min(CELL, 14 / len(tokens)) for tokens in (source, written))
    width, height = max(3.5, wide * len(source)), max(2.0, high * len(written))
    figure = new_picture(width + 1.4 * len(states) + 0.9, height + 1.9)
    axes = figure.subplots(1, 1 + len(states), sharey=True, squeeze=False, width_ratios=[width, *[1.4] * len(states)])
    main = axes[0, 0]
    image = main.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    token_ticks(main.xaxis, source, width / len(source))
    token_ticks(main.yaxis, written, height / len(written))
    main.set(xlabel="token read", ylabel="token written, from the top down")
    room = 0.3 / height  # inches for the bar: as a share of a high picture it would push its label over the edge
    figure.colorbar(image, ax=main, location="bottom", shrink=0.6, aspect=30, fraction=room, label="attention weight")
    for name, panel in zip(states, axes[0, 1:], strict=True):
        panel.plot(trace[name], range(len(written)), "o-", markersize=3, color="C1")
        panel.set_xlabel(STATES[name])
        if name in SHARES:
            panel.set(xlim=(-0.05, 1.05), xticks=[0, 1])
        else:
            panel.locator_params(axis="x", nbins=3)  # more numbers than that stand over the edge, or over each other
        panel.tick_params(axis="y", left=False, labelleft=False)
        panel.grid(alpha=0.3)
    for panel in axes[0]:
        panel.xaxis.tick_top()
        panel.xaxis.set_label_position("top")
    figure.heading(trace.text, trace.answer)
    return figure


def _draw_answers(trace: Trace) -> "Picture":
    column, answers = trace.labels["column"], trace["answers"].T
    shown = np.sort(np.argsort(-answers.max(axis=1), kind="stable")[:ANSWERS])
    label, answers = [trace.labels["label"][k] for k in shown], answers[shown]
    width, height = max(3.0, min(CELL, 14 / len(column)) * len(column)), max(1.6, min(0.26 * len(label), 12))
    figure = new_picture(width + 2.2, height + 1.2)
    axes = figure.subplots()
    image = axes.imshow(answers, cmap="Greens", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    token_ticks(axes.xaxis, column, width / len(column))
    token_ticks(axes.yaxis, label, height / len(label))
    axes.set(xlabel="token read, from left to right", ylabel="answer")
    figure.colorbar(image, ax=axes, label="probability")
    figure.heading(trace.text, trace.answer, "its answer at each token")
    return figure
