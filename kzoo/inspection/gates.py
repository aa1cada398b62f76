"""What a model with shared depth did at each step."""

from pathlib import Path
from typing import Any

import numpy as np

from kzoo.errors import InputError
from kzoo.inspection.plots import check_room, pyplot, save_figure
from kzoo.models.protocols import TracesSteps

COLUMNS = 5  # attention maps a row of the picture


def step_trace(model: Any, text: str, steps: int | None = None) -> dict[str, Any]:
    """Returns what a model that runs one block many times did with a text.

    Args:
        model: a model with `trace_steps`, as `TransformerClassifier`.
        text: str.
        steps: int. Defaults to the model's `inference_steps`.

    Returns:
        dict of `source`, the tokens with start and end symbol as "<s>" and "</s>"; `output`, the label; `weights`
        (steps, N, T, T); and, where the model has them, `gates` (steps, T, D) and `halting` (steps, T).

    Raises:
        InputError: the model has no steps, or there are more steps or tokens than a picture has room for.
    """
    import keras

    if not isinstance(model, TracesSteps):
        raise InputError(f"{type(model).__name__} does not run one block step by step")
    preprocessor = model.text_preprocessor()
    ids = preprocessor.encode_source(text)
    check_room("tokens", len(ids))
    check_room("steps", model.inference_steps if steps is None else steps)
    tokenizer = preprocessor.tokenizer
    names = [*tokenizer.tokens, "<s>", "</s>"]
    symbols = {tokenizer.start_id: "<s>", tokenizer.end_id: "</s>"}
    x = preprocessor.sources([ids])
    found = {key: keras.ops.convert_to_numpy(value)[0] for key, value in model.trace_steps(x, steps=steps).items()}
    logits = keras.ops.convert_to_numpy(model(x, steps=steps))[0]
    output = preprocessor.labels[int(np.argmax(logits))]
    return {"source": [symbols.get(i) or names[i] for i in ids], "output": output, **found}


def plot_steps(model: Any, text: str, path: Path, steps: int | None = None) -> None:
    """Draws the attention weights of every step, a map a step, of several heads the largest weight; SVG or PNG.

    As Figure 2 of [Csordas et al., 2022](https://arxiv.org/abs/2110.07732): each row is a reading column.

    Args:
        model: see `step_trace`.
        text: str.
        path: Path. Its suffix, .svg or .png, gives the format.
        steps: int. Defaults to the model's `inference_steps`.
    """
    plt = pyplot()
    trace = step_trace(model, text, steps)
    source, weights = trace["source"], trace["weights"].max(axis=1)
    rows = -(-len(weights) // COLUMNS)
    columns = min(COLUMNS, len(weights))
    side = max(1.5, 0.19 * len(source))
    size = (columns * side + 1.0, rows * (side + 0.35) + 1.1)
    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    for panel in axes.flat[len(weights) :]:
        panel.set_axis_off()
    for step, (panel, map_) in enumerate(zip(axes.flat, weights, strict=False)):
        image = panel.imshow(map_, cmap="Blues", vmin=0, vmax=1)
        panel.set_title(f"step {step + 1}", fontsize=9)
        panel.set_xticks(range(len(source)), source, fontsize=7, rotation=90)
        panel.set_yticks(range(len(source)), source if step % columns == 0 else [], fontsize=7)
    heads = trace["weights"].shape[1]
    label = "attention weight" + (f", the largest of {heads} heads" if heads > 1 else "")
    figure.supxlabel("column read", fontsize=10)
    figure.supylabel("column that reads", fontsize=10)
    figure.suptitle(_title(text, trace), fontsize=11)
    figure.colorbar(image, ax=axes, location="right", shrink=0.6, label=label)
    save_figure(figure, path)


def plot_gates(model: Any, text: str, path: Path, steps: int | None = None) -> None:
    """Draws how open the copy gates were, the mean over a column's channels, by column and step; SVG or PNG.

    As Figure 3 of [Csordas et al., 2022](https://arxiv.org/abs/2110.07732): at 0 a column is copied, at 1 renewed.

    Args:
        model: see `step_trace`; its block must have a copy gate.
        text: str.
        path: Path. Its suffix, .svg or .png, gives the format.
        steps: int. Defaults to the model's `inference_steps`.

    Raises:
        InputError: the model has no gates.
    """
    plt = pyplot()
    trace = step_trace(model, text, steps)
    if "gates" not in trace:
        raise InputError("this model has no copy gates; the blocks ndr, abs_rel_gate and rel_gate do")
    source, openness = trace["source"], trace["gates"].mean(axis=-1)
    size = (max(3.2, 0.34 * len(source)) + 1.4, max(2.2, 0.26 * len(openness)) + 1.0)
    figure, axes = plt.subplots(figsize=size, layout="constrained")
    image = axes.imshow(openness, cmap="Oranges", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(source)), source, rotation=90)
    axes.set_yticks(range(len(openness)), range(1, len(openness) + 1))
    axes.set(xlabel="column", ylabel="step", title=_title(text, trace))
    axes.title.set_fontsize(11)
    figure.colorbar(image, ax=axes, label="mean gate (1 renews)")
    save_figure(figure, path)


def _title(text: str, trace: dict[str, Any]) -> str:
    return f"{text}  \u2192  {trace['output']}"
