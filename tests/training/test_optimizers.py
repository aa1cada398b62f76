"""The optimizer of a stage."""

import keras
import numpy as np
import pytest

from kzoo.errors import InputError
from kzoo.training.optimizers import make_optimizer
from kzoo.training.stages import Optimizer


def weights_after(options, gradients):
    variable = keras.Variable(np.zeros(2, "float32"))
    optimizer = make_optimizer(options, len(gradients))
    optimizer.build([variable])
    for gradient in gradients:
        optimizer.apply([keras.ops.convert_to_tensor(np.array(gradient, "float32"))], [variable])
    return keras.ops.convert_to_numpy(variable)


def test_adamax_divides_by_the_largest_gradient_of_late():
    gradients = [[0.3, -0.1], [0.1, 0.2], [-0.2, 0.1]]
    found = weights_after(Optimizer(algorithm="adamax", learning_rate=0.1, beta_2=0.5), gradients)
    mean, largest, expected = np.zeros(2), np.zeros(2), np.zeros(2)
    for k, gradient in enumerate(np.array(gradients), start=1):
        mean = 0.9 * mean + 0.1 * gradient
        largest = np.maximum(0.5 * largest, np.abs(gradient))
        expected -= 0.1 / (1 - 0.9**k) * mean / largest
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("algorithm", ["adam", "adamax"])
def test_what_adam_and_adamax_share(algorithm):
    limited = Optimizer(algorithm=algorithm, clip_norm=0.1)
    small, large = (weights_after(limited, [[1, 0], second]) for second in ([8, 0], [0.1, 0]))
    np.testing.assert_allclose(small, large, atol=1e-7)  # the norm of gradients is limited
    options = {"weight_decay": 0.1, "ema_momentum": 0.9, "epsilon": 0.5}
    found = make_optimizer(Optimizer(algorithm=algorithm, **options), 10).get_config()
    assert found["use_ema"] and {key: found[key] for key in options} == options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "adamx"}, r"unknown algorithm 'adamx'; did you mean 'adamax' or 'adam'\?"),
        ({"beta_2": 1}, "beta_2 must be a number from 0 to 0.999999"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        Optimizer(**options)
