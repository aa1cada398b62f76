"""What a decoder's states say of the vocabulary, position by position."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kzoo.backend import ensure_backend
from kzoo.errors import InputError
from kzoo.evaluation.report import wilson
from kzoo.inspection.plots import pyplot, save_figure
from kzoo.models.protocols import TracesBlocks

BASES = {"encoder": "encoder basis", "decoder": "decoder basis"}
MECHANISMS = {
    "minimum": "minimum at the delimiter, first attention",
    "successor": "identity and successor, second attention",
}


def probe(model: Any, inputs: str, output: str | None = None) -> dict[str, Any]:
    """Returns the states of a decoder projected on its embedding and unembedding vectors.

    From [Awasthi and Gupta, 2023](https://arxiv.org/abs/2310.00726), section 4: the rows of the embedding are the
    encoder basis, the columns of W, which gives the logits, the decoder basis; X_pre are the states after the attention
    of a block, X_post those after its feed-forward network. A projection is the inner product with each vector.

    Args:
        model: TransformerDecoder, or a preset's name or folder.
        inputs: str. The source.
        output: str. The output to read behind it. Defaults to what the model writes.

    Returns:
        dict of `tokens`, those read, the delimiter as "|"; `following`, what comes after each; `vocabulary`; and
        `encoder` and `decoder`, float32 of shape (blocks, 2, T, V): the projections, of X_pre and of X_post.

    Raises:
        InputError: the model is no decoder, or a token is unknown.

    Example:

    ```python
    found = kzoo.probe("theorem_sorter", "5 17 43 78 92")
    delimiter = found["tokens"].index("|")
    assert found["vocabulary"][found["decoder"][0, 0, delimiter].argmax()] == "5"
    ```

    Differences: where the model has a norm before its logits, states pass it on the way to the decoder basis, as they
    do on the way to the logits; the paper's formula has none.
    """
    model = _decoder(model)
    preprocessor = model.text_preprocessor()
    source = preprocessor.encode_source(inputs)
    target = preprocessor.encode_target(model.generate(inputs) if output is None else output)
    x, y, _ = preprocessor.arrays([source], [target])
    tokenizer = preprocessor.tokenizer
    names = [*tokenizer.tokens[: tokenizer.start_id], "|", *tokenizer.tokens[tokenizer.end_id :]]
    tokens, following = ([names[i] for i in row] for row in (x["token_ids"][0], y[0]))
    found = {basis: values[:, :, 0] for basis, values in _project(model, x).items()}
    return {"tokens": tokens, "following": following, "vocabulary": names[: tokenizer.end_id], **found}


def _decoder(model: Any) -> Any:
    ensure_backend()
    if isinstance(model, (str, Path)):
        from kzoo.saving.preset import from_preset

        model = from_preset(model)
    if not isinstance(model, TracesBlocks):
        raise InputError(f"probes are of decoders; this is a {type(model).__name__}")
    return model


def _project(model: Any, x: dict[str, Any]) -> dict[str, np.ndarray]:
    """Returns both projections of arrays, each (blocks, 2, B, T, V), V without end and padding."""
    from keras import ops

    end = model.preprocessor.tokenizer.end_id
    states = ops.stack([ops.stack([block["attended"], block["states"]]) for block in model.trace_blocks(x)])
    embedding = ops.convert_to_tensor(model.embedding.embeddings)[:end]
    unembedding = ops.convert_to_tensor(model.classes.kernel)[:, :end]
    normed = model.final_norm(states) if model.final_norm is not None else states
    found = {"encoder": ops.matmul(states, ops.transpose(embedding)), "decoder": ops.matmul(normed, unembedding)}
    return {basis: np.asarray(ops.convert_to_numpy(values)) for basis, values in found.items()}


def probe_accuracies(
    model: Any, lengths: Sequence[int], examples: int = 200, seed: int = 0
) -> dict[str, dict[int, dict[str, float]]]:
    """Returns how often a sorter's states do what its algorithm would, by length: the paper's Figures 4.15 and 4.16.

    minimum: of all numbers, the least of the source is the first in the decoder basis at the delimiter, after the
    attention of the first block. successor: at a number of the output, but for the last, the first two in the decoder
    basis after the attention of the second block are that number and the next one; the first alone where the next one
    is an equal.

    Args:
        model: TransformerDecoder of at least two blocks for the task "sorter", or a preset's name or folder.
        lengths: sequence of int.
        examples: int. Examples a length. Defaults to 200.
        seed: int. Seeds the examples.

    Returns:
        dict by mechanism and length of `value`, `n`, and the bounds `low` and `high` of the 95 % Wilson interval.

    Raises:
        InputError: the model is no such sorter.
    """
    from kzoo.tasks import get as get_task

    model, task = _decoder(model), get_task("sorter")
    preprocessor = model.text_preprocessor()
    if len(model.blocks) < 2 or tuple(preprocessor.tokenizer.tokens[:-3]) != task.vocabulary:
        raise InputError("these probes are of sorters with two blocks or more")
    found: dict[str, dict[int, dict[str, float]]] = {name: {} for name in MECHANISMS}
    for length in lengths:
        right: dict[str, list[np.ndarray]] = {name: [] for name in MECHANISMS}
        drawn = task.examples("test", examples, seed, length)
        for i in range(0, examples, 50):  # few at a time: a projection is as large as the vocabulary
            x, y, _ = preprocessor.arrays(*_encoded(preprocessor, drawn[i : i + 50]))
            numbers = _project(model, x)["decoder"][:2, 0, :, :, :-1]  # without the delimiter
            own, following = x["token_ids"][:, length + 1 :], y[:, length + 1 :]
            right["minimum"].append(numbers[0, :, length].argmax(axis=-1) == y[:, length])
            ranks = np.argsort(-numbers[1, :, length + 1 :], axis=-1)[..., :2]
            both = (np.sort(ranks, axis=-1) == np.stack([own, following], axis=-1)).all(axis=-1)
            right["successor"].append(np.where(own == following, ranks[..., 0] == own, both).ravel())
        for name, parts in right.items():
            all_ = np.concatenate(parts)
            if len(all_):
                low, high = wilson(float(all_.mean()), len(all_))
                found[name][length] = {"value": float(all_.mean()), "n": len(all_), "low": low, "high": high}
    return found


def _encoded(preprocessor: Any, rows: Sequence[Any]) -> tuple[list[list[int]], list[list[int]]]:
    sources = [preprocessor.encode_source(row.source) for row in rows]
    return sources, [preprocessor.encode_target(row.target) for row in rows]


def plot_probe(model: Any, inputs: str, path: Path, position: int | None = None, output: str | None = None) -> None:
    """Draws the projections of one position, a row a block, as the paper's Figures 4.12 to 4.14; SVG or PNG.

    From left to right: the encoder basis before and after the feed-forward network, the decoder basis before and after.
    The highest two of each are named, if they are of any height.

    Args:
        model: see `probe`.
        inputs: str. The source.
        path: Path. Its suffix, .svg or .png, gives the format.
        position: int. Counted from 0, the source first. Defaults to the delimiter.
        output: str. The output to read behind the source. Defaults to what the model writes.

    Raises:
        InputError: there is no such position.
    """
    plt = pyplot()
    found = probe(model, inputs, output)
    tokens, names = found["tokens"], found["vocabulary"]
    position = tokens.index("|") if position is None else position
    if not 0 <= position < len(tokens):
        raise InputError(f"a position must be from 0 to {len(tokens) - 1}, not {position}")
    blocks = len(found["encoder"])
    size = (13, 1 + 2.1 * blocks)
    figure, axes = plt.subplots(blocks, 4, figsize=size, layout="constrained", squeeze=False, sharex=True)
    for (block, column), panel in np.ndenumerate(axes):
        basis, after = list(BASES)[column // 2], column % 2
        values = found[basis][block, after, position]
        panel.bar(range(len(names)), values, width=1.0, color="0.6")
        for k in (k for k in np.argsort(-values)[:2] if values[k] > 0.05 * values.max()):
            panel.bar(k, values[k], width=1.0, color="C3")
            panel.annotate(names[k], (k, values[k]), ha="center", va="bottom", fontsize=9, color="C3")
        panel.margins(y=0.18)
        stage = "after the network" if after else "after attention"
        panel.set_title(f"block {block + 1}, {stage}, {BASES[basis]}", fontsize=9)
    step = max(1, len(names) // 8)
    axes[0, 0].set_xticks(range(0, len(names), step), names[::step])
    figure.suptitle(f"{' '.join(tokens)}: position {position}, {tokens[position]}", fontsize=11)
    save_figure(figure, path)


def plot_probe_accuracies(
    curves: dict[str, dict[str, dict[int, dict[str, float]]]], path: Path, trained: tuple[int, int] | None = None
) -> None:
    """Draws both probe accuracies against length, a curve a model; SVG or PNG.

    Args:
        curves: what `probe_accuracies` returned, by the name of the curve.
        path: Path. Its suffix, .svg or .png, gives the format.
        trained: (int, int). The lengths trained on, drawn as a band.
    """
    plt = pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained", sharey=True)
    for (mechanism, title), panel in zip(MECHANISMS.items(), axes, strict=True):
        for name, found in curves.items():
            rows = sorted(found[mechanism].items())
            x, y = [length for length, _ in rows], [100 * row["value"] for _, row in rows]
            margins = [[100 * max(0.0, row["value"] - row["low"]) for _, row in rows]]
            margins.append([100 * max(0.0, row["high"] - row["value"]) for _, row in rows])
            panel.errorbar(x, y, yerr=margins, fmt="o-", capsize=3, markersize=5, label=name)
        if trained:
            panel.axvspan(*trained, color="0.88", zorder=0, label=f"trained on {trained[0]} to {trained[1]}")
        panel.set_title(title, fontsize=9)
        panel.set(ylim=(-4, 104), xlim=(0, None), xlabel="length (numbers)")
        panel.grid(alpha=0.3)
    axes[0].set_ylabel("share (%)")
    axes[1].legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    save_figure(figure, path)
