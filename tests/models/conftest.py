"""How the models' tests call a model."""

import keras
import pytest

import kzoo


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


@pytest.fixture
def task_for():
    """Returns the name of a task that models of a class are for."""

    def task(cls):
        if issubclass(cls, kzoo.models.Classifier):
            return "ctl_forward"
        return "s3" if issubclass(cls, kzoo.models.SequenceTagger) else "recopy"

    return task
