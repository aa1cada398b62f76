"""How batches are drawn from examples of different lengths; imports no Keras."""

SAMPLINGS = ("mixed", "grouped", "balanced")
