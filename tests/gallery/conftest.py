"""What the gallery is compared with: the answers and logits of Python; and its folder, written once."""

import json
import shutil
import subprocess
from itertools import zip_longest

import keras
import pytest

import kzoo
from kzoo.gallery import gallery_data, write_gallery

LENGTHS = {
    "sorter": (1, 5, 20, 50),
    "addition": (1, 6, 12, 40),
    "lookup": (3, 6, 11),
    "reverse_lookup": (3, 6, 11),
    "arithmetic": (1, 3, 5, 7),
    "listops": (1, 3, 5, 7),
    "modular_arithmetic": (3, 10, 40, 80),
    "solve_equation": (3, 10, 40, 80),
    "binary_multiplication": (1, 10, 40, 60),
    "ctl_forward": (1, 4, 8, 12),
    "reverse_string": (3, 10, 40, 80),
    "duplicate_string": (3, 10, 40, 80),
    "odds_first": (3, 10, 40, 80),
}
DIGITS = (1, 4, 10, 30)


def golden(name, number):
    """Returns what a preset answers: `cases` of source, answer and target, of short and long inputs in turn; and
    `logits` of the first and the last: a row a step of one forward pass over the answer, of a classifier one row, of a
    tagger one a column.
    """
    model, task = kzoo.from_preset(name), kzoo.tasks.get(kzoo.Preset.find(name).task)
    lengths = LENGTHS.get(task.name, DIGITS)
    between = "" if task.characters else " "
    drawn = zip_longest(*(task.examples("test", number, length=n) for n in lengths))  # some lengths have few examples
    pairs = [(between.join(e.source), between.join(e.target)) for row in drawn for e in row if e is not None][:number]
    answers = model.generate([source for source, _ in pairs])
    cases = [{"source": s, "answer": a, "target": t} for (s, t), a in zip(pairs, answers, strict=True)]
    chosen = [cases[0], cases[-1]]
    return {"cases": cases, "logits": [{"source": c["source"], "rows": logits(model, c["source"])} for c in chosen]}


def logits(model, source):
    preprocessor = model.preprocessor
    ids = preprocessor.encode_source(source)
    if hasattr(preprocessor, "labels"):
        return keras.ops.convert_to_numpy(model(preprocessor.sources([ids]))).tolist()
    if hasattr(preprocessor, "room"):
        return keras.ops.convert_to_numpy(model(preprocessor.sources([ids])))[0].tolist()
    written = [i for i in model.generator.decode([ids])[0].tolist() if i != preprocessor.tokenizer.pad_id]
    x, _, _ = preprocessor.arrays([ids], [written])
    return keras.ops.convert_to_numpy(model(x))[0][-len(written) :].tolist()


@pytest.fixture(scope="session")
def golden_of():
    """The function `golden`."""
    return golden


@pytest.fixture(scope="session")
def data():
    """The content of gallery.json."""
    return json.loads(json.dumps(gallery_data()))


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The gallery; read only."""
    return write_gallery(tmp_path_factory.mktemp("gallery") / "site")


@pytest.fixture(scope="session")
def under_node(root, folder, tmp_path_factory):
    """A function that runs golden cases of presets under Node, and returns what check.mjs found."""

    def run(cases):
        path = tmp_path_factory.mktemp("golden") / "golden.json"
        path.write_text(json.dumps(cases))
        command = [shutil.which("node"), root / "tests/gallery/check.mjs", folder, path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run
