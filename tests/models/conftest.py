"""How the models' tests call a model."""

import keras
import pytest


@pytest.fixture(scope="session")
def logits_of():
    """A function from a model and its inputs to logits: the quicker way on each backend where shapes hardly recur.

    JAX is slow operation by operation, TensorFlow is slow to trace.
    """

    def call(model, x):
        if keras.config.backend() == "tensorflow":
            return keras.ops.convert_to_numpy(model(x))
        return model.predict_on_batch(x)

    return call
