"""The hidden Markov model that explains each token of a target by a position of its source."""

import math
from typing import Any

import keras
import numpy as np
from keras import ops

from kzoo.annotations import Inputs, Tensor
from kzoo.training.alignment.forward_backward import Chances, forward, next_waypoint, posterior

LOOK_COST = 0.1  # in nats
NOISE = 1e-4  # the share of tokens that no position explains, so that no pair is impossible


class Aligner(keras.Model):
    """A hidden Markov model over source positions, trained by the exact likelihood of the targets.

    With x the source, y the target and j a position:

        p(y_t | x_j, y_(t-1))                   a table: "emission"
        m_j = sigmoid(mark[x_(j-1), x_j])       how likely j is a waypoint
        p(stay, move, look | y_(t-1))           what a step does: "kinds"
        p(l | x_j)                              which position l the token at the walk names, for looks elsewhere

    A move goes to the next waypoint, skipping position k with 1 - m_k. Which positions the steps looked at is summed
    out (`forward_backward`). Each look elsewhere is made 0.1 nats less likely: a token that every position explains
    alike, as a separator, is then explained by the walk, and not by a look that is no better.

    The first model of this kind is that of [Vogel et al., 1996](https://aclanthology.org/C96-2141/); marks, named
    positions, the cost of a look and the table over the last token are our own.

    Args:
        tokens: int. The size of the vocabulary.
        places: int. How many positions tokens may name, from 0; those beyond a source are its end.
        seed: int. Of the initial weights.
    """

    def __init__(self, tokens: int, places: int, seed: int = 0) -> None:
        super().__init__()
        symbols, random = tokens + 2, np.random.default_rng(seed)
        shapes = {
            "emission": (symbols, symbols, tokens),  # of the last token and the source token
            "mark": (symbols, symbols),
            "kinds": (symbols, 3),
            "named": (symbols, places),
        }
        for name, shape in shapes.items():
            initial = 0.1 * random.normal(size=shape) + (1.0 if name == "mark" else 0.0)
            constant = keras.initializers.Constant(initial.astype("float32"))
            setattr(self, name, self.add_weight(shape=shape, initializer=constant, name=name, dtype="float32"))
        self.tokens, self.places = tokens, places
        self.built = True

    def chances(self, inputs: Inputs) -> Chances:
        """Returns what `forward` takes, of arrays as `encode` gives them."""
        source, real = inputs["source"], inputs["source_mask"]
        table = ops.softmax(self.emission, axis=-1) * (1.0 - NOISE) + NOISE / self.tokens
        index = inputs["last"][:, :, None] * (self.tokens + 2) + source[:, None, :]
        index = index * self.tokens + inputs["target"][:, :, None]
        emit = ops.take(ops.reshape(table, (-1,)), index) * real[:, None, :]
        marks = ops.take(ops.reshape(self.mark, (-1,)), inputs["previous"] * (self.tokens + 2) + source)
        ahead = next_waypoint(ops.sigmoid(marks) * real, ops.log_sigmoid(-marks))
        sizes = ops.sum(ops.cast(real, "int32"), axis=1)
        places = ops.minimum(ops.arange(self.places)[None, :], sizes[:, None] - 1)
        named = ops.take(ops.softmax(self.named, axis=-1), source, axis=0)
        elsewhere = ops.matmul(named, ops.one_hot(places, source.shape[1]))
        costs = ops.convert_to_tensor([1.0, 1.0, math.exp(-LOOK_COST)], "float32")
        kinds = ops.take(ops.softmax(self.kinds, axis=-1) * costs, inputs["last"], axis=0)
        mask = inputs["target_mask"]
        return {"emit": emit, "kinds": kinds, "next": ahead, "elsewhere": elsewhere, "mask": mask}

    def call(self, inputs: Inputs) -> Tensor:
        """Returns the log-likelihood of each target, (B,), and adds the loss: its mean over tokens, times -1."""
        found = forward(self.chances(inputs))[0]
        self.add_loss(-ops.sum(found) / ops.sum(inputs["target_mask"]))
        return found

    def posterior(self, inputs: Inputs) -> Any:
        """Returns the log-likelihood (B,), the posterior of the positions (B, T, S) and of the kinds (B, T, 3)."""
        return posterior(self.chances(inputs))
