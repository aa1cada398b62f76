"""What a decoder's states say of the vocabulary, position by position."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kzoo.backend import ensure_backend
from kzoo.errors import InputError
from kzoo.evaluation.report import wilson
from kzoo.models.protocols import TracesBlocks

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
