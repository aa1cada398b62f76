"""Tasks of memory: the flip-flop language, and associative recall with many queries."""

import numpy as np

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.asked import Asked
from kzoo.tasks.base import Example, Split, Task, Tokens
from kzoo.tasks.chomsky import BITS
from kzoo.tasks.classification import ClassificationTask, held_out
from kzoo.tasks.strata import Stratum

INSTRUCTIONS = ("w", "r", "i")
PAIRS = 256
KEYS = tuple(f"k{i}" for i in range(PAIRS))
VALUES = tuple(f"v{i}" for i in range(PAIRS))
FILLER = "."
ALL_KEYS, ALL_VALUES = frozenset(KEYS), frozenset(VALUES)


@register("task", "flip_flop")
class FlipFlop(ClassificationTask):
    """The flip-flop language: the bit that was written last, after instructions to write, to read and to ignore.

    FFL(0.8) of [Liu et al., 2023](https://arxiv.org/abs/2306.00946): pairs of an instruction and a bit, the first to
    write, the last to read, the others to ignore with probability 0.8, else to write or to read alike. The bit behind w
    and i is random, behind r it is the one of the latest w. A source ends with the last r, and the target is its bit.
    Length counts the instructions; the strata are the paper's sparse and dense strings, with p = 0.98 and 0.1.

    Example:

    ```python
    task = kzoo.tasks.get("flip_flop")
    assert task.solve(tuple("w0i1r0w1i0r")) == ("1",)
    ```

    Differences: the paper has strings of 256 instructions, and counts every read; here each string has one that is
    asked, and lengths grow from training to test. The validation split is held out by a checksum from 9 instructions
    on; strings of 8 may be those of training.
    """

    name = "flip_flop"
    vocabulary = (*INSTRUCTIONS, *BITS)
    labels = BITS
    target_steps = (0, 1)
    characters = True
    splits = {"train": Split((8, 32), 10_000), "validation": Split((8, 32), 1_000), "test": Split((33, 320), 500)}
    test_lengths = (64, 160, 320)
    seen_lengths = (8,)
    length_unit = "instructions"
    paper = "Liu et al., 2023 (arXiv:2306.00946)"

    @property
    def strata(self) -> dict[str, Stratum]:
        return {
            "sparse": Stratum("ignored with probability 0.98", lambda rng, n: self.write(rng, n, 0.98), shortest=2),
            "dense": Stratum("ignored with probability 0.1", lambda rng, n: self.write(rng, n, 0.1), shortest=2),
            "far": Stratum("one write, at the start", lambda rng, n: self.write(rng, n, 1.0), shortest=2),
        }

    def write(self, rng: np.random.Generator, length: int, ignored: float) -> Tokens:
        """Draws a source of so many instructions."""
        if length < 2:
            raise InputError(f"{self.name} has no sources of {length} instructions: the least are 2")
        share = (1 - ignored) / 2
        middle = rng.choice(3, length - 2, p=[share, share, ignored])
        bits, source, kept = rng.integers(0, 2, length), [], "0"
        for name, bit in zip(["w", *(INSTRUCTIONS[i] for i in middle), "r"], bits, strict=True):
            kept = BITS[bit] if name == "w" else kept
            source += [name, kept if name == "r" else BITS[bit]]
        return tuple(source[:-1])

    def sample(self, rng: np.random.Generator, length: int) -> Example:
        source = self.write(rng, length, 0.8)
        return Example(source, self.solve(source))

    def belongs(self, example: Example, split: str) -> bool:
        return split == "test" or len(example.source) < 16 or held_out(example.source) == (split == "validation")

    def solve(self, source: Tokens) -> Tokens:
        names, bits = source[::2], source[1::2]
        if len(source) < 3 or names[0] != "w" or names[-1] != "r" or len(source) % 2 == 0:
            raise InputError(f"a source of {self.name} begins with w and a bit and ends with r")
        if not set(names) <= set(INSTRUCTIONS) or not set(bits) <= set(BITS):
            raise InputError(f"a source of {self.name} is instructions w, r and i, with a bit between each two")
        kept = bits[0]
        for name, bit in zip(names, bits, strict=False):  # the last r has none
            if name == "r" and bit != kept:
                raise InputError(f"in a source of {self.name} the bit behind r is that of the latest w")
            kept = bit if name == "w" else kept
        return (kept,)


@register("task", "mqar")
class AssociativeRecall(Task):
    """Multi-query associative recall: pairs of a key and a value, then each key again, to be answered with its value.

    MQAR of [Arora et al., 2024](https://arxiv.org/abs/2312.04927): K different keys with K different values, then K
    slots of two tokens: each key stands at the first of a slot, the slots drawn without replacement with probability
    proportional to g^(-0.99), g the number of the slot from 1, and everything else is a filler. So with four tokens a
    pair every slot is taken; `slots` has three times as many. The target is the values in the order of the queries.
    Length counts K.

    Example:

    ```python
    task = kzoo.tasks.get("mqar")
    assert task.solve(("k1", "v7", "k4", "v2", "k4", ".", "k1", ".")) == ("v2", "v7")
    ```

    A model that answers at tokens of the source (`SequenceTagger`) is asked at the column of each query, as in the
    paper.

    Differences: a model that writes its output writes the answers behind the source, one after another, so that it must
    also find the query whose turn it is; the paper's vocabulary is 8,192 tokens, here it is 513; and it trains and
    tests at one length.
    """

    name = "mqar"
    vocabulary = (*KEYS, *VALUES, FILLER)
    asked_at = Asked(KEYS, repeated=True)
    splits = {"train": Split((2, 12), 10_000), "validation": Split((2, 12), 1_000), "test": Split((13, 120), 500)}
    test_lengths = (16, 32, 60, 120)
    length_unit = "pairs"
    paper = "Arora et al., 2024 (arXiv:2312.04927)"

    @property
    def strata(self) -> dict[str, Stratum]:
        return {
            "in_order": Stratum(
                "queries in the order of the pairs", lambda rng, n: self.write(rng, n, 1, True), longest=PAIRS
            ),
            "slots": Stratum("three slots for each query", lambda rng, n: self.write(rng, n, 3), longest=PAIRS),
        }

    def write(self, rng: np.random.Generator, length: int, slots: int = 1, in_order: bool = False) -> Tokens:
        """Draws so many pairs and their queries, in `slots` times as many slots."""
        if length > PAIRS:
            raise InputError(f"{self.name} has at most {PAIRS} pairs, not {length}")
        keys, values = rng.permutation(PAIRS)[:length], rng.permutation(PAIRS)[:length]
        weights = np.arange(1, slots * length + 1) ** -0.99
        places = rng.choice(slots * length, length, replace=False, p=weights / weights.sum())
        queries = [FILLER] * (2 * slots * length)
        for key, place in zip(keys, np.sort(places) if in_order else places, strict=True):
            queries[2 * place] = KEYS[key]
        pairs = [token for k, v in zip(keys, values, strict=True) for token in (KEYS[k], VALUES[v])]
        return (*pairs, *queries)

    def sample(self, rng: np.random.Generator, length: int) -> Example:
        source = self.write(rng, length)
        return Example(source, self.solve(source))

    def belongs(self, example: Example, split: str) -> bool:
        return split == "test" or held_out(example.source) == (split == "validation")

    def solve(self, source: Tokens) -> Tokens:
        known: dict[str, str] = {}
        place = 0
        while source[place + 1 : place + 2] and source[place + 1] in ALL_VALUES and source[place] in ALL_KEYS:
            known[source[place]] = source[place + 1]
            place += 2
        queries = [token for token in source[place:] if token != FILLER]
        if not known or not queries or not set(queries) <= set(known) or 2 * len(known) != place:
            raise InputError(f"a source of {self.name} is pairs of a new key and a value, then some of these keys")
        return tuple(known[token] for token in queries)
