"""What the tasks of "Neural Networks and the Chomsky Hierarchy" (Deletang et al., 2023) have in common."""

import numpy as np

from kzoo.errors import InputError
from kzoo.tasks.base import Example, Split, Task, Tokens
from kzoo.tasks.classification import held_out
from kzoo.tasks.strata import Stratum

PAPER = "Deletang et al., 2023 (arXiv:2207.02098)"
BITS = ("0", "1")
NUMBERS = ("0", "1", "2", "3", "4")
# Percent, Table 2: the mean over lengths 41 to 500 of the accuracy of tokens, the best of all runs. It is no sequence
# accuracy, and beside ours it is never ranked. Only what a second source confirms is here.
SCORES = {
    "modular_arithmetic_simple": {
        "rnn": 100.0,
        "stack_rnn": 100.0,
        "tape_rnn": 100.0,
        "transformer": 24.2,
        "lstm": 100.0,
    },
    "parity_check": {"rnn": 100.0, "stack_rnn": 100.0, "tape_rnn": 100.0, "transformer": 52.0, "lstm": 100.0},
    "cycle_navigation": {"transformer": 61.9},
    "stack_manipulation": {"rnn": 56.0, "stack_rnn": 100.0, "tape_rnn": 100.0, "transformer": 57.5, "lstm": 59.1},
    "reverse_string": {"rnn": 62.0, "stack_rnn": 100.0, "tape_rnn": 100.0, "transformer": 62.3, "lstm": 60.9},
    "duplicate_string": {"rnn": 50.3, "stack_rnn": 52.8, "tape_rnn": 100.0, "transformer": 52.8, "lstm": 57.6},
    "odds_first": {"rnn": 51.0, "stack_rnn": 51.9, "tape_rnn": 100.0, "transformer": 52.8, "lstm": 55.6},
}


class ChomskyTask(Task):
    """Base of these tasks: trained on lengths up to 40, tested up to 400.

    Length counts the tokens of the source. The paper draws strings anew at each step; here a million steps are a list
    of 10,000 strings, whose validation set, of the same lengths, is held out by a checksum from 8 tokens on; shorter
    strings are in all.

    `level` is the paper's: "regular", "deterministic context-free" or "context-sensitive".
    """

    splits = {"train": Split((3, 40), 10_000), "validation": Split((8, 40), 1_000), "test": Split((41, 400), 500)}
    test_lengths: tuple[int | None, ...] = (60, 80, 120, 200, 400)
    paper = f"{PAPER}, Table 2"
    level = ""
    shortest = 1

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        tokens = len(getattr(cls, "vocabulary", ()))  # a base may have none
        # Where there are no more sources than examples, training may have had each of them.
        cls.seen_lengths = tuple(n for n in range(3, 8) if tokens**n <= cls.splits["train"].size)

    def draw_source(self, rng: np.random.Generator, length: int) -> Tokens:
        """Draws a source of a length."""
        raise NotImplementedError

    def sample(self, rng: np.random.Generator, length: int) -> Example:
        if length < self.shortest:
            raise InputError(f"{self.name} has no sources of length {length}: the shortest is {self.shortest}")
        source = self.draw_source(rng, length)
        return Example(source, self.solve(source))

    def belongs(self, example: Example, split: str) -> bool:
        if split == "test" or len(example.source) < 8:
            return True
        return held_out(example.source) == (split == "validation")

    def check(self, source: Tokens, tokens: Tokens, what: str) -> None:
        """Raises `InputError` unless a source has tokens, and only these."""
        wrong = [token for token in source if token not in tokens]
        if wrong or not source:
            raise InputError(f"a source of {self.name} is {what}" + (f", not {wrong[0]!r}" if wrong else ""))


def random_tokens(rng: np.random.Generator, tokens: Tokens, length: int) -> Tokens:
    """Returns so many random tokens."""
    return tuple(tokens[i] for i in rng.integers(0, len(tokens), length))


def regular_bits() -> dict[str, Stratum]:
    """Returns strata of strings of bits: those without anything random in them."""
    return {
        "constant": Stratum("one bit only", lambda rng, n: (BITS[rng.integers(2)],) * n),
        "alternating": Stratum("zeros and ones in turn", lambda rng, n: tuple(BITS[(i + n) % 2] for i in range(n))),
    }
