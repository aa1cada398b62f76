"""`kzoo list`, `compare`, `data`; grids; errors as JSON; completion: as a user meets them."""

import json
import os
import subprocess
import sys

import pytest

import kzoo
from kzoo.cli.main import main

pytestmark = pytest.mark.once


@pytest.fixture
def kzoo_command(capsys, monkeypatch):
    """A function that runs the command in this process and returns exit code, stdout and stderr."""
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")

    def run(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:  # of argparse
            code = stop.code
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize("what", ["presets", "tasks", "mechanisms", "recipes"])
def test_lists_fit_80_columns(what, kzoo_command):
    code, out, err = kzoo_command("list", what)
    assert (code, err) == (0, "")
    header, _, *lines = out.splitlines()
    assert max(map(len, [header, *lines])) <= 80
    found = json.loads(kzoo_command("list", what, "--json")[1])
    names = {"presets": kzoo.list_presets(), "tasks": kzoo.tasks.names()}.get(what)
    assert names is None or [row[what.removesuffix("s")] for row in found] == names
    assert len(kzoo_command("list", what, found[0][what.removesuffix("s")])[1].splitlines()) >= 3


def test_a_list_marks_what_had_more_than_pairs(kzoo_command):
    lines = kzoo_command("list", "o*")[1], kzoo_command("list", "abc_*")[1]
    assert "*" not in lines[0] and lines[1].splitlines()[2].endswith(" *") and "* training had more" in lines[1]
    assert kzoo_command("list", "tasks", "a", "b")[0] == kzoo_command("list", "tasks", "--supervision", "none")[0] == 2


def test_compare(kzoo_command):
    code, out, err = kzoo_command("compare", "onestep_copy", "content_copy")
    assert (code, err) == (0, "") and out.splitlines()[0] == "copy"
    header, _, one, other = out.splitlines()[2:6]
    assert header.split()[:4] == ["mechanism", "supervision", "parameters", "seeds"]
    assert one.split()[:5] == ["onestep_copy", "onestep", "none", "248,974", "3"] and one.count("100 %") == 6
    assert other.startswith("content_copy") and other.endswith(" 0 %")


def test_compare_tells_the_worst_seed_and_what_is_answered(kzoo_command):
    code, out, _ = kzoo_command("compare", "stack_tagger_reverse_string", "second_order_s3", "lstm_tagger_s3")
    assert code == 0 and [line for line in out.splitlines() if line and " " not in line] == ["reverse_string", "s3"]
    (line,) = [line for line in out.splitlines() if line.startswith("stack_tagger_reverse_string ")]
    assert " 66.7 % (0 %) " in line and " 21,588 " in line
    assert "last token" in out and "all tokens" in out
    code, out, _ = kzoo_command("compare", "stack_tagger_reverse_string", "onestep_recopy", "--json")
    one, other = json.loads(out)
    assert [one["preset"], other["preset"]] == ["stack_tagger_reverse_string", "onestep_recopy"]
    assert list(one["seeds"]) == ["0", "1", "2"] and one["seeds"]["0"]["60"] == one["sequence_accuracy"]["60"]["value"]


def test_compare_takes_two_or_more(kzoo_command):
    assert kzoo_command("compare", "onestep_copy")[0] == 2


def test_data_as_a_folder_for_datasets(kzoo_command, tmp_path):
    folder = tmp_path / "recopy"
    code, out, _ = kzoo_command("data", "recopy", "--split", "all", "--examples", "3", "--output", folder)
    assert (code, out) == (0, f"{folder}\n")
    task = kzoo.tasks.get("recopy")
    for split in task.splits:
        rows = [json.loads(line) for line in (folder / f"{split}.jsonl").read_text().splitlines()]
        assert rows == [{"source": task.text(s), "target": task.text(t)} for s, t in task.examples(split, 3)]
        assert f"  - split: {split}\n    path: {split}.jsonl\n" in (folder / "README.md").read_text()
    code, _, err = kzoo_command("data", "recopy", "--split", "all", "--output", folder)
    assert code == 2 and "exists and is not empty; nothing was written" in err
    assert kzoo_command("data", "recopy", "--split", "all")[0] == 2


def test_errors_are_json_where_results_are(kzoo_command):
    code, out, err = kzoo_command("info", "onestp_recopy", "--json")
    error = json.loads(out)["error"]
    assert code == 2 and error["type"] == "UnknownNameError" and err == f"kzoo: {error['message']}\n"
    for usage in (["evaluate", "x", "--lengths", "a", "--json"], ["evalute", "x", "--json"]):
        code, out, err = kzoo_command(*usage)
        assert code == 2 and json.loads(out)["error"]["type"] == "UsageError" and "usage: kzoo" in err


def test_a_grid_is_checked_before_its_first_run(kzoo_command, tmp_path):
    options = ["--seeds", "0,1", "--output", tmp_path / "runs"]
    code, out, err = kzoo_command("train", "onestep_copy", "--mechanisms", "onestep,oenstep", *options)
    assert (code, out) == (2, "") and "oenstep_copy-0: unknown attention 'oenstep'; did you mean 'onestep'" in err
    (tmp_path / "runs" / "onestep_copy-1").mkdir(parents=True)
    (tmp_path / "runs" / "onestep_copy-1" / "notes.txt").write_text("mine")
    code, out, err = kzoo_command("train", "onestep_copy", *options)
    assert code == 2 and "onestep_copy-1 exists; nothing was trained" in err
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["onestep_copy-1"]


@pytest.mark.parametrize("typed, found", [("kzoo info onestep_re", "onestep_recopy"), ("kzoo data reco", "recopy")])
def test_the_shell_completes_names(typed, found, root, tmp_path):
    told = {"_ARGCOMPLETE": "1", "COMP_LINE": typed, "COMP_POINT": str(len(typed)), "COMP_TYPE": "9"}
    told |= {"_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_STDOUT_FILENAME": str(tmp_path / "found")}
    code = "import sys; sys.argv[0] = 'kzoo'; from kzoo.cli.main import main; main()"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, **told}, cwd=root, timeout=60, check=False)
    words = [word.strip() for word in (tmp_path / "found").read_text().split("\n")]
    assert found in words and "onestep_lookup" not in words


def test_what_is_no_input_of_the_task_is_said(kzoo_command):
    code, out, err = kzoo_command("generate", "ndr_arithmetic", "1+2", "(1+2)")
    assert (code, out.splitlines()[1]) == (0, "3") and err.startswith("kzoo: '1+2' is no input that arithmetic has an")
    assert len(err.splitlines()) == 1 and err.endswith("What is written for it means nothing.\n")
    code, out, err = kzoo_command("generate", "ndr_arithmetic", "(1+2)", "1+2", "--strict")
    assert (code, out) == (2, "") and "'1+2' is no input that arithmetic has an answer to" in err
    model = kzoo.from_preset("ndr_arithmetic")
    with pytest.warns(UserWarning, match=r"'1\+2' is no input that arithmetic has an answer to.* \(nor are 1 others\)"):
        model.generate(["1+2", "2"])
