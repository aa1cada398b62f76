"""The pairs that an alignment is fitted to, batch by batch."""

import keras
import numpy as np

BATCH = 128  # where pairs are not long
ENTRIES = 2**24  # of an array with a chance for every two positions of each pair


def rows_together(arrays: dict[str, np.ndarray], most: int) -> int:
    """Returns how many pairs fit into memory together, at most so many."""
    width, height = arrays["source"].shape[1], arrays["target"].shape[1]
    return max(1, min(most, ENTRIES // (width * max(width, height))))


class Draws(keras.utils.PyDataset):
    """Batches of pairs drawn with replacement; each is a pure function of (seed, step)."""

    def __init__(self, arrays: dict[str, np.ndarray], seed: int, steps: int) -> None:
        super().__init__()
        self.arrays, self.seed, self.steps = arrays, seed, steps
        self.rows = rows_together(arrays, BATCH)

    def __len__(self) -> int:
        return self.steps

    def __getitem__(self, index: int) -> tuple[dict[str, np.ndarray]]:
        rows = np.random.default_rng([self.seed, index]).integers(0, len(self.arrays["source"]), self.rows)
        return ({name: values[rows] for name, values in self.arrays.items()},)
