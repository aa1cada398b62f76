"""The pairs that an alignment is fitted to, batch by batch."""

import keras
import numpy as np

BATCH = 128


class Draws(keras.utils.PyDataset):
    """Batches of pairs drawn with replacement; each is a pure function of (seed, step)."""

    def __init__(self, arrays: dict[str, np.ndarray], seed: int, steps: int) -> None:
        super().__init__()
        self.arrays, self.seed, self.steps = arrays, seed, steps

    def __len__(self) -> int:
        return self.steps

    def __getitem__(self, index: int) -> tuple[dict[str, np.ndarray]]:
        rows = np.random.default_rng([self.seed, index]).integers(0, len(self.arrays["source"]), BATCH)
        return ({name: values[rows] for name, values in self.arrays.items()},)
