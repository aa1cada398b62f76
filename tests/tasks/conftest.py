"""A small hand-made data set in the form of the published CFQ files."""

import json
from pathlib import Path

import pytest

ENTRIES = [
    ("Did M0's writer marry M1", "SELECT count(*) WHERE {\n?x0 ns:film.writer.film M0 .\n?x0 ns:married.to M1\n}"),
    ("Did M1 edit M0", "SELECT count(*) WHERE {\nM1 ns:film.editor.film M0\n}"),
    ("Who edited M0", "SELECT DISTINCT ?x0 WHERE {\n?x0 ns:film.editor.film M0\n}"),
    ("Who wrote M0 and M1", "SELECT DISTINCT ?x0 WHERE {\n?x0 ns:film.writer.film M0 .\n?x0 ns:film.writer.film M1\n}"),
    ("Was M0 a woman", "SELECT count(*) WHERE {\nM0 ns:people.person.gender ns:m.02zsn\n}"),
]
INDICES = {"trainIdxs": [2, 1, 4], "devIdxs": [3], "testIdxs": [0]}


@pytest.fixture(scope="session")
def cfq_json(tmp_path_factory) -> Path:
    """A folder with dataset.json, which has fields around the two that count, and the split file."""
    folder = tmp_path_factory.mktemp("cfq_json")
    records = [
        {
            "complexityMeasures": {"parseTreeLeafCount": 7},
            "question": 'Did "Rad Plaid" \\ {}',
            "questionPatternModEntities": question,
            "ruleTree": 'subTrees: {"sparqlPatternModEntities": "}"}',
            "sparql": "SELECT *",
            "sparqlPatternModEntities": query,
        }
        for question, query in ENTRIES
    ]
    (folder / "splits").mkdir()
    (folder / "dataset.json").write_text(json.dumps(records, indent=1))
    (folder / "splits" / "query_complexity_split.json").write_text(json.dumps(INDICES))
    return folder


@pytest.fixture(scope="session")
def cfq_tables(tmp_path_factory) -> Path:
    """The same as a folder with a .tsv file a split."""
    folder = tmp_path_factory.mktemp("cfq_tables")
    for split, indices in zip(("train", "validation", "test"), INDICES.values(), strict=True):
        lines = (f"{question}\t{' '.join(query.split())}\n" for question, query in (ENTRIES[i] for i in indices))
        (folder / f"{split}.tsv").write_text("".join(lines))
    return folder
