import json
import shutil

import pytest

from kzoo import tasks
from kzoo.errors import InputError
from kzoo.preprocessing.tokenizer import Tokenizer
from kzoo.training.recipe import Recipe
from kzoo.training.stages import Budget, Stage

pytestmark = pytest.mark.once


@pytest.fixture(params=["cfq_json", "cfq_tables"])
def task(request):
    return tasks.get("cfq", folder=request.getfixturevalue(request.param))


def test_examples(task):
    train = [(" ".join(source), " ".join(target)) for source, target in task.examples("train")]
    assert train == [
        ("Who edited M0", "SELECT DISTINCT ?x0 WHERE { ?x0 film.editor.film M0 }"),
        ("Did M1 edit M0", "SELECT count ( * ) WHERE { M1 film.editor.film M0 }"),
        ("Was M0 a woman", "SELECT count ( * ) WHERE { M0 people.person.gender m_02zsn }"),
    ]
    assert " ".join(task.examples("validation")[0].source) == "Who <unknown> M0 <unknown> M1"
    assert len(task.examples("test")[0].source) == 7  # with the apostrophe on its own
    assert task.solve(("Did", "M1", "edit", "M0"))[-2:] == ("M0", "}")


def test_vocabulary_is_that_of_the_training_split(task):
    assert task.vocabulary[0] == "M0" and task.vocabulary[-1] == "<unknown>"
    assert "'" not in task.vocabulary and "wrote" not in task.vocabulary
    assert Tokenizer(task.vocabulary).vocabulary_size == len(task.vocabulary) + 3


def test_lengths_are_those_of_the_queries(task):
    assert task.splits["train"].lengths == (9, 11) and task.splits["train"].size == 3
    assert len(task.examples("train", length=11)) == 2
    with pytest.raises(InputError, match="its lengths are 9, 11"):
        task.examples("train", length=10)


def test_the_environment_may_name_the_folder(cfq_json, monkeypatch):
    monkeypatch.setenv("KZOO_CFQ", str(cfq_json))
    recipe = Recipe("cfq", {"class": "RecurrentSeq2Seq", "config": {"attention": "bi_relative"}}, (Stage(Budget(1)),))
    assert len(tasks.get(recipe.task).examples("train")) == 3
    monkeypatch.setenv("KZOO_CFQ", "")
    with pytest.raises(InputError, match="or set KZOO_CFQ"):
        tasks.get("cfq").examples("train")


def test_without_files(monkeypatch):
    monkeypatch.delenv("KZOO_CFQ", raising=False)
    task = tasks.get("cfq")
    assert task.published.accuracy["content"] == {None: 0.6214} and len(task.published.accuracy) == 6
    for ask in (lambda: task.examples("train"), lambda: task.vocabulary, lambda: task.solve(("Who",))):
        with pytest.raises(InputError, match=r"get them from https://.*cfq1.1.tar.gz and pass folder"):
            ask()


def test_wrong_files(cfq_json, tmp_path):
    with pytest.raises(InputError, match="holds neither dataset.json with"):
        tasks.get("cfq", folder=tmp_path / "none").examples()
    folder = shutil.copytree(cfq_json, tmp_path / "damaged")
    beyond = {"trainIdxs": [99], "devIdxs": [0], "testIdxs": [0]}
    odd = [
        {**beyond, "trainIdxs": value} for value in ([], None, 5, "0", {"0": 0}, [-1], [None], [[0]], ["x"], [1e999])
    ]
    texts = ["{", "[]", "null", "5", "[" * 100_000, *map(json.dumps, [{"trainIdxs": [0]}, beyond, *odd])]
    for text in texts:
        (folder / "splits" / "query_complexity_split.json").write_text(text)
        with pytest.raises(InputError, match="are not those of CFQ"):
            tasks.get("cfq", folder=folder).examples()
    (folder / "dataset.json").write_text("")
    with pytest.raises(InputError, match="are not those of CFQ"):
        tasks.get("cfq", folder=folder).examples()


@pytest.mark.parametrize("folder", ["~nouser/x", 5, "/dev/null", "\0"])
def test_a_folder_that_is_none(folder):
    with pytest.raises(InputError) as error:
        tasks.get("cfq", folder=folder).examples()
    assert "\n" not in str(error.value)


def test_tables_without_questions(tmp_path):
    for split in ("train", "validation", "test"):
        (tmp_path / f"{split}.tsv").write_text("\n")
    with pytest.raises(InputError, match="a split has no examples"):
        tasks.get("cfq", folder=tmp_path).examples()
    (tmp_path / "train.tsv").write_bytes(b"\xff\tx")
    with pytest.raises(InputError, match="are not those of CFQ"):
        tasks.get("cfq", folder=tmp_path).examples()
