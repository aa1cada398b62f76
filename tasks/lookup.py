"""The lookup-table tasks of Dubois et al. (2020), after Liska et al. (2018): forward, reversed, with a noisy start."""

import hashlib
from collections.abc import Sequence
from functools import cache, cached_property
from itertools import product

import numpy as np

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Example, Split, Task, Tokens
from kzoo.tasks.paper_results import PAPER
from kzoo.tasks.paper_results import published as published_for
from kzoo.tasks.published import Published
from kzoo.tasks.strata import Stratum
from kzoo.tasks.strata.lookup import lookup_strata

CODES = tuple(f"{i:03b}" for i in range(8))
# Where each table takes the codes 000, 001, ... 111, as numbers: the tables of the published data files.
TABLES = {
    "t1": (3, 1, 6, 2, 5, 0, 4, 7),
    "t2": (1, 4, 3, 5, 6, 0, 2, 7),
    "t3": (0, 4, 3, 6, 5, 1, 2, 7),
    "t4": (3, 4, 7, 2, 1, 6, 0, 5),
    "t5": (4, 1, 6, 2, 0, 5, 3, 7),
    "t6": (5, 0, 7, 1, 2, 3, 4, 6),
    "t7": (7, 4, 1, 2, 3, 0, 6, 5),
    "t8": (3, 2, 6, 1, 5, 0, 7, 4),
}
COMPOSED = ("t1", "t2", "t3", "t4", "t5", "t6")  # t7 and t8 are seen on their own only
LONGEST_TRAINED = 6
SEED = 0
DUBOIS = "Dubois et al., 2020 (arXiv:1911.03872)"


@cache
def programs() -> dict[str, list[Tokens]]:
    """Returns the programs of each list, a program being a code and the tables to apply, in their order.

    Of the compositions of four tables, 50 are held out, and of each other one two inputs; then 5 % of all compositions
    validate, and 500 programs of five tables with them. The sizes are those of the published files (the choice is not).
    """
    rng = np.random.default_rng(SEED)
    train: list[Tokens] = [(code, table) for table in TABLES for code in CODES]
    validation: list[Tokens] = []
    held_out: list[Tokens] = []
    for tables, validating in ((2, 15), (3, 84), (4, 376)):
        rows: list[Tokens] = [(code, *applied) for applied in product(COMPOSED, repeat=tables) for code in CODES]
        left_out = np.zeros((len(rows) // 8, 8), bool)
        if tables == 4:
            left_out[:, :2] = True
            left_out = rng.permuted(left_out, axis=1)
            left_out[rng.choice(len(left_out), 50, replace=False)] = True
        held_out += [row for row, left in zip(rows, left_out.flat, strict=True) if left]
        rows = [row for row, left in zip(rows, left_out.flat, strict=True) if not left]
        chosen = set(rng.choice(len(rows), validating, replace=False).tolist())
        validation += [row for i, row in enumerate(rows) if i in chosen]
        train += [row for i, row in enumerate(rows) if i not in chosen]
    longer: dict[Tokens, None] = {}
    while len(longer) < 500:
        program = random_program(rng, 5)
        if split_of(program) == "validation":
            longer[program] = None
    return {"train": train, "validation": [*validation, *longer], "held_out": held_out}


def random_program(rng: np.random.Generator, tables: int) -> Tokens:
    """Returns a random code and so many random tables of t1 to t6."""
    return (CODES[rng.integers(8)], *(COMPOSED[i] for i in rng.integers(0, len(COMPOSED), tables)))


def split_of(program: Tokens) -> str:
    """Returns the split that a program may be drawn for: half are for testing, so that splits never share one."""
    return ("train", "validation", "test", "test")[hashlib.sha256(" ".join(program).encode()).digest()[0] % 4]


@register("task", "lookup")
class Lookup(Task):
    """Lookup tables: apply tables to a code from left to right, and write the code and every result.

    The tables are fixed bijections of the eight three-bit codes. Length counts the source tokens, the code and the
    final "." included: two more than tables. The training split has compositions of one to four tables, 9,081 in all;
    the validation split 475 more and 500 of five tables. Test examples of length 7 and more are random compositions;
    those of length 6 are the 2,892 held out from training; all shorter ones were seen in training or validation.

    Gold attention is on the token that the next result needs, and at last on the ".".

    Example:

    ```python
    task = kzoo.tasks.get("lookup")
    assert task.solve(("010", "t3", "t4", ".")) == ("010", "011", "010")
    assert task.gold_attention(("010", "t3", "t4", ".")) == (0, 1, 2, 3)
    ```
    """

    name = "lookup"
    vocabulary: Tokens = (*CODES, *TABLES, ".")
    splits = {"train": Split((3, 6), 9_081), "validation": Split((3, 7), 975), "test": Split((7, 11), 5_000)}
    test_lengths = (7, 9, 11)
    seen_lengths = (3, 4, 5)
    length_unit = "source tokens"
    paper = f"{PAPER}, Tables 2, 4 and 7; the task is from {DUBOIS}"
    published = published_for("lookup")
    form = "a three-bit code, one or more of t1 to t8, and '.'"

    @property
    def strata(self) -> dict[str, Stratum]:
        return lookup_strata(TABLES, COMPOSED, CODES, self.write, more=2)

    def write(self, program: Tokens, rng: np.random.Generator) -> Tokens:
        """Returns the source of a program."""
        return (*program, ".")

    def read(self, source: Tokens) -> Tokens:
        """Returns the program of a source, which may be none if the source is not one of this task's."""
        return source[:-1]

    def program(self, source: Tokens) -> Tokens:
        """Returns the program of a source: its code, and its tables in the order in which they are applied.

        Raises:
            InputError: the source is not one of this task's.
        """
        found = self.read(tuple(source))
        if len(found) < 2 or source[-1] != "." or found[0] not in CODES or not set(found[1:]) <= set(TABLES):
            raise InputError(f"a source of {self.name} is {self.form}, not {' '.join(source)!r:.100}")
        return found

    def solve(self, source: Tokens) -> Tokens:
        code, *tables = self.program(source)
        results = [CODES.index(code)]
        for table in tables:
            results.append(TABLES[table][results[-1]])
        return tuple(CODES[result] for result in results)

    def gold_attention(self, source: Tokens) -> tuple[int, ...]:
        self.program(source)
        return tuple(range(len(source)))

    def key(self, example: Example) -> Tokens:
        return self.program(example.source)

    def belongs(self, example: Example, split: str) -> bool:
        return split_of(self.program(example.source)) == split

    def sample(self, rng: np.random.Generator, length: int) -> Example:
        if length < 3:
            raise InputError(f"a source of {self.name} has a code, a table and '.', so its length is not {length}")
        return self.example(random_program(rng, length - 2), rng)

    def example(self, program: Tokens, rng: np.random.Generator) -> Example:
        """Returns the example of a program."""
        source = self.write(program, rng)
        return Example(source, self.solve(source))

    @cached_property
    def lists(self) -> dict[str, list[Example]]:
        """dict. The examples of `programs`."""
        rng = np.random.default_rng(SEED + 1)
        return {name: [self.example(program, rng) for program in found] for name, found in programs().items()}

    def pool(self, split: str, length: int | None) -> Sequence[Example] | None:
        if length is None:
            return None if split == "test" else self.lists[split]
        names = [split]
        if split == "test":
            names = ["held_out"] if length >= LONGEST_TRAINED else ["train", "validation"]
        found = [row for name in names for row in self.lists[name] if len(row.target) + 1 == length]
        if not found and length <= LONGEST_TRAINED:
            raise InputError(f"{split} of {self.name} has no examples of length {length}")
        return found or None


@register("task", "reverse_lookup")
class ReverseLookup(Lookup):
    """Lookup tables written backwards: the last table first, then the code; the target is that of `lookup`.

    The paper's text would reverse the target too; its tables and the published files do not.

    Example:

    ```python
    task = kzoo.tasks.get("reverse_lookup")
    assert task.solve(("t4", "t3", "010", ".")) == ("010", "011", "010")
    assert task.gold_attention(("t4", "t3", "010", ".")) == (2, 1, 0, 3)
    ```
    """

    name = "reverse_lookup"
    published = published_for("reverse_lookup")
    form = "one or more of t1 to t8, a three-bit code, and '.'"

    def write(self, program: Tokens, rng: np.random.Generator) -> Tokens:
        return (*program[::-1], ".")

    def read(self, source: Tokens) -> Tokens:
        return source[:-1][::-1]

    def gold_attention(self, source: Tokens) -> tuple[int, ...]:
        return (*range(len(self.program(source)))[::-1], len(source) - 1)


@register("task", "noisy_lookup")
class NoisyLookup(Lookup):
    """Lookup tables with a noisy start: behind the code stand 0 to 9 random tables and "!", which change nothing.

    Length counts the source tokens without that noise. The paper draws 0 to 10 tables; its data have 0 to 9. In the
    paper's Table 2 gold attention has one more entry, for the "!", than the target has tokens; here it has none.

    Example:

    ```python
    task = kzoo.tasks.get("noisy_lookup")
    assert task.solve(("010", "t6", "t1", "!", "t3", "t4", ".")) == ("010", "011", "010")
    assert task.gold_attention(("010", "t6", "t1", "!", "t3", "t4", ".")) == (0, 4, 5, 6)
    ```
    """

    name = "noisy_lookup"
    vocabulary = (*Lookup.vocabulary, "!")
    length_unit = "source tokens without the noise"
    paper = DUBOIS
    published = Published()
    form = "a three-bit code, tables, '!', one or more of t1 to t8, and '.'"

    def write(self, program: Tokens, rng: np.random.Generator) -> Tokens:
        _, *noise = random_program(rng, int(rng.integers(10)))
        return (program[0], *noise, "!", *program[1:], ".")

    def read(self, source: Tokens) -> Tokens:
        start = source.index("!") if "!" in source else 0
        noise = source[1:start]
        return (source[0], *source[start + 1 : -1]) if start and set(noise) <= set(TABLES) else ()

    def gold_attention(self, source: Tokens) -> tuple[int, ...]:
        self.program(source)
        return (0, *range(tuple(source).index("!") + 1, len(source)))
