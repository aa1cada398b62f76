"""The Transformer block, its attention, and the loops that run one block many times."""
