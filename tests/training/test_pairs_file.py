"""A training on a file of pairs: the preset can be loaded, evaluated and published from anywhere, without the pairs."""

import json
import shutil

import pytest

import kzoo
from kzoo.cli.main import main
from kzoo.saving.files import read_json

PAIRS = [f"{i // 10} {i % 10}{' 7' * (i % 5)}\t{i % 10} {i // 10}" for i in range(100)]
SMALL = {"embedding_units": 6, "encoder_units": 5, "attention": "location"}


@pytest.fixture
def trained(tmp_path, monkeypatch, capsys):
    """The folder of a preset that the command trained, on a file of another folder."""
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "swap.tsv"
    path.write_text("\n".join(PAIRS))
    recipe = kzoo.load_recipe(path).to_config()
    recipe |= {"model": {**recipe["model"], "config": SMALL}, "stages": [{"budget": {"epochs": 1}}]}
    (tmp_path / "recipe.json").write_text(json.dumps(recipe))
    assert main(["train", str(tmp_path / "recipe.json"), "--output", str(tmp_path / "mine")]) == 0
    shutil.rmtree(tmp_path / "data")
    return tmp_path / "mine"


@pytest.mark.once
def test_the_preset_brings_its_pairs_but_does_not_publish_them(trained, python, capsys):
    task = kzoo.tasks.get(str(trained / "swap.tsv"))
    assert {row["length"] for row in read_json(trained / "results.json")["rows"]} == set(task.test_lengths)
    plan = kzoo.upload_preset("hf://me/swap", trained, dry_run=True)
    assert "swap.tsv" not in plan.files and "recipe.json" in plan.files
    done = python("import kzoo; r = kzoo.evaluate(sys.argv[1]); print(r.task, *r.accuracy())", trained)
    assert done.stdout.split() == [task.name, *map(str, task.test_lengths)]
    (trained / "swap.tsv").unlink()
    done = python("import kzoo; kzoo.evaluate(sys.argv[1])", trained)
    assert done.stderr.strip().endswith("is a file of pairs, which is known once it is read: give its path (.tsv)")


@pytest.mark.once
@pytest.mark.slow
def test_processes_of_their_own_know_the_file_and_what_is_imported(tmp_path, python):
    (tmp_path / "swap.tsv").write_text("\n".join(PAIRS))
    (tmp_path / "mine.py").write_text(
        "import kzoo\nfrom kzoo.layers import LocationAttention\n"
        "@kzoo.register('attention')\nclass Own(LocationAttention):\n    'As its base.'\n"
    )
    recipe = {"format": 2, "task": "copy", "supervision": [], "stages": [{"budget": {"epochs": 1}}]}
    recipe["model"] = {"class": "RecurrentSeq2Seq", "config": {**SMALL, "attention": "location"}}
    (tmp_path / "r.json").write_text(json.dumps(recipe | {"evaluation": {"examples": 5}}))
    code = "from kzoo.cli.main import main; sys.exit(main(sys.argv[1:]))"
    options = ["--tasks", tmp_path / "swap.tsv", "--mechanisms", "Own", "--jobs", 1, "--output", tmp_path / "out"]
    done = python(code, "train", tmp_path / "r.json", "--import", tmp_path / "mine.py", *options, timeout=200)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "out").glob("Own_swap_*")
    assert (folder / "swap.tsv").read_text() == "\n".join(PAIRS)
