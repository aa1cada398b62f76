"""The losses that models are trained with."""

from typing import Any

import keras
from keras import ops

SHARPNESS = 3.0  # of the loss of the attention, per column


def cross_entropy() -> keras.losses.Loss:
    """Returns the cross-entropy averaged over the real tokens of a batch, those with a sample weight."""
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="mean_with_sample_weight")


def attention_loss(trace: dict[str, Any], inputs: dict[str, Any]) -> Any:
    """Returns the loss between attention and gold attention: the mean over the supervised steps of

        -log sum_j a_tj exp(-3 |j - gold_t|)

    With all weight on one column this is three times its distance in columns, and has a gradient at any distance. Of
    weights that are a mixture it is the likelihood: the nearest component learns, and a share of the weights on the
    right column grows. Where a memory is read from either end, the end is drawn once for an example, and the likelihood
    is that of all its steps together:

        -log(alpha prod_t sum_j a_tj exp(-3 |j - gold_t|) + (1 - alpha) prod_t sum_j a_tj exp(-3 |S + 1 - j - gold_t|))

    Where `gold_logs` is given instead, it stands for -3 |j - gold_t|: see `LearnedAttention`.

    Args:
        trace: dict, with `weights` (B, T, S + 2), and `direction` where the memory is read from either end.
        inputs: dict, with `gold` int (B, T) or `gold_logs` (B, T, S + 2), `gold_weight` (B, T) and
            `encoder_padding_mask` (B, S).
    """
    weights = ops.cast(trace["weights"], "float32")
    logs = ops.where(weights > 0, ops.log(ops.maximum(weights, 1e-37)), -1e9)  # minus infinity has no gradient
    shares = ops.cast(inputs["gold_weight"], "float32")
    supervised = ops.cast(shares > 0, "float32")
    columns = ops.arange(ops.shape(weights)[2], dtype="float32")[None, None, :]

    def near(columns: Any) -> Any:
        if "gold_logs" not in inputs:
            return -SHARPNESS * ops.abs(columns - ops.cast(inputs["gold"], "float32")[:, :, None])
        index = ops.broadcast_to(ops.cast(ops.maximum(columns, 0.0), "int32"), ops.shape(logs))
        return ops.take_along_axis(inputs["gold_logs"], index, axis=2)

    def log_likelihood(columns: Any) -> Any:
        return ops.sum(supervised * ops.logsumexp(logs + near(columns), axis=2), axis=1)

    found = log_likelihood(columns)
    if "direction" in trace:
        last = ops.sum(ops.cast(inputs["encoder_padding_mask"], "float32"), axis=1)[:, None, None] + 1.0
        alpha = ops.clip(ops.cast(trace["direction"], "float32")[:, 0], 1e-6, 1.0 - 1e-6)
        found = ops.logaddexp(ops.log(alpha) + found, ops.log1p(-alpha) + log_likelihood(last - columns))
    return -ops.sum(ops.max(shares, axis=1) * found) / ops.maximum(ops.sum(supervised), 1.0)
