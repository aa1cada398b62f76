"""The command: its tables, its JSON, its exit codes; errors are one line on stderr."""

import io
import json
import shutil
import subprocess
import sys

import pytest

import kzoo
from kzoo.cli.main import main
from kzoo.evaluation.report import Report
from kzoo.evaluation.results import add_results, results_document
from kzoo.saving.files import read_json, sha256, write_json

RECIPE = {
    "task": "recopy",
    "model": {"class": "RecurrentSeq2Seq", "config": {"embedding_units": 6, "encoder_units": 5}},
    "epochs": 1,
    "examples": 16,
    "batch_size": 16,
    "selection": "last",
    "evaluation": {"lengths": [3], "examples": 8},
}


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    """No progress bars."""
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")


@pytest.fixture
def kzoo_command(capsys):
    """A function that runs the command in this process and returns exit code, stdout and stderr."""

    def run(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:  # of argparse
            code = stop.code
        return code, *capsys.readouterr()

    return run


def rows(folder):
    digest = sha256(folder / "model.safetensors")
    row = {"preset": folder.name, "task": "recopy", "metric": "sequence_accuracy", "n": 2000, "seed": 0}
    row |= {"backend": "jax", "weights_sha256": digest, "low": 0.9, "high": 1.0, "paper": None, "version": "0"}
    return [row | {"length": 15, "value": 1.0, "paper": 1.0}, row | {"length": 100, "value": 0.9996}]


@pytest.fixture
def shelf(preset, tmp_path, monkeypatch):
    """One preset with results in the place of the bundled ones."""
    folder = tmp_path / "bundled" / "onestep_recopy"
    shutil.copytree(preset, folder)
    (folder / "recipe.json").write_text(json.dumps(RECIPE))
    run = {"seed": 0, "backend": "jax", "epoch": 1, "steps": 1, "examples_seen": 16, "seconds": 1.0}
    add_results(folder, results_document(Report("onestep_recopy", "recopy", "jax", rows(folder)), [run]))
    monkeypatch.setattr("kzoo.saving.catalogue.bundled_folder", lambda: tmp_path / "bundled")
    return folder


@pytest.mark.once
def test_list(shelf, kzoo_command):
    code, out, err = kzoo_command("list")
    assert (code, err) == (0, "")
    header, line, row = out.splitlines()
    assert header.split() == ["preset", "task", "sequence", "accuracy"]
    assert row.split(None, 2) == ["onestep_recopy", "recopy", "100 % at 15, 99.9 % at 100"]
    code, out, err = kzoo_command("list", "one*", "--json")
    assert json.loads(out) == [
        {
            "preset": "onestep_recopy",
            "mechanism": None,
            "task": "recopy",
            "supervision": None,
            "parameters": kzoo.preset_info(shelf)["metadata"]["parameters"],
            "sequence_accuracy": {"15": 1.0, "100": 0.9996},
        }
    ]
    assert kzoo_command("list", "two*")[:2] == (0, "no presets\n")


@pytest.mark.once
def test_info(shelf, kzoo_command):
    code, out, err = kzoo_command("info", "onestep_recopy")
    assert (code, err) == (0, "")
    assert "RecurrentSeq2Seq" in out and "apache-2.0" in out and "99.9 %" in out
    assert "each digit is written as often as" in out and "\nfor example: " in out
    code, out, _ = kzoo_command("info", shelf, "--json")
    found = json.loads(out)
    parts = {"preset", "kind", "folder", "config", "metadata", "recipe", "results", "tokenizer", "example"}
    assert parts == set(found)
    example = found["example"]
    assert kzoo.tasks.get("recopy").solve(tuple(example["input"].split())) == tuple(example["answer"].split())
    assert found["config"] == read_json(shelf / "config.json")


def test_generate(preset, kzoo_command, monkeypatch):
    model = kzoo.from_preset(preset)
    outputs = model.generate(["4 7 9 8", "1"], max_length=6)
    code, out, err = kzoo_command("generate", preset, "4 7 9 8", "1", "--max-length", 6)
    assert (code, out.splitlines(), err) == (0, outputs, "")
    code, out, err = kzoo_command("generate", preset, "4 7 9 8", "--json", "--max-length", 6)
    assert (code, json.loads(out)) == (0, [{"input": "4 7 9 8", "output": outputs[0]}])
    monkeypatch.setattr("sys.stdin", io.StringIO("4 7 9 8\n\n  \n1\n"))
    assert kzoo_command("generate", preset, "-", "--max-length", 6)[1].splitlines() == outputs
    monkeypatch.setattr("sys.stdin", io.StringIO("4 x\n\n1\ny\n"))
    code, out, err = kzoo_command("generate", preset, "-")
    assert (code, out) == (2, "") and "line 1: unknown token 'x'" in err and "; line 4: unknown token 'y'" in err


def test_evaluate(preset, kzoo_command):
    options = ["--lengths", "2,3", "--examples", "20", "--seed", "0"]
    code, out, err = kzoo_command("evaluate", preset, *options, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert list(found) == ["preset", "task", "backend", "rows"]
    assert (found["preset"], found["task"]) == ("tiny_recopy", "recopy")
    whole = [row for row in found["rows"] if row["metric"] == "sequence_accuracy"]
    assert [(row["length"], row["n"], row["seed"]) for row in whole] == [(2, 20, 0), (3, 20, 0)]
    assert all(0 <= row["value"] <= 1 for row in found["rows"])
    assert found["rows"] == kzoo.evaluate(preset, lengths=[2, 3], examples=20).rows
    code, out, err = kzoo_command("evaluate", preset, *options)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert all(word in lines[0] for word in ("length", "sequence accuracy", "interval", "token accuracy", "n", "paper"))
    assert [line.split()[0] for line in lines[2:]] == ["2", "3"]


@pytest.mark.once
def test_evaluate_takes_a_range_and_writes(shelf, kzoo_command):
    code, out, _ = kzoo_command("evaluate", shelf, "--lengths", "1:3:2", "--examples", "5", "--write", "--json")
    assert code == 0
    written = [row["length"] for row in read_json(shelf / "results.json")["rows"]]
    assert {1, 3, 15, 100} == set(written)
    assert kzoo.from_preset(shelf).preset_name == "onestep_recopy"


@pytest.mark.once
def test_evaluate_strata(shelf, kzoo_command):
    options = ["--stress", "--strata", "runs,one_digit", "--lengths", "3,4", "--examples", "6"]
    code, out, err = kzoo_command("evaluate", shelf, *options, "--write")
    assert (code, err) == (0, "") and [line.split()[0] for line in out.splitlines()[2:]] == ["runs", "one_digit"]
    written = [row for row in read_json(shelf / "results.json")["rows"] if "stratum" in row]
    assert [(row["stratum"], row["length"], row["n"]) for row in written] == [
        (name, length, 6) for length in (3, 4) for name in ("runs", "one_digit")
    ]
    assert kzoo_command("evaluate", shelf, *options, "--json")[0] == 0
    code, out, err = kzoo_command("evaluate", shelf, *options[:-1], "5", "--write")
    assert (code, err) == (0, "kzoo: 4 rows that are there are of more examples and stay\n")
    for wrong in (["--stress", "--split", "train"], ["--stress", "--metrics", "edit_distance"], ["--strata", "runs"]):
        code, out, err = kzoo_command("evaluate", shelf, *wrong)
        assert (code, out) == (2, "") and "--stress" in err


@pytest.mark.once
def test_a_bundled_preset_is_not_written_by_its_name(shelf, kzoo_command):
    before = (shelf / "results.json").read_bytes()
    code, out, err = kzoo_command("evaluate", "onestep_recopy", "--lengths", "3", "--examples", "5", "--write")
    assert (code, out) == (2, "") and "bundled" in err and "give --write a folder" in err
    assert (shelf / "results.json").read_bytes() == before


@pytest.mark.once
def test_train(shelf, kzoo_command, tmp_path):
    output = tmp_path / "out" / "mine"
    code, out, err = kzoo_command("train", shelf, "--output", output, "--seed", "3", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["training"][0]["seed"] == 3 == read_json(output / "recipe.json")["seed"]
    assert json.loads(out)["folder"] == str(output)
    assert kzoo_command("train", shelf, "--output", output, "--seed", "3", "--resume")[0] == 0
    code, out, err = kzoo_command("train", shelf, "--output", output)
    assert (code, out) == (2, "") and "exists; nothing was trained" in err


@pytest.mark.once
def test_train_adds_results_to_another_preset(shelf, kzoo_command, tmp_path):
    before = (shelf / "model.safetensors").read_bytes()
    output = tmp_path / "second"
    assert kzoo_command("train", shelf, "--output", output, "--seed", "4", "--add-results-to", shelf)[0] == 0
    results = read_json(shelf / "results.json")
    assert [run["seed"] for run in results["training"]] == [0, 4]
    assert {row["preset"] for row in results["rows"]} == {"onestep_recopy"}
    assert (shelf / "model.safetensors").read_bytes() == before and kzoo.from_preset(shelf)
    write_json(tmp_path / "other.json", {**read_json(shelf / "recipe.json"), "epochs": 2})
    started = kzoo_command("train", tmp_path / "other.json", "--output", tmp_path / "third", "--add-results-to", shelf)
    assert started[0] == 2 and "onestep_recopy has other stages" in started[2]
    assert not (tmp_path / "third").exists() and read_json(shelf / "results.json") == results


@pytest.mark.once
def test_card(shelf, kzoo_command, tmp_path):
    code, out, err = kzoo_command("card", "onestep_recopy")
    assert (code, err) == (0, "")
    assert out.startswith("---\n") and "# onestep_recopy" in out and "99.9 %" in out
    code, written, _ = kzoo_command("card", "--output", tmp_path / "cards")
    assert code == 0
    assert written.split() == [str(tmp_path / "cards" / "onestep_recopy.md")]
    assert (tmp_path / "cards" / "onestep_recopy.md").read_text() + "\n" == out
    picture = (tmp_path / "cards" / "onestep_recopy.svg").read_text()
    assert sha256(shelf / "results.json") in picture


@pytest.mark.once
def test_plot_lengths_of_a_pattern(kzoo_command, tmp_path):
    code, out, _ = kzoo_command("plot", "lengths", "stack_flip_fl?p", "lstm_flip_flop", "--output", tmp_path / "a.svg")
    picture = (tmp_path / "a.svg").read_text()
    assert code == 0 and "stack_flip_flop, seed 0" in picture and "lstm_flip_flop" in picture
    code, _, err = kzoo_command("plot", "lengths", "*_flip_flop", "--output", tmp_path / "b.svg")
    assert code == 2 and "a picture has 10 curves at most, not " in err
    code, _, err = kzoo_command("compare", "no_such_*")
    assert code == 2 and "no bundled preset or recorded run is called 'no_such_*'" in err


@pytest.mark.once
def test_plot_probe(kzoo_command, tmp_path):
    code, out, _ = kzoo_command("plot", "probe", "theorem_sorter", "--input", "5 17 43", "--output", tmp_path / "a.svg")
    assert code == 0 and out.split() == [str(tmp_path / "a.svg")]
    assert "5 17 43 | 5 17  →  43<" in (tmp_path / "a.svg").read_text()
    options = ("--lengths", "2,3", "--examples", "4", "--output", tmp_path / "b.svg")
    code, out, _ = kzoo_command("plot", "probe", "theorem_sorter", *options)
    assert code == 0 and "theorem_sorter, minimum: 100 % at 2, 100 % at 3" in out
    assert "theorem_sorter" in (tmp_path / "b.svg").read_text()
    code, _, err = kzoo_command("plot", "probe", "theorem_sorter", "onestep_copy", "--input", "5")
    assert code == 2 and "--input is probed in one preset, not in 2" in err


@pytest.mark.once
def test_evaluate_another_split(kzoo_command):
    code, out, _ = kzoo_command(
        "evaluate", "theorem_sorter", "--split", "rep3", "--lengths", "9", "--examples", "5", "--json"
    )
    found = json.loads(out)["rows"]
    assert code == 0 and {(row["split"], row["value"]) for row in found} == {("rep3", 1.0)}
    code, _, err = kzoo_command("evaluate", "theorem_sorter", "--split", "rep3", "--write")
    assert code == 2 and "--write does not go with" in err
    code, _, err = kzoo_command("evaluate", "theorem_sorter", "--split", "rep9", "--lengths", "9")
    assert code == 2 and "unknown split of sorter 'rep9'" in err


@pytest.mark.once
def test_doctor(kzoo_command):
    code, out, err = kzoo_command("doctor", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    import keras

    assert found["backend"] == keras.config.backend() and found["backend"] in found["backends"]
    assert found["versions"]["keras"] == keras.__version__ and found["devices"] and found["cache"]
    code, out, err = kzoo_command("doctor")
    assert code == 0 and f"keras {keras.__version__}" in out


ERRORS = {
    "unknown preset": (["info", "onestp_recopy"], "unknown preset 'onestp_recopy'; did you mean 'onestep_recopy'?"),
    "unknown preset to evaluate": (["evaluate", "onestp_recopy"], "did you mean 'onestep_recopy'?"),
    "no folder": (["generate", "./no/such", "4"], "there is no preset folder ./no/such"),
    "unknown token": (["generate", "onestep_recopy", "4 x"], "unknown token 'x'"),
    "empty input": (["generate", "onestep_recopy", ""], "a source has 1 to 10,000 tokens, not 0"),
    "bad limit": (["generate", "onestep_recopy", "4", "--max-length", "0"], "max_length must be an integer"),
    "bad length": (["evaluate", "onestep_recopy", "--lengths", "0"], "a length must be an integer from 1"),
    "no examples": (["evaluate", "onestep_recopy", "--examples", "0"], "examples must be an integer from 1"),
    "unknown task": (["evaluate", "onestep_recopy", "--task", "recoppy"], "did you mean 'recopy'"),
    "no recipe": (["train", "no.json", "--output", "x"], "there is no recipe no.json"),
    "card of an unknown preset": (["card", "onestp_recopy"], "did you mean 'onestep_recopy'?"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_what_cannot_be_done_is_one_line_and_exit_code_2(case, shelf, kzoo_command, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    arguments, message = ERRORS[case]
    code, out, err = kzoo_command(*arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1 and err.startswith("kzoo: ") and message in err


@pytest.mark.once
def test_a_damaged_preset_is_one_line(own_preset, kzoo_command):
    (own_preset / "model.safetensors").write_bytes(b"x")
    code, out, err = kzoo_command("generate", own_preset, "4")
    assert (code, out) == (2, "") and len(err.splitlines()) == 1 and "is not the file of metadata.json" in err
    (own_preset / "config.json").write_text("{}")
    for verb in ("info", "card"):
        code, out, err = kzoo_command(verb, own_preset)
        assert (
            (code, out) == (2, "")
            and len(err.splitlines()) == 1
            and "config.json is not the file of metadata.json" in err
        )


@pytest.mark.once
def test_a_preset_without_results_has_no_card(own_preset, kzoo_command):
    code, out, err = kzoo_command("card", own_preset)
    assert (code, out) == (2, "") and "has no results.json, so no card can be written" in err


@pytest.mark.parametrize("arguments", [[], ["lst"], ["generate"], ["evaluate", "x", "--lengths", "a"]])
def test_wrong_usage_is_exit_code_2(arguments, kzoo_command):
    code, out, err = kzoo_command(*arguments)
    assert (code, out) == (2, "") and "usage: kzoo" in err and "Traceback" not in err


@pytest.mark.parametrize("text", ["10:5:1", "1:2", "10:20:0", ""])
def test_no_lengths_are_wrong_usage(text, kzoo_command):
    code, _, err = kzoo_command("evaluate", "x", "--lengths", text)
    assert code == 2 and "is neither like 15,30,100 nor like 10:100:10" in err


def test_a_range_without_an_end_is_wrong_usage(kzoo_command):
    code, out, err = kzoo_command("evaluate", "onestep_recopy", "--lengths", "1:9999999999:1")
    assert code == 2 and "are 9,999,999,999 lengths, and at most 1,000 are measured" in err


def test_what_fails_on_the_way_is_exit_code_1(preset, kzoo_command, monkeypatch):
    def fail(*arguments, **options):
        raise OSError("the disk is full")

    monkeypatch.setattr("kzoo.from_preset", fail, raising=False)
    assert kzoo_command("generate", preset, "4") == (1, "", "kzoo: the disk is full\n")


def test_version(kzoo_command):
    assert kzoo_command("--version")[:2] == (0, f"kzoo {kzoo.__version__}\n")


@pytest.mark.slow
def test_in_a_process_of_its_own(preset, root):
    command = [sys.executable, "-m", "kzoo", "generate", str(preset), "4 7 9 8", "--max-length", "6", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    expected = kzoo.from_preset(preset).generate("4 7 9 8", max_length=6)
    assert json.loads(done.stdout) == [{"input": "4 7 9 8", "output": expected}]
    wrong = subprocess.run(command[:5] + ["4 x"], capture_output=True, text=True, cwd=root, timeout=120, check=False)
    assert wrong.returncode == 2 and wrong.stdout == "" and "Traceback" not in wrong.stderr
    assert [line for line in wrong.stderr.splitlines() if line.startswith("kzoo: ")] == [
        "kzoo: unknown token 'x'; known are: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9"
    ]


def test_a_mistyped_verb_gets_its_suggestion(kzoo_command):
    code, out, err = kzoo_command("evalute", "onestep_recopy")
    assert (code, out) == (2, "") and "unknown verb 'evalute'; did you mean 'evaluate' or" in err


@pytest.mark.once
def test_data_are_json_lines(kzoo_command, tmp_path):
    code, out, err = kzoo_command("data", "recopy", "--split", "test", "--length", "30", "--examples", "3")
    rows = [json.loads(line) for line in out.splitlines()]
    expected = kzoo.tasks.get("recopy").examples("test", 3, 0, 30)
    assert (code, err) == (0, "") and [row["source"].split() for row in rows] == [list(e.source) for e in expected]
    path = tmp_path / "x.jsonl"
    assert kzoo_command("data", "addition", "--examples", "2", "--output", path)[0] == 0
    for row in map(json.loads, path.read_text().splitlines()):
        assert sum(map(int, row["source"].split("+"))) == int(row["target"])


@pytest.mark.once
def test_a_file_of_ones_own_is_imported_first(python, tmp_path):
    own = tmp_path / "own_tasks.py"
    own.write_text(
        "import kzoo\nfrom kzoo.tasks import Example, Split, Task\n"
        "@kzoo.register('task', 'twice')\nclass Twice(Task):\n    'Every digit twice.'\n"
        "    name, vocabulary, test_lengths, length_unit = 'twice', ('0', '1'), (4,), 'digits'\n"
        "    splits = {s: Split((2, 4), 5) for s in ('train', 'validation', 'test')}\n"
        "    def sample(self, rng, length):\n"
        "        source = tuple(map(str, rng.integers(0, 2, length)))\n"
        "        return Example(source, tuple(x for x in source for _ in range(2)))\n"
    )
    command = "from kzoo.cli.main import main; sys.exit(main(['data', 'twice', '--examples', '2', *sys.argv[1:]]))"
    done = python(command, "--import", own)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 2, done.stderr
    assert "unknown task 'twice'" in python(command).stderr
    failing = own.read_text().replace("source = ", "source = 1 / 0, ")
    own.write_text(failing)
    done = python(command, "--import", own)
    where = f"kzoo: {own.resolve()}, line 9, in sample: ZeroDivisionError: division by zero"
    assert done.returncode == 2 and done.stderr.splitlines() == [where]
    own.write_text(failing.replace("1 / 0", "open('nowhere')"))
    done = python(command, "--import", own)
    assert done.returncode == 2 and "in sample: FileNotFoundError: " in done.stderr
    for text in ("raise ValueError('no')", None):
        own.write_text(text) if text else own.unlink()
        done = python(command, "--import", own)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and "--import: " in done.stderr
