"""Batches of examples for `model.fit`."""

from collections.abc import Callable, Iterable
from typing import Any

import keras
import numpy as np

from kzoo import checks
from kzoo.annotations import Arrays
from kzoo.data.drawing_ahead import DrawingAhead, drawn, encoded
from kzoo.data.sampling import SAMPLINGS
from kzoo.errors import InputError, KzooError
from kzoo.preprocessing.preprocessor import Preprocessor


class Batches(keras.utils.PyDataset):
    """Examples as shuffled, padded batches; the order is a pure function of (seed, epoch).

    Args:
        examples: iterable of (source, target), texts or sequences of tokens; or a function that returns those of an
            epoch, counted from 0.
        preprocessor: Preprocessor.
        batch_size: int.
        seed: int or None. Seeds the shuffling; None keeps the order.
        drop_remainder: bool. Whether to leave out a last batch that is not full, so that every batch has one shape;
            each pass leaves out other examples.
        sampling: str. "mixed": a batch holds examples of any length; "grouped": of like source length; "balanced": of
            one source length, every length in equally many batches of a pass, which repeats examples of the rare
            lengths and leaves out some of the frequent. Defaults to "mixed".
        bucketed: bool. Whether each batch is padded to a bucket of its own longest row (few shapes, little padding)
            or all to the longest row of all (one shape). Defaults to True, but on TensorFlow, where Keras takes the
            shapes of the first two batches for the shapes of all, to False.
        steps: int or None. Batches an epoch, taken on and on from pass after pass; None makes an epoch one pass.
        draw_ahead: int. Of examples that are drawn for each epoch: so many epochs ahead are drawn, each in a process of
            its own; see `DrawingAhead`. Defaults to 0: they are drawn when the epoch begins.
        last: int or None. The last epoch that is drawn ahead. Defaults to None: there is none.

    Raises:
        InputError: there are no examples, `sampling` is unknown, or `draw_ahead` is out of range.
    """

    def __init__(
        self,
        examples: Iterable[Any] | Callable[[int], Iterable[Any]],
        preprocessor: Preprocessor,
        batch_size: int = 32,
        seed: int | None = None,
        drop_remainder: bool = False,
        bucketed: bool | None = None,
        sampling: str = "mixed",
        steps: int | None = None,
        draw_ahead: int = 0,
        last: int | None = None,
    ) -> None:
        super().__init__()
        self.preprocessor, self.seed, self.steps = preprocessor, seed, steps
        draw = self.draw = examples if callable(examples) else None
        self.ahead = DrawingAhead(draw, preprocessor, draw_ahead, last) if draw is not None and draw_ahead else None
        self.drop_remainder, self.sampling = drop_remainder, checks.choice("sampling", sampling, SAMPLINGS)
        self.longest = (0, 0)
        self.error: BaseException | None = None  # of drawing, which a backend may wrap
        self._take(0, encoded(examples(0) if callable(examples) else examples, preprocessor))
        self.begin(0)
        few = drop_remainder and sampling != "balanced"  # which fills a batch from fewer examples
        self.batch_size = min(batch_size, len(self.pairs)) if few else batch_size
        self.bucketed = keras.config.backend() != "tensorflow" if bucketed is None else bucketed

    def _take(self, epoch: int, examples: list[tuple[Any, Any]]) -> None:
        self.taken, self.taken_in = examples, epoch
        if not self.taken:
            raise InputError("there are no examples to train on or evaluate")
        longest = (max(len(s) for s, _ in self.taken), max(len(t) for _, t in self.taken))
        self.longest = (max(self.longest[0], longest[0]), max(self.longest[1], longest[1]))

    @property
    def pairs(self) -> list[tuple[list[int], list[int]]]:
        """list of (source, target). The encoded examples of the epoch, drawn once they are asked for."""
        if self.draw is not None and self.taken_in != self.epoch:
            try:
                found = self.ahead(self.epoch) if self.ahead else drawn(self.draw, self.preprocessor, self.epoch)
            except (KzooError, KeyboardInterrupt) as error:
                self.error = error
                raise
            self._take(self.epoch, found)
        return self.taken

    def begin(self, epoch: int) -> None:
        """Puts the examples into the order of an epoch; a training run that is taken up again begins there."""
        self.epoch = epoch
        self.passes: dict[int, list[np.ndarray]] = {}

    def _pass(self, number: int) -> list[np.ndarray]:
        """Returns the batches of one pass over the examples, each as indices."""
        if number not in self.passes:
            if self.ahead:
                self.ahead.begin(self.epoch + 1)  # this one is drawn: its size has told which pass this is
            random = None if self.seed is None else np.random.default_rng([self.seed, number])
            batches = self._balanced(random) if self.sampling == "balanced" else self._each_once(random)
            if self.sampling != "mixed" and random is not None:
                random.shuffle(batches)
            self.passes = {number: batches}
        return self.passes[number]

    def _each_once(self, random: np.random.Generator | None) -> list[np.ndarray]:
        order = _order(np.arange(len(self.pairs)), random)[: self.per_pass * self.batch_size]
        if self.sampling == "grouped":
            order = order[np.argsort([len(self.pairs[i][0]) for i in order], kind="stable")]
        return [order[i : i + self.batch_size] for i in range(0, len(order), self.batch_size)]

    def _balanced(self, random: np.random.Generator | None) -> list[np.ndarray]:
        sizes = np.array([len(source) for source, _ in self.pairs])
        groups = [np.flatnonzero(sizes == size) for size in np.unique(sizes)]
        turns = _order(np.arange(len(groups)), random)
        batches = []
        for i, group in enumerate(groups):
            count = len(range(int(turns[i]), self.per_pass, len(groups)))
            rounds = -(-count * self.batch_size // len(group))
            chosen = np.concatenate([_order(group, random) for _ in range(rounds)] or [group])
            batches += [chosen[k * self.batch_size : (k + 1) * self.batch_size] for k in range(count)]
        return batches

    @property
    def per_pass(self) -> int:
        """int. Batches of one pass over the examples."""
        whole, rest = divmod(len(self.pairs), self.batch_size)
        return max(1, whole + (rest > 0 and not self.drop_remainder))

    def __len__(self) -> int:
        return self.steps or self.per_pass

    def __getitem__(self, index: int) -> Arrays:
        if self.draw is None:
            number, position = divmod(self.epoch * len(self) + index, self.per_pass)
        else:
            again, position = divmod(index, self.per_pass)  # where an epoch draws few, it goes through them again
            number = self.epoch * -(-len(self) // self.per_pass) + again
        chosen = self._pass(number)[position]
        sources, targets = zip(*(self.pairs[i] for i in chosen), strict=True)
        longest = (max(map(len, sources)), max(map(len, targets))) if self.bucketed else self.longest
        return self.preprocessor.arrays(sources, targets, self.preprocessor.shape(*longest))

    def on_epoch_end(self) -> None:
        self.begin(self.epoch + 1)

    def close(self) -> None:
        """Ends the processes that draw ahead."""
        if self.ahead:
            self.ahead.close()


def _order(indices: np.ndarray, random: np.random.Generator | None) -> np.ndarray:
    return indices if random is None else random.permutation(indices)
