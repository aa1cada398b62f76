"""A preset whose files are replaced while it is read, or that somebody wrote more into than can be read."""

import json
import shutil

import pytest

import kzoo
from kzoo.errors import InputError, PresetError
from kzoo.evaluation.results import add_results
from kzoo.saving import safetensors_file
from kzoo.saving.documents import read_results
from kzoo.saving.files import expand, read_json, write_json
from kzoo.saving.preset import Preset


def test_no_model_is_of_two_presets(own_preset, make_model, tmp_path):
    other = tmp_path / "other"
    make_model(seed=1).save_to_preset(other)
    before = Preset.find(own_preset)
    assert before.config and before.metadata  # read from the one
    shutil.copy(other / "model.safetensors", own_preset)  # and then replaced
    with pytest.raises(PresetError, match="model.safetensors is not the file of metadata.json"):
        before.build()


def test_weights_replaced_behind_the_check_are_refused(own_preset, make_model, tmp_path, monkeypatch):
    other = tmp_path / "other"
    make_model(seed=1).save_to_preset(other)
    plain = Preset.verify

    def verify(preset):
        plain(preset)
        shutil.copy(other / "model.safetensors", own_preset)

    monkeypatch.setattr(Preset, "verify", verify)
    with pytest.raises(PresetError, match="was replaced while the preset was read: read it again"):
        kzoo.from_preset(own_preset)
    monkeypatch.undo()
    shutil.copytree(other, own_preset, dirs_exist_ok=True)
    assert kzoo.from_preset(own_preset)


UNREADABLE = {
    "too much": ({"a": ["x" * 9_000] * 120}, "is larger than 1,000,000 bytes"),
    "a long text": ({"a": "x" * 10_001}, "a text of more than 10,000 characters"),
    "a control character": ({"a": ["\x1b[2J"]}, "a control character"),
    "half a character": ({"a": "\ud800"}, "is not valid JSON"),
    "no number": ({"a": float("nan")}, "NaN is not a JSON number"),
    "no mapping": ([1], "must hold one JSON object"),
}


@pytest.mark.once
@pytest.mark.parametrize("case", UNREADABLE)
def test_nothing_is_written_that_could_not_be_read(case, tmp_path):
    value, message = UNREADABLE[case]
    write_json(tmp_path / "a.json", {"a": 1})
    with pytest.raises(PresetError, match=message):
        write_json(tmp_path / "a.json", value)
    assert read_json(tmp_path / "a.json") == {"a": 1} and len(list(tmp_path.iterdir())) == 1


def test_a_preset_that_could_not_be_read_leaves_the_one_that_is_there(own_preset, make_model, monkeypatch):
    before = {path.name: path.read_bytes() for path in own_preset.iterdir()}
    model = make_model(seed=1)
    for document in ({"x": ["y" * 9_000] * 120}, {"rows": [{"value": 5}]}):
        with pytest.raises(PresetError):
            kzoo.saving.save.save_to_preset(model, own_preset, results=document)
    monkeypatch.setattr("kzoo.saving.save.MAX_WEIGHTS", 100)
    with pytest.raises(PresetError, match="the weights have .* bytes, and a preset at most 100; nothing was written"):
        model.save_to_preset(own_preset)
    assert {path.name: path.read_bytes() for path in own_preset.iterdir()} == before
    assert [path.name for path in own_preset.parent.iterdir()] == [own_preset.name]


@pytest.mark.once
def test_results_that_could_not_be_read_are_not_added(own_preset):
    row = {"metric": "sequence_accuracy", "value": 5, "low": 0.0, "high": 1.0, "n": 4, "seed": 0, "length": 3}
    row |= {"backend": "jax", "weights_sha256": "0"}
    with pytest.raises(PresetError, match="row 0 of .* a value, from 0 to 1"):
        add_results(own_preset, {"training": [], "rows": [row]})
    assert not (own_preset / "results.json").exists()
    for run in ("a", {"seed": "0"}, {"seed": 0, "parameters": "5"}, {"seed": 0, "steps": -1}):
        with pytest.raises(PresetError, match="training 0 of .* must have a seed, and whole numbers for steps"):
            write_json(own_preset / "results.json", {"training": [run], "rows": []})
            read_results(own_preset)
        (own_preset / "results.json").unlink()
    assert kzoo.from_preset(own_preset)


@pytest.mark.once
def test_a_file_that_is_listed_and_no_part_has_a_remedy(own_preset):
    metadata = read_json(own_preset / "metadata.json")
    metadata["files"]["results2.json"] = metadata["files"]["config.json"]
    (own_preset / "metadata.json").write_text(json.dumps(metadata))
    with pytest.raises(PresetError, match="outside the preset: 'results2.json'; without it in `files` it loads again"):
        kzoo.from_preset(own_preset)
    del metadata["files"]["results2.json"]
    (own_preset / "metadata.json").write_text(json.dumps(metadata))
    assert kzoo.from_preset(own_preset)


@pytest.mark.once
def test_sizes_of_thousands_of_digits_are_one_sentence(tmp_path):
    nines = "9" * 4_000
    header = f'{{"a": {{"dtype": "F32", "shape": [{nines}, {nines}], "data_offsets": [0, 4]}}}}'.encode()
    path = tmp_path / "a.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"0000")
    for read in (safetensors_file.read_tensors, safetensors_file.read_shapes):
        with pytest.raises(PresetError, match="its header is no safetensors header"):
            read(path)


@pytest.mark.once
@pytest.mark.parametrize("path", ["~nouser/x", None, 5, "x\0y"])
def test_a_path_that_is_none_is_one_sentence(path, preset, make_model, tmp_path):
    with pytest.raises(InputError, match="is no path"):
        expand(path)
    calls = [lambda: make_model().save_to_preset(path), lambda: kzoo.export(make_model(), path, "safetensors")]
    calls.append(lambda: kzoo.train("onestep_copy", path))
    for call in calls:
        with pytest.raises(InputError, match="is no path"):
            call()
