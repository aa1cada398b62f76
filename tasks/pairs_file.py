"""A task from a file of pairs of one's own."""

import contextlib
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from kzoo.errors import InputError
from kzoo.tasks.base import Example, Split, Tokens
from kzoo.tasks.finite import FiniteTask

SUFFIX = ".tsv"
LARGEST = 100_000_000  # bytes of a file
LONGEST = 1_000  # tokens of a source or target
FEWEST = 10  # pairs
HEADER = [("source",), ("target",)]
TRAINED = 0.8  # share of the pairs that is trained on, about; the longer ones are held out
VALIDATED = 10  # one in so many of the short pairs validates
TOLD = 5  # bad lines at most
SYMBOLS = ("<start>", "<end>", "<pad>")  # of every tokenizer

NAME = re.compile(r"[a-z0-9_]+_[0-9a-f]{8}")  # with the checksum of the content

_known: dict[str, "PairsFile"] = {}


class PairsFile(FiniteTask):
    """Pairs of one's own, from a text file: a line a pair, `source<TAB>target`, tokens separated by spaces.

    The longer sources are held out: the test split has the longest, about a fifth of the pairs, of lengths that none of
    the others has. Of those one in ten, by its checksum, is in the validation split. If all sources have one length, so
    that none is longer, the test split is the validation split. Length counts the tokens of the source. Blank lines
    and a first line "source<TAB>target" are left out, and pairs that stand there twice are taken once.

    Its name is that of the file with a checksum, so that another content is another task; `kzoo.tasks.get` knows it by
    that name once the file was read.

    Args:
        path: str or Path. The file, as UTF-8.

    Raises:
        InputError: the file cannot be read or has fewer than 10 pairs, or a line is no pair, has an empty or too long
            side (more than 1,000 tokens), a token that only held-out pairs have, or a source with two targets; the bad
            lines are told by their numbers.

    Example:

    ```python
    import pathlib, tempfile

    path = pathlib.Path(tempfile.mkdtemp()) / "double.tsv"
    path.write_text("\\n".join(f"{'a b ' * n}b\\t{'a a b b ' * n}b b" for n in range(12)))
    task = kzoo.tasks.get(str(path))
    assert task.name.startswith("double_") and task.vocabulary == ("a", "b")
    assert task.solve(("b",)) == ("b", "b") and kzoo.tasks.get(task.name) is task
    ```
    """

    length_unit = "tokens of the source"

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        self.content = _read(self.path)
        stem = re.sub(r"[^a-z0-9]+", "_", self.path.stem.lower()).strip("_")[:40] or "pairs"
        self.name = f"{stem}_{zlib.crc32(self.content):08x}"
        self.lists = _split(self.path, _pairs(self.path, self.content))
        self.vocabulary = tuple(sorted({token for row in self.lists["train"] for side in row for token in side}))
        self.splits = {
            name: Split((min(lengths), max(lengths)), len(lengths))
            for name, lengths in ((name, [len(row.source) for row in rows]) for name, rows in self.lists.items())
        }
        lengths = sorted({len(row.source) for row in self.lists["test"]})
        self.test_lengths = (None, *lengths) if len(lengths) > 1 else (*lengths,)

    def rows(self, split: str) -> Sequence[Example]:
        return self.lists[split]

    def length_of(self, row: Example) -> int:
        return len(row.source)

    @cached_property
    def known(self) -> dict[Tokens, Tokens]:
        return {row.source: row.target for rows in self.lists.values() for row in rows}

    def __repr__(self) -> str:
        return f"PairsFile({str(self.path)!r})"


def is_file_of_pairs(name: object) -> bool:
    """Whether a task's name is the path of a file of pairs."""
    return isinstance(name, (str, Path)) and str(name).endswith(SUFFIX)


def read_beside(folder: Path) -> None:
    """Reads the files of pairs in a folder, so that their tasks are known; what is none is left alone."""
    for path in folder.glob(f"*{SUFFIX}"):
        with contextlib.suppress(InputError):
            read(path)


def read(path: str | Path) -> PairsFile:
    """Returns the task of a file, which is known by its name from now on."""
    task = PairsFile(path)
    return _known.setdefault(task.name, task)


def known() -> dict[str, PairsFile]:
    """Returns the tasks of the files that were read, by name."""
    return dict(_known)


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path} is larger than {LARGEST:,} bytes")
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"the file of pairs {path} cannot be read ({error.strerror})") from None


def _pairs(path: Path, content: bytes) -> dict[int, Example]:
    """Returns the pairs of a file by the number of their line, each pair once.

    Raises:
        InputError: as `PairsFile`.
    """
    try:
        lines = content.decode("utf-8-sig").split("\n")  # as editors count them
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no text in UTF-8 (byte {error.start})") from None
    found: dict[int, Example] = {}
    first: dict[Tokens, int] = {}
    bad: dict[int, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        sides = [tuple(side.split()) for side in line.split("\t")]
        if sides == HEADER and not found and not bad:
            continue
        wrong = _wrong(sides)
        if wrong is None:
            example = Example(*sides)
            before = first.setdefault(example.source, number)
            if before == number:
                found[number] = example
            elif found[before] != example:
                wrong = f"has the source of line {before} with another target"
        if wrong is not None:
            bad[number] = wrong
    _raise(path, bad)
    if len(found) < FEWEST:
        raise InputError(f"{path} has {len(found)} different pairs, and at least {FEWEST} are needed")
    return found


def _wrong(sides: list[Tokens]) -> str | None:
    """Returns what is wrong with the sides of a line."""
    if len(sides) != 2:
        return f"has {len(sides) - 1} tabs, and a pair is source<TAB>target"
    for name, side in zip(("source", "target"), sides, strict=True):
        if not side:
            return f"has no {name}"
        if len(side) > LONGEST:
            return f"has a {name} of {len(side):,} tokens, and at most {LONGEST:,} are taken"
        reserved = [token for token in side if token in SYMBOLS]
        if reserved:
            return f"has the token {reserved[0]}, which every model has for itself"
    return None


def _split(path: Path, pairs: dict[int, Example]) -> dict[str, list[Example]]:
    """Returns the examples of each split.

    Raises:
        InputError: a held-out pair has a token that no trained one has.
    """
    counts = Counter(len(pair.source) for pair in pairs.values())
    *lengths, longest = sorted(counts)
    shares = {length: sum(counts[n] for n in counts if n <= length) / len(pairs) for length in lengths}
    trained = min(lengths, key=lambda length: abs(shares[length] - TRAINED), default=longest)
    short = {number: pair for number, pair in pairs.items() if len(pair.source) <= trained}
    held = {n: pair for n, pair in short.items() if zlib.crc32(" ".join(pair.source).encode()) % VALIDATED == 0}
    held = held or dict([max(short.items(), key=lambda item: zlib.crc32(" ".join(item[1].source).encode()))])
    train = [pair for number, pair in short.items() if number not in held]
    long = {number: pair for number, pair in pairs.items() if number not in short}
    if not train:
        raise InputError(f"{path} has too few pairs of up to {trained} tokens to train on and to validate with")
    taught = {token for pair in train for side in pair for token in side}
    unknown = {n: [t for side in pair for t in side if t not in taught] for n, pair in {**held, **long}.items()}
    _raise(path, {n: f"has the token {t[0]!r:.60}, which no trained pair has" for n, t in unknown.items() if t})
    return {"train": train, "validation": list(held.values()), "test": list((long or held).values())}


def _raise(path: Path, bad: dict[int, str]) -> None:
    """Raises `InputError` if there are bad lines, with the first of them."""
    if bad:
        told = "; ".join(f"line {number} {wrong}" for number, wrong in sorted(bad.items())[:TOLD])
        more = f"; and {len(bad) - TOLD} more lines" if len(bad) > TOLD else ""
        raise InputError(f"{path}: {told}{more}")
