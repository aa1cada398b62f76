"""Where the heads of a Transformer looked, and where their biases let them look."""

from pathlib import Path
from typing import Any

import numpy as np

from kzoo.errors import InputError
from kzoo.inspection.plots import pyplot, save_figure
from kzoo.models.protocols import TracesLayers

COLUMNS = 4  # heads a row of the picture
MOST_TOKENS = 40  # more are not written at the axes


def head_trace(model: Any, text: str, output: str | None = None) -> dict[str, Any]:
    """Returns what the last decoder layer of a model did while it wrote the output of a text.

    Args:
        model: TransformerSeq2Seq.
        text: str. The source.
        output: str. The output to force. Defaults to what the model writes.

    Returns:
        dict of `source` and `output`, lists of tokens as the model reads and writes them ("<s>" and "</s>" are start
        and end symbol); `cross` (N, T, S) and `self` (N, T, T), the weights; `cross_bias` and `self_bias`, arrays of
        the same shapes, or None where an attention has no bias or one that depends on the states.

    Raises:
        InputError: the model has no such heads.
    """
    import keras

    from kzoo.layers.bias.alibi_bias import AlibiBias
    from kzoo.layers.bias.bias_inputs import BiasInputs
    from kzoo.layers.bias.masking_bias import MaskingBias

    if not isinstance(model, TracesLayers):
        raise InputError(f"{type(model).__name__} has no heads that look at a source; a TransformerSeq2Seq has")
    preprocessor = model.text_preprocessor()
    output = model.generate(text) if output is None else output
    ids, target = preprocessor.encode(text, output)
    x, _, _ = preprocessor.arrays([ids], [target])
    weights = model.trace_layers(x)[-1]
    found: dict[str, Any] = {key: keras.ops.convert_to_numpy(value)[0] for key, value in weights.items()}
    block, ends = model.decoder[-1], keras.ops.convert_to_tensor(x["encoder_ends"])
    for name, attention, extra in (("self", block.block.attention, {}), ("cross", block.cross, {"source_ends": ends})):
        bias = None
        if isinstance(attention.bias, (AlibiBias, MaskingBias)):
            _, rows, columns = found[name].shape
            bias = keras.ops.convert_to_numpy(attention.bias(BiasInputs(rows, columns, **extra)))[0]
            bias = np.broadcast_to(bias, found[name].shape)
        found[f"{name}_bias"] = bias
    tokenizer = preprocessor.tokenizer
    symbols = {tokenizer.start_id: "<s>", tokenizer.end_id: "</s>"}
    source, written = ([symbols.get(i, tokenizer.tokens[i]) for i in row] for row in (ids, target))
    return {"source": source, "output": written, **found}


def plot_heads(model: Any, text: str, path: Path, output: str | None = None) -> None:
    """Draws the attention weights of the last decoder layer, a map a head: to the source, then to what was written.

    As Figures 2, 8 and 9 of [Duan et al., 2023](https://arxiv.org/abs/2310.11984).

    Args:
        model: TransformerSeq2Seq.
        text: str. The source.
        path: Path. Its suffix, .svg or .png, gives the format.
        output: str. The output to force. Defaults to what the model writes.
    """
    trace = head_trace(model, text, output)
    maps = [("source", trace["cross"]), ("written", trace["self"])]
    _draw(trace, maps, path, {"cmap": "Blues", "vmin": 0, "vmax": 1}, "attention weight", text)


def plot_biases(model: Any, text: str, path: Path, output: str | None = None) -> None:
    """Draws the biases of a decoder's attention, a matrix a head: to the source, then to what was written.

    As Figures 4, 5 and 11 of [Duan et al., 2023](https://arxiv.org/abs/2310.11984). What is closed is grey.

    Args:
        model: TransformerSeq2Seq, with biases that do not depend on its states.
        text: str. A source, whose length gives the matrices their size.
        path: Path. Its suffix, .svg or .png, gives the format.
        output: str. The output that goes with it. Defaults to what the model writes.

    Raises:
        InputError: the model has no such biases.
    """
    from kzoo.layers.bias.masking_bias import MASKED

    trace = head_trace(model, text, output)
    maps = [("source", trace["cross_bias"]), ("written", trace["self_bias"])]
    maps = [(name, np.where(bias > MASKED / 2, bias, np.nan)) for name, bias in maps if bias is not None]
    if not maps:
        raise InputError("this model has no biases that can be drawn; windowed, alibi and calibrated ones can")
    lowest = min(float(np.nanmin(bias)) for _, bias in maps)
    _draw(trace, maps, path, {"cmap": "viridis", "vmin": min(lowest, -1e-3), "vmax": 0}, "bias (grey is closed)", text)


def _draw(trace: dict[str, Any], maps: Any, path: Path, style: dict[str, Any], label: str, text: str) -> None:
    plt = pyplot()
    heads = len(maps[0][1])
    columns = min(COLUMNS, heads)
    rows = [(name, bias, first) for name, bias in maps for first in range(0, heads, columns)]
    tokens = {"source": trace["source"], "written": ["<s>", *trace["output"]][:-1]}
    width = max(1.6, 0.13 * min(len(trace["source"]), MOST_TOKENS))
    height = max(1.4, 0.13 * min(len(trace["output"]), MOST_TOKENS))
    size = (columns * width + 1.3, len(rows) * (height + 0.45) + 0.9)
    figure, axes = plt.subplots(len(rows), columns, figsize=size, layout="constrained", squeeze=False)
    for (name, values, first), line in zip(rows, axes, strict=True):
        for k, panel in enumerate(line):
            if first + k >= heads:
                panel.set_axis_off()
                continue
            panel.set_facecolor("0.8")
            image = panel.imshow(values[first + k], aspect="auto", interpolation="nearest", **style)
            panel.set_title(f"head {first + k + 1}, {name}", fontsize=9)
            _ticks(panel.set_xticks, tokens[name], rotation=90)
            _ticks(panel.set_yticks, trace["output"] if k == 0 else [])
    figure.supxlabel("token read", fontsize=10)
    figure.supylabel("token written", fontsize=10)
    figure.suptitle(text if len(text) <= 60 else f"{text[:57]}...", fontsize=11)
    figure.colorbar(image, ax=axes, location="right", shrink=0.6, label=label)
    save_figure(figure, path)


def _ticks(put: Any, tokens: list[str], **style: Any) -> None:
    if len(tokens) <= MOST_TOKENS:
        put(range(len(tokens)), tokens, fontsize=7, **style)
    else:
        put(range(0, len(tokens), 10))
