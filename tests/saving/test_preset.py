"""Presets: saved and loaded whole; every damage is one sentence and nothing is half-written."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import kzoo
from kzoo.cards.results_page import cells
from kzoo.errors import InputError, PresetError, UnknownNameError, UnreachableError
from kzoo.saving.files import read_json
from kzoo.saving.save import write_metadata
from kzoo.saving.weights import serialize

TEXTS = ["4 7 9 8", "0", "1 2 3"]
FILES = {"config.json", "tokenizer.json", "metadata.json", "model.safetensors"}


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def describe(folder):
    """Writes the SHA-256 of the files anew, as someone would who changes a preset on purpose."""
    path = folder / "metadata.json"
    metadata = json.loads(path.read_text())
    for name, entry in metadata["files"].items():
        content = (folder / name).read_bytes()
        entry.update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
    path.write_text(json.dumps(metadata))


def change(folder, name, edit):
    """Edits a JSON file of a preset."""
    value = json.loads((folder / name).read_text())
    edit(value)
    (folder / name).write_text(json.dumps(value))


@pytest.mark.slow
def test_a_model_comes_back(preset, make_model, python):
    model, again = make_model(), kzoo.from_preset(preset)
    assert {path.name for path in preset.iterdir()} == FILES
    assert type(again) is type(model)
    assert again.get_config() | {"name": ""} == model.get_config() | {"name": ""}
    assert serialize(again) == serialize(model)
    assert (again.task_name, again.preset_name) == ("recopy", "tiny_recopy")
    outputs = model.generate(TEXTS, max_length=20)
    assert again.generate(TEXTS, max_length=20) == outputs
    code = "import json, kzoo; print(json.dumps(kzoo.from_preset(sys.argv[1]).generate(sys.argv[2:], max_length=20)))"
    done = python(code, preset, *TEXTS)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == outputs


def test_saving_again_gives_equal_files(preset, tmp_path):
    kzoo.from_preset(str(preset)).save_to_preset(str(tmp_path / "tiny_recopy"))
    assert contents(tmp_path / "tiny_recopy") == contents(preset)


def test_metadata_says_what_it_is(preset, make_model):
    metadata = kzoo.preset_info(preset)["metadata"]
    assert metadata["parameters"] == make_model().count_params()
    assert (metadata["task"], metadata["license"], metadata["kzoo"]) == ("recopy", "apache-2.0", kzoo.__version__)
    assert set(metadata["files"]) == FILES - {"metadata.json"}
    assert metadata["files"]["config.json"]["bytes"] == (preset / "config.json").stat().st_size


def test_random_weights_only_on_request(preset):
    fresh = kzoo.from_preset(preset, load_weights=False)
    assert fresh.count_params() == kzoo.from_preset(preset).count_params()
    assert serialize(fresh) != serialize(kzoo.from_preset(preset))


def test_further_documents_are_kept(make_model, tmp_path):
    kzoo.save_to_preset(make_model(), tmp_path / "a", recipe={"task": "recopy"}, results={"rows": []})
    info = kzoo.preset_info(tmp_path / "a")
    assert info["recipe"] == {"task": "recopy"} and info["results"] == {"rows": []}
    assert {"recipe.json", "results.json"} <= set(info["metadata"]["files"])


def test_the_folder_one_stands_in_has_its_name(own_preset, monkeypatch):
    monkeypatch.chdir(own_preset)
    model = kzoo.from_preset(".")
    assert model.preset_name == "tiny_recopy" == kzoo.preset_info(".")["preset"]
    model.save_to_preset(".")
    assert kzoo.from_preset(own_preset).preset_name == "tiny_recopy"


@pytest.fixture
def bundled(preset, tmp_path, monkeypatch):
    """Two presets in the place of the bundled ones."""
    for name in ("onestep_recopy", "monotonic_copy"):
        shutil.copytree(preset, tmp_path / "bundled" / name)
    (tmp_path / "bundled" / "notes").mkdir()
    monkeypatch.setattr("kzoo.saving.catalogue.bundled_folder", lambda: tmp_path / "bundled")


def test_bundled_presets_are_found_by_name(bundled):
    assert kzoo.list_presets() == ["monotonic_copy", "onestep_recopy"]
    assert kzoo.list_presets("onestep*") == ["onestep_recopy"] and kzoo.list_presets("x*") == []
    assert kzoo.from_preset("onestep_recopy").preset_name == "onestep_recopy"


@pytest.mark.parametrize(
    "name, error, message",
    [
        ("onstep_recopy", UnknownNameError, r"unknown preset 'onstep_recopy'; did you mean 'onestep_recopy'"),
        ("zzz", UnknownNameError, "unknown preset 'zzz'; known are: monotonic_copy, onestep_recopy"),
        ("", UnknownNameError, "unknown preset ''"),
        ("./onestep_recopy", PresetError, "there is no preset folder ./onestep_recopy"),
        (Path("/no/such"), PresetError, "there is no preset folder /no/such"),
        ("hf://owner", InputError, "an address on the Hub is hf://owner/name or hf://owner/name@revision, not"),
        ("hf://owner/name", UnreachableError, "HF_HUB_OFFLINE is set: nothing can be asked of the Hub for hf://owner"),
    ],
)
def test_an_unknown_preset_is_one_sentence(name, error, message, bundled, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path / "bundled" / "notes")
    with pytest.raises(error, match=message) as caught:
        kzoo.from_preset(name)
    assert "\n" not in str(caught.value)


def unlink(name):
    return lambda folder: (folder / name).unlink()


def swap_class(name):
    return lambda folder: change(folder, "config.json", lambda value: value.update({"class": name}))


def argument(key, value):
    """Returns a damage that sets an argument of the model, with the SHA-256 made to fit."""
    return lambda folder: change(folder, "config.json", lambda config: config["config"].update({key: value}))


def tokens(value):
    return lambda folder: change(folder, "tokenizer.json", lambda config: config.update(tokens=value))


def deep(folder):
    nested = {}
    for _ in range(200):
        nested = {"class": "DirectionMix", "config": {"attention": nested}}
    change(folder, "config.json", lambda config: config["config"].update(attention=nested))


def list_outside(name):
    """Returns a damage that lists a file outside the preset."""
    entry = {"bytes": 0, "sha256": ""}
    return lambda folder: change(folder, "metadata.json", lambda value: value["files"].update({name: entry}))


def flip(folder):
    """Changes one bit of the weights."""
    content = bytearray((folder / "model.safetensors").read_bytes())
    content[-3] ^= 1
    (folder / "model.safetensors").write_bytes(content)


DESCRIBED = {  # the SHA-256 in metadata.json is made to fit, so that the damage itself must be found
    "unknown class": (swap_class("Transformr"), "unknown model 'Transformr'"),
    "class of the standard library": (swap_class("os.system"), "unknown model 'os.system'"),
    "class no name": (swap_class(["RecurrentSeq2Seq"]), "must be a name"),
    "class misspelt": (swap_class("RecurentSeq2Seq"), r"did you mean 'RecurrentSeq2Seq'"),
    "absurd size": (argument("encoder_units", 10**12), "encoder_units must be an integer from 1 to 2048"),
    "negative size": (argument("embedding_units", -1), "embedding_units must be an integer"),
    "text for a size": (argument("embedding_units", "6"), "embedding_units must be an integer"),
    "dropout of 2": (argument("dropout", 2), "dropout must be a number from 0 to 0.99"),
    "absurd vocabulary": (argument("vocabulary_size", 10**12), "vocabulary_size must be an integer"),
    "vocabulary of another size": (argument("vocabulary_size", 14), "13 token ids, but vocabulary_size is 14"),
    "unknown argument": (
        argument("dropot", 0.1),
        r"unknown argument of RecurrentSeq2Seq 'dropot'; did you mean 'dropout'\?",
    ),
    "dtype": (argument("dtype", "float7"), "a preset may not set 'dtype'"),
    "an object of Keras": (
        argument("attention", {"class": "onestep", "config": {"dtype": {"class_name": "x", "config": {}}}}),
        "a preset may not set 'dtype'",
    ),
    "unknown attention": (argument("attention", "onestp"), r"unknown attention 'onestp'; did you mean 'onestep'"),
    "unknown attention class": (argument("attention", {"class": "Foo"}), "unknown attention 'Foo'"),
    "attention a number": (argument("attention", 3), "attention must be a name"),
    "size inside the attention": (
        argument("attention", {"class": "onestep", "config": {"units": 10**12}}),
        "units must be",
    ),
    "nested too deeply": (deep, "nested too deeply"),
    "wrong shape": (argument("embedding_units", 5), "but the model needs F32"),
    "more weights than there are": (argument("embedding_units", 4096), "needs more weights than the"),
    "unknown key": (lambda folder: change(folder, "config.json", lambda v: v.update(code="x")), "nothing else"),
    "another format": (
        lambda folder: change(folder, "config.json", lambda v: v.update(format=2)),
        "must have format 1",
    ),
    "config no mapping": (
        lambda folder: change(folder, "config.json", lambda v: v.update(config=[])),
        "must be a mapping",
    ),
    "config no JSON": (lambda folder: (folder / "config.json").write_text("{'a': 1}"), "is not valid JSON"),
    "tokens a number": (tokens(5), "config.json"),
    "tokens twice": (tokens(list("0123456780")), "twice"),
    "tokens no words": (tokens([[1]] * 10), "a token is a word"),
    "tokenizer key": (lambda folder: change(folder, "tokenizer.json", lambda v: v.update(x=1)), "unknown argument"),
    "corrupt weights": (lambda folder: (folder / "model.safetensors").write_bytes(b"x" * 9000), "is damaged"),
    "truncated weights": (
        lambda folder: (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:-4]),
        "needs more weights than the",
    ),
}
PLAIN = {
    "no weights": (unlink("model.safetensors"), "model.safetensors is missing"),
    "no tokenizer": (unlink("tokenizer.json"), "tokenizer.json is missing"),
    "no metadata": (unlink("metadata.json"), "metadata.json is missing"),
    "no config": (unlink("config.json"), "is no preset folder: it has no config.json"),
    "other weights": (flip, "its SHA-256 differs"),
    "other config": (argument("dropout", 0.6), "is not the file of metadata.json"),
    "weights of another size": (lambda folder: (folder / "model.safetensors").write_bytes(b"x"), "it has 1 bytes"),
    "no list of files": (lambda folder: (folder / "metadata.json").write_text("{}"), "does not list the files"),
    "no number of parameters": (
        lambda folder: change(folder, "metadata.json", lambda v: v.update(parameters="many")),
        "must give the number of parameters",
    ),
    "a file outside": (list_outside("../other.json"), "lists a file outside the preset: '../other.json'"),
    "a file anywhere": (list_outside("/etc/passwd"), "lists a file outside the preset"),
    "the folder above": (list_outside(".."), "lists a file outside the preset"),
}


@pytest.mark.parametrize("case", [*DESCRIBED, *PLAIN])
def test_a_damaged_preset_is_one_sentence(case, own_preset):
    damage, message = {**DESCRIBED, **PLAIN}[case]
    damage(own_preset)
    if case in DESCRIBED:
        describe(own_preset)
    with pytest.raises(PresetError, match=message) as error:
        kzoo.from_preset(own_preset)
    assert "\n" not in str(error.value)


def test_another_class_than_expected_is_refused(preset):
    class Other(kzoo.models.SequenceModel):
        pass

    assert type(kzoo.models.RecurrentSeq2Seq.from_preset(preset)) is kzoo.models.RecurrentSeq2Seq
    with pytest.raises(PresetError, match="is a RecurrentSeq2Seq, not a Other"):
        Other.from_preset(preset)


def test_a_preset_is_replaced_as_a_whole(make_model, own_preset):
    (own_preset / "results.json").write_text("{}")
    make_model(seed=1).save_to_preset(own_preset)
    assert {path.name for path in own_preset.iterdir()} == FILES
    assert serialize(kzoo.from_preset(own_preset)) == serialize(make_model(seed=1))
    assert os.listdir(own_preset.parent) == ["tiny_recopy"]


def test_an_empty_folder_is_taken(make_model, tmp_path):
    (tmp_path / "empty").mkdir()
    make_model().save_to_preset(tmp_path / "empty")
    assert contents(tmp_path / "empty").keys() == FILES


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_anything_else_is_not_overwritten(kind, make_model, tmp_path):
    path = tmp_path / "precious"
    if kind == "folder":
        path.mkdir()
    (path / "notes.txt" if kind == "folder" else path).write_text("mine")
    with pytest.raises(PresetError, match="exists and is no preset folder; nothing was written"):
        make_model().save_to_preset(path)
    assert [p.read_text() for p in tmp_path.rglob("*") if p.is_file()] == ["mine"]


STEPS = ["saving.weights.write_bytes", "saving.save.write_metadata", "saving.files._exchange"]


@pytest.mark.parametrize("step", ["os.rename", *(f"kzoo.{step}" for step in STEPS)])
def test_an_interrupted_save_leaves_the_old_preset(step, make_model, own_preset, monkeypatch):
    before = contents(own_preset)
    real = os.rename

    def fail(*arguments):
        if step == "os.rename" and ".new-" not in str(arguments[0]):
            return real(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        if step == "os.rename":  # is used where two folders cannot be exchanged in one step
            patched.setattr("kzoo.saving.files._exchange", lambda *folders: False)
        patched.setattr(step, fail)
        with pytest.raises(KeyboardInterrupt):
            make_model(seed=1).save_to_preset(own_preset)
    assert contents(own_preset) == before
    assert os.listdir(own_preset.parent) == ["tiny_recopy"]


def test_a_model_without_preprocessor_is_not_saved(tmp_path):
    model = kzoo.models.RecurrentSeq2Seq(13, embedding_units=2, encoder_units=2)
    with pytest.raises(InputError, match="takes arrays only"):
        model.save_to_preset(tmp_path / "a")
    assert os.listdir(tmp_path) == []


def test_tuned_weights_are_saved(own_preset):
    model = kzoo.from_preset(own_preset)
    model.vocabulary_bias.assign(np.arange(13, dtype="float32"))
    model.save_to_preset(own_preset)
    again = kzoo.from_preset(own_preset)
    np.testing.assert_array_equal(again.vocabulary_bias.numpy(), np.arange(13))


def test_a_preset_is_replaced_where_folders_cannot_be_exchanged(make_model, own_preset, monkeypatch):
    monkeypatch.setattr("kzoo.saving.files._exchange", lambda *folders: False)
    make_model(seed=1).save_to_preset(own_preset)
    assert serialize(kzoo.from_preset(own_preset)) == serialize(make_model(seed=1))
    assert os.listdir(own_preset.parent) == ["tiny_recopy"]


def test_what_a_killed_process_left_is_swept(make_model, own_preset, python):
    dead = python("import os; print(os.getpid())").stdout.strip()
    (own_preset.parent / f".tiny_recopy.new-{dead}-abc").mkdir()
    (own_preset.parent / f".tiny_recopy.new-{os.getpid()}-abc").mkdir()
    make_model().save_to_preset(own_preset)
    assert sorted(os.listdir(own_preset.parent)) == [f".tiny_recopy.new-{os.getpid()}-abc", "tiny_recopy"]


def test_other_files_in_the_folder_are_no_part_of_the_preset(own_preset):
    for name in ("results2.json", "Notes.json", "model-backup.safetensors"):
        (own_preset / name).write_text("{}")
    write_metadata(own_preset)
    assert kzoo.from_preset(own_preset).preset_name == "tiny_recopy"
    assert set(read_json(own_preset / "metadata.json")["files"]) == FILES - {"metadata.json"}


def test_a_fifo_is_no_file_of_a_preset(own_preset):
    for name in ("model.safetensors", "config.json"):
        (own_preset / name).unlink()
        os.mkfifo(own_preset / name)
        for read in (kzoo.from_preset, lambda folder: kzoo.Preset.find(folder).weights_sha256):
            with pytest.raises(PresetError):
                read(own_preset)


def test_the_object_tells_what_a_preset_is(preset):
    found = kzoo.Preset.find("onestep_recopy")
    assert (found.name, found.kind, found.mechanism, found.task) == ("onestep_recopy", "preset", "onestep", "recopy")
    assert found.supervision == [] and found.recipe["task"] == "recopy" and found.tokenizer["tokens"][0] == "0"
    assert {row["weights_sha256"] for row in found.rows} == {found.weights_sha256}
    found.verify()
    assert kzoo.Preset.find(found) is found
    assert kzoo.Preset.find(preset).supervision is None  # was not trained by a recipe


def test_a_recorded_run_has_no_weights():
    run = kzoo.Preset.find("rope_addition")
    assert run.kind == "recorded run" and run.rows and run.task == "addition"
    with pytest.raises(PresetError, match="rope_addition is a recorded run, without weights: kzoo train rope_addition"):
        run.build()
    assert kzoo.Preset.find("ndr_listops_paper").kind == "recipe"


def test_presets_are_listed_by_their_supervision():
    alone = kzoo.list_presets(supervision="none")
    assert {"onestep_recopy", "waypoint_scan"} <= set(alone) and "counting_sorter" not in alone
    assert "counting_sorter" in kzoo.list_presets("count*", supervision="other training distribution")
    with pytest.raises(InputError, match="unknown supervision .gold.; known are"):
        kzoo.list_presets(supervision="gold")


def test_no_row_is_hidden_by_another(root):
    """Every folder with rows of sequence accuracy has its own line in the tables."""
    shown = {(cell["name"], cell["length"]) for cell in cells() if cell["ours"] is not None}
    for path in (root / "presets").glob("*/results.json"):
        for row in json.loads(path.read_text())["rows"]:
            if row["metric"] == "sequence_accuracy" and not {"stratum", "stage"} & set(row):
                assert (path.parent.name, row["length"]) in shown


@pytest.mark.parametrize("text", ["\x1b[2J", "a\nb", "\u202eabc", "\x9b31m", "a" * 10_001])
@pytest.mark.parametrize("name, key", [("metadata.json", "license"), ("recipe.json", "init_from")])
def test_a_text_that_a_terminal_would_act_on_is_refused(name, key, text, own_preset):
    (own_preset / "recipe.json").write_text("{}")
    change(own_preset, name, lambda value: value.update({key: text}))
    with pytest.raises(PresetError, match="has a text") as error:
        kzoo.preset_info(own_preset)
    assert str(error.value).isprintable()


@pytest.mark.once
def test_a_bundled_name_may_have_the_version_of_its_weights():
    assert kzoo.Preset.find("onestep_recopy@v1").folder == kzoo.Preset.find("onestep_recopy").folder
    with pytest.raises(
        UnknownNameError, match="onestep_recopy is bundled in version v1, not 'v2': others are on the Hub"
    ):
        kzoo.from_preset("onestep_recopy@v2")
