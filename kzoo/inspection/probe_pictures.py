"""Pictures of what a decoder's states say of the vocabulary."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kzoo.errors import InputError
from kzoo.inspection.plots import check_format, check_room, drawn, finished, length_axis, new_picture
from kzoo.inspection.probe import MECHANISMS, probe

if TYPE_CHECKING:
    from kzoo.inspection.picture import Picture

BASES = {"encoder": "embedding (encoder basis)", "decoder": "output weights (decoder basis)"}


@drawn
def plot_probe(
    model: Any,
    inputs: str,
    path: str | Path | None = None,
    position: int | None = None,
    output: str | None = None,
) -> "Picture":
    """Draws the projections of one position, a row a block, as the paper's Figures 4.12 to 4.14.

    From left to right: the encoder basis before and after the feed-forward network, the decoder basis before and after.
    The highest two of each are named, if they are of any height.

    Args:
        model: see `probe`.
        inputs: str. The source.
        path: Path. Where to write it; its suffix, .png, .svg or .pdf, gives the format. Defaults to nowhere.
        position: int. Counted from 0, the source first. Defaults to the delimiter.
        output: str. The output to read behind the source. Defaults to what the model writes.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        InputError: there is no such position.
    """
    check_format(path)
    found = probe(model, inputs, output)
    tokens, names = found["tokens"], found["vocabulary"]
    check_room("tokens", len(tokens))
    position = tokens.index("|") if position is None else position
    if not 0 <= position < len(tokens):
        raise InputError(f"a position must be from 0 to {len(tokens) - 1}, not {position}")
    blocks = len(found["encoder"])
    figure = new_picture(13, 1.8 + 2.2 * blocks)
    axes = figure.subplots(blocks, 4, squeeze=False, sharex=True)
    for (block, column), panel in np.ndenumerate(axes):
        basis, after = list(BASES)[column // 2], column % 2
        values = found[basis][block, after, position]
        panel.bar(range(len(names)), values, width=1.0, color="0.6")
        for k in (k for k in np.argsort(-values)[:2] if values[k] > 0.05 * values.max()):
            panel.bar(k, values[k], width=1.0, color="C3")
            name = names[k] if names[k].isalnum() else repr(names[k])  # a bare | looks like a longer bar
            panel.annotate(name, (k, values[k]), ha="center", va="bottom", fontsize=9, color="C3")
        panel.margins(y=0.18)
        stage = "its network" if after else "its attention"
        panel.set_title(f"block {block + 1}, behind {stage}\nagainst the {BASES[basis]}", fontsize=9)
        panel.tick_params(labelsize=8)
    step = max(1, len(names) // 8)
    axes[0, 0].set_xticks(range(0, len(names), step), names[::step])
    figure.supxlabel("token of the vocabulary; red: the highest two", fontsize=10)
    figure.supylabel("inner product of the states with the token's vector", fontsize=10)
    where, following = f"states at position {position}, token {tokens[position]}", found["following"]
    figure.heading(" ".join(tokens), following[-1], f"{where}, which is followed by {following[position]}")
    return finished(figure, path)


@drawn
def plot_probe_accuracies(
    curves: dict[str, dict[str, dict[int, dict[str, float]]]],
    path: str | Path | None = None,
    trained: tuple[int, int] | None = None,
) -> "Picture":
    """Draws both probe accuracies against length, a curve a model.

    Args:
        curves: what `probe_accuracies` returned, by the name of the curve.
        path: Path. Where to write it; its suffix, .png, .svg or .pdf, gives the format. Defaults to nowhere.
        trained: (int, int). The lengths trained on, drawn as a band.

    Returns:
        A `matplotlib.figure.Figure`.
    """
    check_format(path)
    figure = new_picture(10, 3.6)
    axes = figure.subplots(1, 2, sharey=True)
    for (mechanism, title), panel in zip(MECHANISMS.items(), axes, strict=True):
        lengths = list(trained or ())
        for name, found in curves.items():
            rows = sorted(found[mechanism].items())
            x, y = [length for length, _ in rows], [100 * row["value"] for _, row in rows]
            margins = [[100 * max(0.0, row["value"] - row["low"]) for _, row in rows]]
            margins.append([100 * max(0.0, row["high"] - row["value"]) for _, row in rows])
            panel.errorbar(x, y, yerr=margins, fmt="o-", capsize=3, markersize=5, label=name)
            lengths += x
        if trained:
            panel.axvspan(*trained, color="0.88", zorder=0, label=f"trained on {trained[0]} to {trained[1]}")
        length_axis(panel, lengths, "numbers")
        panel.set_title(title, fontsize=9)
        panel.set(ylim=(-4, 104))
        panel.grid(alpha=0.3)
    axes[0].set_ylabel("positions where it holds (%)")
    legend = {"frameon": False, "title": "bars: 95 % interval", "title_fontsize": 9}
    axes[1].legend(loc="center left", bbox_to_anchor=(1.01, 0.5), **legend)
    return finished(figure, path)
