"""How a number becomes a number of steps, by name."""

from keras import ops

from kzoo.layers.attention.softstair import softstair

STEPS = {
    "sigmoid": lambda x: ops.sigmoid(5.0 * x),
    "relu": ops.relu,
    "softstair": softstair,
    "linear": lambda x: x,
}
