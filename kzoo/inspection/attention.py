"""Where a model looked."""

from pathlib import Path
from typing import Any

import numpy as np

from kzoo.errors import InputError
from kzoo.evaluation.measure import in_source_order
from kzoo.inspection.plots import check_room, pyplot, save_figure
from kzoo.models.protocols import TracesAttention

# What a location mechanism keeps besides its weights, with the words for a picture.
STATES = {"center": "centre\n(positions)", "spread": "spread\n(positions)", "mix": "weight of\nlocation"}


def attention_trace(model: Any, text: str, output: str | None = None) -> dict[str, Any]:
    """Returns what the attention of a recurrent model did while it wrote the output of a text.

    Args:
        model: a model with `trace`, as `RecurrentSeq2Seq`.
        text: str. The source.
        output: str. The output to force. Defaults to what the model writes.

    Returns:
        dict of `source` and `output`, lists of tokens (the start and end vectors as "<s>" and "</s>"); `weights`,
        (T, S); and the states of the mechanism by name, each (T,).

    Raises:
        InputError: the model keeps no trace.
    """
    import keras

    if not isinstance(model, TracesAttention):
        raise InputError(f"{type(model).__name__} keeps no trace of its attention")
    preprocessor = model.text_preprocessor()
    output = model.generate(text) if output is None else output
    ids, target = preprocessor.encode(text, output)
    x, _, _ = preprocessor.arrays([ids], [target])
    trace = {key: keras.ops.convert_to_numpy(value)[0] for key, value in model.trace(x)[1].items()}
    tokens = preprocessor.tokenizer.tokens
    source = ["<s>", *(tokens[i] for i in ids), "</s>"]
    found = {key: np.asarray(value) for key, value in trace.items() if key in ("weights", *STATES)}
    alpha = float(trace["direction"][0]) if "direction" in trace else 1.0
    found["weights"] = in_source_order(found["weights"], alpha)
    if {"center", "spread"} <= set(found):
        center = found["center"] * (len(source) - 1)  # in positions
        found["center"] = alpha * center + (1 - alpha) * (len(source) - 1 - center)
        found["spread"] = found["spread"] * (len(source) - 1)
    return {"source": source, "output": [tokens[i] for i in target], **found}


def plot_attention(model: Any, text: str, path: Path, output: str | None = None) -> None:
    """Draws the attention weights, a row a written token, and the mechanism's states beside them; SVG or PNG.

    Weights and centres are in the order of the source, also where the model reads from its end (`DirectionMix`).

    Args:
        model: see `attention_trace`.
        text: str. The source.
        path: Path. Its suffix, .svg or .png, gives the format.
        output: str. The output to force. Defaults to what the model writes.

    Raises:
        InputError: there are more tokens than a picture has room for.
    """
    plt = pyplot()
    check_room("tokens", len(model.text_preprocessor().encode_source(text)))
    trace = attention_trace(model, text, output)
    source, written, weights = trace["source"], trace["output"], trace["weights"]
    check_room("written tokens", len(written))
    states = [name for name in STATES if name in trace and np.ptp(trace[name]) > 0]
    width = max(3.5, 0.3 * len(source)) + 1.4 * len(states)
    height = max(2.5, 0.26 * len(written)) + 0.9
    ratios = [max(3.5, 0.3 * len(source)), *[1.4] * len(states)]
    figure, axes = plt.subplots(
        1,
        1 + len(states),
        figsize=(width, height),
        layout="constrained",
        sharey=True,
        squeeze=False,
        width_ratios=ratios,
    )
    main = axes[0, 0]
    image = main.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    main.set_xticks(range(len(source)), source, rotation=90 if max(map(len, source[1:-1]), default=0) > 2 else 0)
    main.set_yticks(range(len(written)), written)
    main.set(xlabel="source", ylabel="written")
    main.xaxis.tick_top()
    main.xaxis.set_label_position("top")
    figure.colorbar(image, ax=main, location="bottom", shrink=0.6, aspect=30, label="attention weight")
    for name, panel in zip(states, axes[0, 1:], strict=True):
        panel.plot(trace[name], range(len(written)), "o-", markersize=3, color="C1")
        panel.set_xlabel(STATES[name])
        panel.xaxis.tick_top()
        panel.xaxis.set_label_position("top")
        panel.grid(alpha=0.3)
    save_figure(figure, path)
