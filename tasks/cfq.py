"""CFQ by query complexity (Keysers et al., 2020): questions to SPARQL queries, read from the published files."""

import json
import mmap
import os
import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Example, Split, Tokens
from kzoo.tasks.finite import FiniteTask
from kzoo.tasks.paper_results import PAPER
from kzoo.tasks.paper_results import published as published_for
from kzoo.tasks.strata import Stratum
from kzoo.tasks.strata.commands import cfq_strata

FOLDER = "KZOO_CFQ"
URL = "https://storage.cloud.google.com/cfq_dataset/cfq1.1.tar.gz"
SPLIT_FILES = ("splits/query_complexity_split.json", "query_complexity_split.json", "length.json")
INDEX_KEYS = {"train": "trainIdxs", "validation": "devIdxs", "test": "testIdxs"}
FIELDS = re.compile(rb'"(question|sparql)PatternModEntities"\s*:\s*("(?:[^"\\]|\\.)*")')
UNKNOWN = "<unknown>"
MAX_WORDS = 20_000
Pair = tuple[str, str]


def question_tokens(question: str) -> Tokens:
    """Returns the words of a question; every punctuation mark is one."""
    return tuple(re.sub(f"([{re.escape(string.punctuation)}])", r" \1 ", question).split())


def query_tokens(query: str) -> Tokens:
    """Returns the words of a query, without the prefix "ns:", and with "m_" for "m."."""
    words = (word.removeprefix("ns:") for word in query.replace("count(*)", "count ( * )").split())
    return tuple("m_" + word[2:] if word.startswith("m.") else word for word in words)


def read_dataset(path: Path) -> Iterator[Pair]:
    """Yields question and query of each entry of dataset.json, which is too large to be parsed as a whole."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        entry: dict[bytes, str] = {}
        for match in FIELDS.finditer(data):
            entry[match[1]] = json.loads(match[2])
            if len(entry) == 2:
                yield entry[b"question"], entry[b"sparql"]
                entry = {}


def read_pairs(folder: Path) -> dict[str, list[Pair]]:
    """Returns question and query of every example of each split.

    Args:
        folder: Path. It holds dataset.json with the split file (splits/query_complexity_split.json), as published, or
            train.tsv, validation.tsv and test.tsv, a question, a tab and a query a line.

    Raises:
        InputError: neither is there, or a file is not of its form.
    """
    split_file = next((folder / name for name in SPLIT_FILES if (folder / name).is_file()), None)
    tables = {split: folder / f"{split}.tsv" for split in INDEX_KEYS}
    try:
        if (folder / "dataset.json").is_file() and split_file:
            entries, indices = list(read_dataset(folder / "dataset.json")), json.loads(split_file.read_text("utf-8"))
            return {split: _at(entries, indices[key]) for split, key in INDEX_KEYS.items()}
        if all(path.is_file() for path in tables.values()):
            lines = {split: path.read_text("utf-8").splitlines() for split, path in tables.items()}
            return {split: _some([_pair(line) for line in found if line.strip()]) for split, found in lines.items()}
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise InputError(f"the files in {folder} are not those of CFQ: {error!s:.200}") from error
    except OSError as error:
        raise InputError(f"{folder} cannot be read ({error.strerror or error})") from error
    raise InputError(f"{folder} holds neither dataset.json with {SPLIT_FILES[0]}, from {URL}, nor a .tsv file a split")


def _at(entries: list[Pair], indices: Any) -> list[Pair]:
    if not isinstance(indices, list) or not all(type(i) is int and i >= 0 for i in indices):
        raise ValueError("a split must be a list of indices")
    return _some([entries[i] for i in indices])


def _some(pairs: list[Pair]) -> list[Pair]:
    if not pairs:
        raise ValueError("a split has no examples")
    return pairs


def _pair(line: str) -> Pair:
    question, query = line.split("\t")
    return question, query


@register("task", "cfq")
class CFQLength(FiniteTask):
    """CFQ split by query complexity: questions to queries, the longer queries for validation and test.

    Length counts the tokens of the query. The vocabulary has the words of the training split, the frequent ones first;
    any other word is read as "<unknown>". As published, the validation split is as long as the test split. The files
    are read when the examples or the vocabulary are first asked for.

    Args:
        folder: str or Path. Where the files are, see `read_pairs`; the archive at `URL` unpacks to such a folder.
            Defaults to the environment variable KZOO_CFQ, so that recipes and commands find them too.

    Example:

    ```python
    from kzoo.tasks.cfq import query_tokens, question_tokens
    assert question_tokens("Did M0's writer marry M1") == ("Did", "M0", "'", "s", "writer", "marry", "M1")
    assert " ".join(query_tokens("SELECT count(*) WHERE { M0 ns:film.writer.film ns:m.02zsn }")) == (
        "SELECT count ( * ) WHERE { M0 film.writer.film m_02zsn }"
    )
    ```
    """

    name = "cfq"
    test_lengths = (None,)
    source_end = True
    paper = f"{PAPER}, Table 3; the data are from Keysers et al., 2020 (arXiv:1912.09713)"
    published = published_for("cfq")
    needs = f"the files of {URL}; unpack them, and `{FOLDER}=FOLDER kzoo results --run '*_cfq'` makes the runs"

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = folder

    @cached_property
    def lists(self) -> dict[str, list[Example]]:
        """dict. The examples of each split, with the words as they are in the files."""
        folder = self.folder or os.environ.get(FOLDER)
        if not folder:
            advice = f'get them from {URL} and pass folder="...", or set {FOLDER}'
            raise InputError(f"the files of CFQ are not part of kzoo: {advice}")
        try:
            path = Path(folder).expanduser()
        except (RuntimeError, TypeError) as error:
            raise InputError(f"{folder!r:.200} is no folder ({error})") from None
        pairs = read_pairs(path)
        return {
            split: [Example(question_tokens(question), query_tokens(query)) for question, query in found]
            for split, found in pairs.items()
        }

    @cached_property
    def vocabulary(self) -> Tokens:  # type: ignore[override]
        counts = Counter(word for row in self.lists["train"] for side in row for word in side)
        return (*sorted(counts, key=lambda word: (-counts[word], word))[:MAX_WORDS], UNKNOWN)

    @cached_property
    def splits(self) -> dict[str, Split]:  # type: ignore[override]
        lengths = {split: [len(row.target) for row in rows] for split, rows in self.lists.items()}
        return {split: Split((min(found), max(found)), len(found)) for split, found in lengths.items()}

    @cached_property
    def _rows(self) -> dict[str, list[Example]]:
        known = set(self.vocabulary)

        def read(side: Tokens) -> Tokens:
            return tuple(word if word in known else UNKNOWN for word in side)

        return {split: [Example(*map(read, row)) for row in rows] for split, rows in self.lists.items()}

    @property
    def available(self) -> bool:
        return bool(self.folder or os.environ.get(FOLDER))

    @property
    def strata(self) -> dict[str, Stratum]:
        return cfq_strata(lambda: self.rows("test"))

    def rows(self, split: str) -> Sequence[Example]:
        return self._rows[split]

    def get_config(self) -> dict[str, Any]:
        return {"folder": None if self.folder is None else str(self.folder)}
