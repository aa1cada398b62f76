"""What the preset of a stranger may cost, held before memory and time are taken for it."""

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import keras

from kzoo import checks
from kzoo.errors import PresetError
from kzoo.models.activation import largest_activation
from kzoo.saving.weights import LOCK

LENGTH = 100  # tokens of the input whose activations are counted
MOST = 10_000.0


class Budget(NamedTuple):
    """What a model may have: many times what the bundled presets have, of parameters forty times.

    Args:
        parameters: int. Numbers in its weights.
        layers: int. Keras layers, parts of parts included.
        activation: int. Numbers of the largest tensor that it computes of one input of 100 tokens.
        steps: int. Steps of its loops of shared depth, together.
    """

    parameters: int = 40_000_000
    layers: int = 1_500
    activation: int = 2**24
    steps: int = 1_000

    def check(self, name: str, count: int, factor: float, path: Path) -> None:
        """Raises `PresetError` if a model has more of something than so many times what it may have."""
        limit = int(getattr(self, name) * factor)
        if count > limit:
            what = {"activation": f"numbers in a tensor at {LENGTH} tokens", "steps": "steps of a loop"}.get(name, name)
            raise PresetError(
                f"{path} asks for {count:,} {what}, and {limit:,} are within the budget: "
                f"budget={math.ceil(count / getattr(self, name))} allows it"
            )


BUDGET = Budget()


def check_factor(budget: float) -> float:
    """Returns a budget as an argument: how many times `BUDGET`."""
    return checks.number("budget", budget, 1.0, MOST)


@contextmanager
def limit_layers(factor: float, path: Path) -> Iterator[None]:
    """Refuses, in this thread, to make more layers than the budget has, while they are made.

    Args:
        factor: float. How many times the budget.
        path: Path. The config that is built, for the message.

    Raises:
        PresetError: there are more.
    """
    thread, made, limit = threading.get_ident(), 0, int(BUDGET.layers * factor)
    with LOCK:
        plain = keras.layers.Layer.__init__

        def initialize(layer: Any, *args: Any, **kwargs: Any) -> None:
            nonlocal made
            if threading.get_ident() == thread:
                made += 1
                if made > limit:
                    raise PresetError(
                        f"{path} asks for more than {limit:,} layers, which are the budget: a larger budget=... allows "
                        "them"
                    )
            plain(layer, *args, **kwargs)

        keras.layers.Layer.__init__ = initialize
        try:
            yield
        finally:
            keras.layers.Layer.__init__ = plain


def check_costs(model: keras.Model, factor: float, path: Path) -> None:
    """Raises `PresetError` if what a model computes of an input of 100 tokens is beyond so many times the budget."""
    BUDGET.check("activation", largest_activation(model, LENGTH), factor, path)
    loops = [layer for layer in model._flatten_layers() if hasattr(layer, "inference_steps") and layer is not model]
    BUDGET.check("steps", sum(max(loop.steps, loop.inference_steps) for loop in loops), factor, path)
