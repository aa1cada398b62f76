"""The two accuracies, as Keras metrics: both masked by the sample weight, both from logits."""

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable("kzoo")
class TokenAccuracy(keras.metrics.Metric):
    """The share of target tokens, end symbol included, that are right given the true tokens before them.

    Call arguments:
        y_true: int tensor of shape (B, T).
        y_pred: float tensor of shape (B, T, V), logits.
        sample_weight: float tensor of shape (B, T), 0 at pads.
    """

    def __init__(self, name: str = "token_accuracy", **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self._direction = "up"  # for callbacks that monitor it, as EarlyStopping
        self.right = self.add_variable((), "zeros", name="right")
        self.total = self.add_variable((), "zeros", name="total")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        right, real = matches(y_true, y_pred, sample_weight)
        self.right.assign_add(ops.sum(ops.cast(right & real, "float32")))
        self.total.assign_add(ops.sum(ops.cast(real, "float32")))

    def result(self) -> Any:
        return self.right / ops.maximum(self.total, 1.0)


@keras.saving.register_keras_serializable("kzoo")
class SequenceAccuracy(TokenAccuracy):
    """The share of sequences with every token right, end symbol included.

    Computed with the true tokens before each step, which gives the same number as greedy decoding: the first wrong
    token of either is the same.

    Call arguments:
        y_true: int tensor of shape (B, T).
        y_pred: float tensor of shape (B, T, V), logits.
        sample_weight: float tensor of shape (B, T), 0 at pads.
    """

    def __init__(self, name: str = "sequence_accuracy", **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        right, real = matches(y_true, y_pred, sample_weight)
        whole = ops.all(right | ~real, axis=-1) & ops.any(real, axis=-1)
        self.right.assign_add(ops.sum(ops.cast(whole, "float32")))
        self.total.assign_add(ops.sum(ops.cast(ops.any(real, axis=-1), "float32")))


def matches(y_true: Any, y_pred: Any, sample_weight: Any = None) -> tuple[Any, Any]:
    """Returns where the likeliest token is the true one, and where tokens are real; both bool (B, T)."""
    guess = ops.argmax(y_pred, axis=-1)
    right = ops.cast(guess, "int32") == ops.cast(y_true, "int32")
    real = ops.ones_like(right) if sample_weight is None else ops.convert_to_tensor(sample_weight) > 0
    return right, real
