"""Batches of examples for `model.fit`."""

from collections.abc import Iterable
from typing import Any

import keras
import numpy as np

from kzoo.errors import InputError
from kzoo.preprocessing.preprocessor import Arrays, Seq2SeqPreprocessor, bucket


class Batches(keras.utils.PyDataset):
    """Examples as shuffled, padded batches; the order is a pure function of (seed, epoch).

    Args:
        examples: iterable of (source, target), texts or sequences of tokens.
        preprocessor: Seq2SeqPreprocessor.
        batch_size: int.
        seed: int or None. Seeds the shuffling; None keeps the order.
        drop_remainder: bool. Whether to leave out a last batch that is not full, so that every batch has one shape;
            each epoch leaves out other examples.
        bucketed: bool. Whether each batch is padded to a bucket of its own longest row (few shapes, little padding)
            or all to the longest row of all (one shape). Defaults to True, but on TensorFlow, where Keras takes the
            shapes of the first two batches for the shapes of all, to False.
    """

    def __init__(
        self,
        examples: Iterable[Any],
        preprocessor: Seq2SeqPreprocessor,
        batch_size: int = 32,
        seed: int | None = None,
        drop_remainder: bool = False,
        bucketed: bool | None = None,
    ) -> None:
        super().__init__()
        pairs = [(preprocessor.encode_source(s), preprocessor.encode_target(t)) for s, t in examples]
        if not pairs:
            raise InputError("there are no examples to train on or evaluate")
        self.preprocessor = preprocessor
        self.batch_size = min(batch_size, len(pairs)) if drop_remainder else batch_size
        self.seed, self.drop_remainder = seed, drop_remainder
        self.bucketed = keras.config.backend() != "tensorflow" if bucketed is None else bucketed
        self.pairs = pairs
        self.longest = (bucket(max(len(s) for s, _ in pairs)), bucket(max(len(t) for _, t in pairs)))
        self.begin(0)

    def begin(self, epoch: int) -> None:
        """Puts the examples into the order of an epoch; a training run that is taken up again begins there."""
        self.epoch = epoch
        order = np.arange(len(self.pairs))
        if self.seed is not None:
            np.random.default_rng([self.seed, self.epoch]).shuffle(order)
        self.order = order

    def __len__(self) -> int:
        whole, rest = divmod(len(self.pairs), self.batch_size)
        return whole + (rest > 0 and not self.drop_remainder)

    def __getitem__(self, index: int) -> Arrays:
        chosen = self.order[index * self.batch_size : (index + 1) * self.batch_size]
        sources, targets = zip(*(self.pairs[i] for i in chosen), strict=True)
        shape = (bucket(max(map(len, sources))), bucket(max(map(len, targets)))) if self.bucketed else self.longest
        return self.preprocessor.arrays(sources, targets, shape)

    def on_epoch_end(self) -> None:
        self.begin(self.epoch + 1)
