"""The contract of a task."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kzoo import checks
from kzoo.errors import InputError, did_you_mean, lacks
from kzoo.tasks.asked import Asked
from kzoo.tasks.drawing import different, generator
from kzoo.tasks.of_tokens import of_tokens
from kzoo.tasks.published import Published
from kzoo.tasks.strata.stratum import Stratum
from kzoo.tasks.task_data import TaskData
from kzoo.tasks.well_formed import check_example, check_targets

LARGEST = 10_000_000  # of examples, and of a length

Tokens = tuple[str, ...]


class Example(NamedTuple):
    """A source and its target, as tokens. Start, end and padding symbols are no part of it."""

    source: Tokens
    target: Tokens


@dataclass(frozen=True)
class Split:
    """A named part of a task's data.

    Args:
        lengths: (int, int). Shortest and longest length, both included; lengths are drawn uniformly, unless the split
            is a list of its own (see `Task.pool`) or has a way of its own (see `Task.draw`).
        size: int. Number of examples.

    Raises:
        InputError: the shortest is longer than the longest, or a number out of range.
    """

    lengths: tuple[int, int]
    size: int

    def __post_init__(self) -> None:
        low, high = (checks.integer("a length of a split", length, 1, LARGEST) for length in self.lengths)
        if low > high:
            raise InputError(f"a split is from its shortest to its longest length, not from {low} to {high}")
        checks.integer("the size of a split", self.size, 0, LARGEST)


class Task:
    """Base of the tasks: what is asked (`sample`), the right answer (`solve`), and the splits.

    Everything is a pure function of (seed, split, length): the same bytes on every machine. A task declares

    - `name`: str, as in the registry; `version`: int, raised whenever the examples change;
    - `vocabulary`: tuple of str, every token of sources and targets;
    - `splits`: dict of `Split` by name, with "train", "validation" and "test";
    - `test_lengths`: tuple of int or None, the lengths that the paper reports: the test split is drawn length by
      length. None stands for the test split as it is, without a length;
    - `source_end`: bool. Whether the end symbol closes the source too;
    - `target_steps`: (float, int) or None. None: the end symbol closes a target. A pair (a, b): it has a * (source
      tokens) + b tokens and no end symbol, and a model writes that many;
    - `last_answers`: bool. Whether a model that gives one label answers with the last token of the target, as where
      there is one for each token of the source;
    - `asked_at`: Asked or None. For a model that answers at tokens of the source: at which. Defaults to None: at every
      token where `target_steps` is (1, 0), else see `target_room`;
    - `target_room`: int or None. For such a model, where answers have no tokens of their own: by how many tokens a
      target with its end symbol may be longer than its source. It is written into the first columns. Defaults to None:
      the task is not for such a model;
    - `row_symbols`: tuple of str. For a `RewritingReader`: the symbols of the rows in `execution_trace`. Defaults to
      none: the task has no trace;
    - `characters`: bool. Whether texts are written without spaces, a character a token;
    - `reversed_target`: bool. Whether a model that writes one token after another writes the last one first;
    - `length_unit`: str. What a length counts, in a few words;
    - `paper`: str, reference; `published`: Published, the paper's numbers;
    - `seen_lengths`: tuple of int, the lengths whose test examples are those of training, or can be, since there are no
      others;
    - `needs`: str. The files that must be fetched before there are examples, and how; empty where none must, and
      `available` says whether they are here;
    - `strata`: {name: Stratum}, the inputs on which a model may do worse than on the test split, which
      `kzoo evaluate --stress` measures at `stress_lengths` (by default at the test lengths);
    - `distinct`: bool. Whether no source occurs twice within a split; False where the paper draws with replacement.

    Most tasks draw their examples with `sample`. A task with lists of examples gives them in `pool`; a task whose
    splits must not share a drawn example says in `belongs` which split one is for.
    """

    def __init_subclass__(cls, **kwargs: object) -> None:
        """Has the methods that a user gives a source refuse what is no list of tokens, whoever writes them."""
        super().__init_subclass__(**kwargs)
        for name in ("solve", "check_source", "gold_attention", "intermediate", "causal_results", "execution_trace"):
            if name in vars(cls):
                setattr(cls, name, of_tokens(vars(cls)[name]))

    name: str
    version: int = 1
    vocabulary: Tokens
    splits: dict[str, Split]
    test_lengths: tuple[int | None, ...]
    stress_lengths: tuple[int | None, ...] | None = None
    source_end: bool = False
    results_are_causal: bool = True  # whether every intermediate result follows from the tokens up to its position
    target_steps: tuple[float, int] | None = None
    last_answers: bool = False
    asked_at: Asked | None = None
    target_room: int | None = None
    row_symbols: Tokens = ()
    characters: bool = False
    reversed_target: bool = False
    distinct: bool = True
    length_unit: str = "tokens"
    paper: str = ""
    published: Published = Published()
    seen_lengths: tuple[int, ...] = ()
    needs: str = ""

    def sample(self, rng: np.random.Generator, length: int) -> Example:
        """Draws one example of the given length."""
        raise lacks(self, "sample")

    def draw(self, rng: np.random.Generator, split: str, length: int | None) -> Example:
        """Draws one example of a split, of the length or of any of the split's: by default uniformly."""
        low, high = self.splits[split].lengths if length is None else (length, length)
        return self.sample(rng, int(rng.integers(low, high + 1)))

    def solve(self, source: Tokens) -> Tokens:
        """Returns the target of a source, which is tokens, or a text of them as `generate` takes it.

        Raises:
            InputError: the source is not one of this task's.
        """
        raise NotImplementedError

    def check_source(self, source: Tokens) -> None:
        """Raises `InputError` unless a source is one of this task's: by default, if `solve` does."""
        try:
            self.solve(source)
        except NotImplementedError:  # the task says only what its examples are
            pass

    def intermediate(self, source: Tokens) -> list[tuple[int, str]]:
        """Returns the intermediate results of a source: pairs of a position in it and the token of a result there. Each
        task says which results these are.

        Raises:
            InputError: the task has none, or the source is not one of its own.
        """
        raise InputError(f"{self.name} has no intermediate results")

    def causal_results(self, source: Tokens) -> list[tuple[int, str]]:
        """Returns those of the intermediate results that follow from the tokens up to their position, which a network
        that reads from left to right can learn: by default all of them.

        Raises:
            InputError: the task has none, or the source is not one of its own.
        """
        results = self.intermediate(source)
        if not self.results_are_causal:
            raise InputError(f"{self.name} has no intermediate results that follow from the tokens before them")
        return results

    def execution_trace(self, source: Tokens) -> list[Tokens]:
        """Returns what an algorithm for the task writes on the way to the target: rows of `row_symbols`, each with one
        for every column of a tagger, the tokens of the source and `target_room` more. Each task says which algorithm.

        Raises:
            InputError: the task has none, or the source is not one of its own.
        """
        raise InputError(f"{self.name} has no execution trace")

    def key(self, example: Example) -> Tokens:
        """Returns what is unique within a split: by default the source."""
        return example.source

    def pool(self, split: str, length: int | None) -> Sequence[Example] | None:
        """Returns every example of a split and length, in order, where they are a list; None where they are drawn.

        Raises:
            InputError: the split has no examples of the length, and none can be drawn.
        """
        return None

    def belongs(self, example: Example, split: str) -> bool:
        """Returns whether a drawn example may be in a split: by default it may be in any."""
        return True

    def gold_attention(self, source: Tokens) -> tuple[int, ...] | None:
        """Returns where to look for each token of the target, the end symbol included, or None if that is not defined.

        Returns:
            Indices of source tokens, from 0; -1 is the start before them, and `len(source)` the end of a source that
            has no token for it.

        Raises:
            InputError: the source is not one of this task's.
        """
        return None

    def examples(
        self, split: str = "train", size: int | None = None, seed: int = 0, length: int | None = None
    ) -> list[Example]:
        """Returns the examples of a split, in their order.

        Within a split no source occurs twice, as long as there are enough different ones of the length, unless the
        task says otherwise with `distinct`.

        Args:
            split: str. One of `splits`.
            size: int. How many; of a split that is a list, all there are if they are fewer. Defaults to the split's
                size.
            seed: int. Another seed gives other examples; of a split that is a list, another choice.
            length: int. Only examples of this length. Defaults to the split's range.

        Raises:
            InputError: unknown split, a length below 1 or one that the task does not have, or a negative size or seed;
                an example that is drawn is no pair of tuples of tokens of the vocabulary.
        """
        if checks.text("a split", split) not in self.splits:
            raise InputError(did_you_mean(f"split of {self.name}", split, self.splits))
        length = None if length is None else checks.integer("a length", length, 1, LARGEST)
        size = None if size is None else checks.integer("the number of examples", size, 0, LARGEST)
        seed = checks.integer("the seed", seed, 0, 2**64)
        wanted = self.splits[split].size if size is None else size
        rng = generator(self.name, split, version=self.version, seed=seed, length=length)
        pool = self.pool(split, length)
        if pool is not None:
            if size is None or size >= len(pool):
                return list(pool)
            return [pool[i] for i in np.sort(rng.choice(len(pool), size, replace=False))]
        drawn = (self._drawn(rng, split, length) for _ in itertools.count())
        fitting = (example for example in drawn if self.belongs(example, split))
        found = list(itertools.islice(different(fitting, self.key) if self.distinct else fitting, wanted))
        check_targets(self.name, [example.target for example in found])
        return found

    def _drawn(self, rng: np.random.Generator, split: str, length: int | None) -> Example:
        example = self.draw(rng, split, length)
        check_example(self.name, example, self._known)
        return example

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.vocabulary)

    @property
    def available(self) -> bool:
        """bool. Whether the files that the task needs are here."""
        return True

    @property
    def strata(self) -> dict[str, Stratum]:
        """dict of Stratum by name: kinds of input that the test split has rarely or never."""
        return {}

    def stratum_examples(self, name: str, size: int = 500, seed: int = 0, length: int | None = None) -> list[Example]:
        """Returns examples of a stratum, no source twice.

        Args:
            name: str. One of `strata`.
            size: int. How many; all there are if they are fewer. Defaults to 500.
            seed: int. Another seed gives other examples.
            length: int. Of a stratum that is a list, None takes every length.

        Raises:
            InputError: unknown stratum, or one that has no such length.
        """
        if name not in self.strata:
            raise InputError(did_you_mean(f"stratum of {self.name}", name, self.strata))
        rng = generator(self.name, "stratum", name, version=self.version, seed=seed, length=length)
        return [self.stratum_example(s, length) for s in self.strata[name].sources(rng, size, length)]

    def stratum_example(self, source: Tokens, length: int | None) -> Example:
        """Returns the example of a stratum's source: by default with its target."""
        return Example(source, self.solve(source))

    def dataset(
        self, split: str = "train", size: int | None = None, seed: int = 0, length: int | None = None
    ) -> TaskData:
        """Returns `examples(...)` as data that `model.fit` takes."""
        return TaskData(self, self.examples(split, size, seed, length))

    def text(self, tokens: Sequence[str]) -> str:
        """Returns the text of tokens, as `generate` takes it."""
        return ("" if self.characters else " ").join(tokens)

    def show(self, example: Example) -> str:
        """Returns an example in short."""
        return " -> ".join(text if len(text) <= 60 else text[:57] + "..." for text in map(self.text, example))

    def about(self) -> str:
        """Returns what the task asks for, as its docstring begins."""
        return " ".join((type(self).__doc__ or self.name).split("\n\n")[0].split())

    def __repr__(self) -> str:
        splits = "; ".join(
            f"{name} {split.size:,} of length {split.lengths[0]} to {split.lengths[1]}"
            for name, split in self.splits.items()
        )
        return f"<task {self.name} ({self.length_unit}): {splits}>"

    def get_config(self) -> dict[str, object]:
        return {}
