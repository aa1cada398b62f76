"""The two accuracies, by hand."""

import keras
import numpy as np
import pytest

from kzoo.metrics import SequenceAccuracy, TokenAccuracy

TRUE = np.array([[1, 2, 3], [1, 2, 0], [2, 0, 0]])
WEIGHT = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 0]], "float32")
GUESSES = np.array([[1, 2, 3], [1, 1, 0], [2, 3, 3]])  # all right; one of two; right, and wrong only at pads


def logits(guesses):
    return np.eye(4, dtype="float32")[guesses]


def result(metric):
    return float(keras.ops.convert_to_numpy(metric.result()))


def test_by_hand():
    token, sequence = TokenAccuracy(), SequenceAccuracy()
    for metric in (token, sequence):
        metric.update_state(TRUE, logits(GUESSES), WEIGHT)
    assert result(token) == pytest.approx(5 / 6)
    assert result(sequence) == pytest.approx(2 / 3)


def test_without_weights_everything_counts():
    token, sequence = TokenAccuracy(), SequenceAccuracy()
    for metric in (token, sequence):
        metric.update_state(TRUE, logits(GUESSES))
    assert result(token) == pytest.approx(6 / 9)
    assert result(sequence) == pytest.approx(1 / 3)


@pytest.mark.parametrize("metric", [TokenAccuracy, SequenceAccuracy])
def test_batches_add_up_and_padding_changes_nothing(metric):
    whole, parts, padded = metric(), metric(), metric()
    whole.update_state(TRUE, logits(GUESSES), WEIGHT)
    for i in range(3):
        parts.update_state(TRUE[i : i + 1], logits(GUESSES)[i : i + 1], WEIGHT[i : i + 1])
    wide = [np.pad(array, ((0, 1), (0, 2))) for array in (TRUE, GUESSES, WEIGHT)]
    padded.update_state(wide[0], logits(wide[1]), wide[2])
    assert result(whole) == result(parts) == result(padded) > 0
    whole.reset_state()
    assert result(whole) == 0.0


def test_metrics_are_serialisable():
    for metric in (TokenAccuracy(), SequenceAccuracy("mine")):
        again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(metric))
        assert (type(again), again.name) == (type(metric), metric.name)
