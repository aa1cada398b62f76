"""A wider model that begins by computing what a narrower one has learned."""

from typing import Any

import keras
import numpy as np

from kzoo.errors import InputError
from kzoo.saving.safetensors_file import Shapes
from kzoo.saving.weights import named_variables


def is_wider(model: keras.Model, shapes: Shapes) -> bool:
    """Whether a model has weights of these names, and of whole multiples of these shapes, not all of them equal."""
    own = {name: tuple(variable.shape) for name, variable in named_variables(model).items()}
    if own.keys() != shapes.keys() or own == shapes:
        return False
    pairs = [(own[name], shape) for name, shape in shapes.items()]
    return all(len(sizes) == len(shape) and all(shape) for sizes, shape in pairs) and not any(
        n % m for sizes, shape in pairs for n, m in zip(sizes, shape, strict=True)
    )


def widen(model: Any, narrow: Any, rng: np.random.Generator) -> None:
    """Gives a `TransformerClassifier` the weights of a narrower one: it begins by computing the same.

    After the Net2WiderNet of [Chen et al., 2016](https://arxiv.org/abs/1511.05641). Each unit of a layer is there r
    times, and what reads the copies takes the r-th part from each. Noise that adds up to 0 over the copies lets them
    learn different things; it is as large as the weights.

    Args:
        model: the model, with `units` and `hidden_units` that are whole multiples of the narrower one's.
        narrow: the trained model.
        rng: draws the noise.

    Raises:
        InputError: the wider model does not compute the same, as with an encoding or bias of position that depends on
            the width, or with more heads.

    Differences from the paper: it copies random units, here all are copied equally often, so that a layer norm has the
    same mean and variance.
    """
    arrays = {name: keras.ops.convert_to_numpy(v.value) for name, v in named_variables(narrow).items()}
    for name, variable in named_variables(model).items():
        array = arrays[name]
        ratios = [n // m for n, m in zip(variable.shape, array.shape, strict=True)]
        for axis, ratio in enumerate(ratios):
            array = np.repeat(array, ratio, axis)  # not `tile`: the units of a head stay in it
        if name.endswith("kernel") and ratios[0] > 1:
            copies = (len(array) // ratios[0], ratios[0], -1)
            noise = rng.normal(0.0, array.std() / ratios[0] ** 0.5, array.shape).reshape(copies)
            array = array / ratios[0] + (noise - noise.mean(axis=1, keepdims=True)).reshape(array.shape)
        if name.endswith("key.kernel"):  # scores add up over a head's units, and are scaled by their number
            trained = name.replace("key.kernel", "scale") in arrays
            array = array / (ratios[1] if trained else ratios[1] ** 0.5)
        variable.assign(array)
    inputs = {
        "token_ids": np.arange(model.vocabulary_size, dtype="int32")[None],
        "padding_mask": np.ones((1, model.vocabulary_size), bool),
    }
    wide, old = (keras.ops.convert_to_numpy(m(inputs, steps=2)) for m in (model, narrow))
    rounding = 1e-3 if model.compute_dtype == "float32" else 2e-2  # a stage may compute in bfloat16
    if not np.allclose(wide, old, atol=rounding * (1 + abs(old).max())):
        raise InputError("this model cannot be widened: its attention or positions depend on the width")
