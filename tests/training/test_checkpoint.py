"""Checkpoints that are damaged, of another backend, or in use; folders that cannot be written."""

import os
import subprocess
import sys

import keras
import pytest

from kzoo.errors import InputError, PresetError, TrainingError
from kzoo.saving.files import read_json, write_json
from kzoo.training import checkpoint as checkpoints
from kzoo.training import fit
from kzoo.training.lock import locked
from kzoo.training.recipe import Recipe
from kzoo.training.train import train

STAGE = {
    "data": {"examples": 32, "batch_size": 16},
    "budget": {"epochs": 3},
    "selection": {"examples": 4},
}


KEPT = {}  # the files of a checkpoint, made once


class Stopped(Exception):
    pass


def stop_after(epochs, monkeypatch):
    """Makes trainings stop behind the checkpoint of an epoch, counted over all stages."""

    class Bomb(fit.Checkpointing):
        left = epochs

        def on_epoch_end(self, epoch, logs=None):
            super().on_epoch_end(epoch, logs)
            Bomb.left -= 1
            if not Bomb.left:
                raise Stopped

    monkeypatch.setattr(fit, "Checkpointing", Bomb)


@pytest.fixture
def recipe(config):
    two = {**Recipe.from_config(config).to_config(), "supervision": [], "stages": [STAGE, STAGE]}
    return Recipe.from_config(two)


@pytest.fixture
def unfinished(recipe, monkeypatch, tmp_path):
    """The checkpoint of a run that was broken off after the second epoch of its second stage."""
    folder = tmp_path / "tiny.training"
    if not KEPT:
        with monkeypatch.context() as patch:
            stop_after(5, patch)
            with pytest.raises(Stopped):
                train(recipe, tmp_path / "tiny")
        KEPT.update({path.name: path.read_bytes() for path in folder.iterdir()})
    folder.mkdir(exist_ok=True)
    for name, content in KEPT.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.once
def test_what_a_checkpoint_holds(unfinished):
    notes = read_json(unfinished / "notes.json")
    best = f"best-{notes['best_epoch']}.safetensors"
    assert set(notes["digests"]) == {"state-2.safetensors", "stage-0.safetensors", best}
    assert {path.name for path in unfinished.iterdir()} == {"notes.json", *notes["digests"]}
    assert notes["backend"] == keras.config.backend()


def at(*path, value):
    """A function that sets a value of the notes."""

    def change(notes):
        for key in path[:-1]:
            notes = notes[key]
        if value is ...:
            del notes[path[-1]]
        else:
            notes[path[-1]] = value

    return change


DAMAGE = {
    "epoch": (at("epoch", value=100), "epoch must be an integer from 0 to 3, not 100"),
    "epoch text": (at("epoch", value="2"), "epoch must be an integer"),
    "stage": (at("stage", value=2), "stage must be an integer from 0 to 1, not 2"),
    "another stage": (at("stage", value=0), "finished must hold the 0 stages before"),
    "no stage": (at("stage", value=...), "its notes lack stage"),
    "best": (at("best", value=7), "best must be a number from -1 to 1"),
    "best epoch": (at("best_epoch", value=3), "best_epoch must be an integer from 0 to 2"),
    "seconds": (at("seconds", value=-1), "seconds must be a number"),
    "plateau": (at("plateau_epochs", value=9), "plateau_epochs must be an integer from 0 to 5"),
    "history": (at("history", value={}), "history must be a list"),
    "history cut off": (at("history", value=[]), "history must end with epoch 2"),
    "history of texts": (at("history", value=["a", "b"]), "history must be a list of mappings"),
    "finished": (at("finished", value=3), "finished must hold the 1 stages before"),
    "finished entry": (at("finished", 0, value={}), "finished must hold a mapping for each stage"),
    "finished steps": (at("finished", 0, "steps", value=-1), "steps of a finished stage must be an integer"),
    "backend": (at("backend", value=None), "backend is none"),
    "digests": (at("digests", value=[]), "digests is none"),
    "digest": (at("digests", "state-2.safetensors", value="0" * 64), "the SHA-256 of state-2.safetensors is not"),
    "another epoch": (
        lambda notes: notes.update(epoch=1, best_epoch=1, history=notes["history"][:1]),
        "state-1.safetensors is missing",
    ),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damaged_notes_are_one_sentence(case, recipe, unfinished, tmp_path):
    change, message = DAMAGE[case]
    notes = read_json(unfinished / "notes.json")
    change(notes)
    write_json(unfinished / "notes.json", notes)
    with pytest.raises(PresetError, match=f"is damaged .*{message}.*; remove it to start afresh") as error:
        train(recipe, tmp_path / "tiny", resume=True)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "tiny").exists() and (unfinished / "notes.json").is_file()


@pytest.mark.once
@pytest.mark.parametrize("name", ["state-2", "stage-0", "best"])
@pytest.mark.parametrize("damage", ["flip", "cut", "gone"])
def test_a_damaged_file_is_one_sentence(name, damage, recipe, unfinished, tmp_path):
    (path,) = unfinished.glob(f"{name}*.safetensors")
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(bytes(content) if damage == "flip" else bytes(content[: len(content) // 2]))
    if damage == "gone":
        path.unlink()
    best = name == "best"
    if best:  # it is read at the end, unless there is a new best
        notes = read_json(unfinished / "notes.json")
        notes["best"] = 1.0
        write_json(unfinished / "notes.json", notes)
    with pytest.raises(PresetError, match=r"is damaged \(.*(SHA-256|missing).*\); remove it to start afresh"):
        train(recipe, tmp_path / "tiny", resume=True)


def test_a_resume_on_another_backend_is_refused(recipe, unfinished, tmp_path):
    notes = read_json(unfinished / "notes.json")
    write_json(unfinished / "notes.json", {**notes, "backend": "theano"})
    message = f"a run on the theano backend, and this is {keras.config.backend()}: resume it with KERAS_BACKEND=theano"
    with pytest.raises(PresetError, match=message):
        train(recipe, tmp_path / "tiny", resume=True)


@pytest.mark.once
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), PermissionError(13, "Permission denied")])
def test_a_full_disk_keeps_the_last_checkpoint(error, recipe, unfinished, monkeypatch, tmp_path):
    before = {path.name: path.read_bytes() for path in unfinished.iterdir()}

    def full(path, content):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "write_bytes", full)
        with pytest.raises(TrainingError, match=rf"no checkpoint can be written to .* \({error.strerror}\); the last"):
            train(recipe, tmp_path / "tiny", resume=True)
    assert {path.name: path.read_bytes() for path in unfinished.iterdir()} == before
    assert train(recipe, tmp_path / "tiny", resume=True).is_dir()


HOLD = """
import sys, time
from pathlib import Path
from kzoo.training.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.once
@pytest.mark.slow
def test_a_second_training_into_a_folder_is_refused_until_the_first_is_gone(recipe, tmp_path):
    folder = tmp_path / "tiny.training"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        message = rf"another training \(process {holder.pid}\) writes to .*tiny.training: wait until it has ended, or"
        for resume in (False, True):
            with pytest.raises(PresetError, match=message):
                train(recipe, tmp_path / "tiny", resume=resume)
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    assert (folder / "lock").is_file()  # a stale one
    assert train(recipe, tmp_path / "tiny").is_dir() and not folder.exists()


def test_a_lock_leaves_nothing_and_keeps_what_is_there(tmp_path):
    with locked(tmp_path / "a"):
        assert os.listdir(tmp_path / "a") == ["lock"]
        with pytest.raises(PresetError, match="another training"), locked(tmp_path / "a"):
            raise AssertionError
    assert os.listdir(tmp_path) == []
    with locked(tmp_path / "a"):
        (tmp_path / "a" / "notes.json").write_text("{}")
    assert os.listdir(tmp_path / "a") == ["notes.json"]


@pytest.mark.once
def test_a_preset_that_came_in_the_meantime_is_left_alone(recipe, unfinished, monkeypatch, tmp_path):
    import kzoo.evaluation.evaluate as evaluation

    plain = evaluation.evaluate

    def evaluate(*arguments, **options):
        (tmp_path / "tiny").mkdir()
        (tmp_path / "tiny" / "precious").write_text("mine")
        return plain(*arguments, **options)

    monkeypatch.setattr(evaluation, "evaluate", evaluate)
    with pytest.raises(PresetError, match="was written by another in the meantime; this run is kept in"):
        train(recipe, tmp_path / "tiny", resume=True)
    assert os.listdir(tmp_path / "tiny") == ["precious"] and (unfinished / "notes.json").is_file()


@pytest.mark.once
def test_what_a_kill_behind_the_last_step_left_is_removed(recipe, unfinished, tmp_path):
    left = {path.name: path.read_bytes() for path in unfinished.iterdir()}
    folder = train(recipe, tmp_path / "tiny", resume=True)
    unfinished.mkdir()
    for name, content in left.items():
        (unfinished / name).write_bytes(content)
    weights = (folder / "model.safetensors").read_bytes()
    assert train(recipe, tmp_path / "tiny", resume=True) == folder
    assert not unfinished.exists() and (folder / "model.safetensors").read_bytes() == weights


def test_an_output_that_cannot_be_written_is_told_before_training(recipe, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("mine")
    monkeypatch.setattr(fit, "build", lambda *arguments: pytest.fail("a model was built"))
    with pytest.raises(InputError, match=r"file/tiny.training cannot be written \(Not a directory\)"):
        train(recipe, tmp_path / "file" / "tiny")
    with pytest.raises(InputError, match=r"/proc/tiny.training cannot be written \("):
        train(recipe, "/proc/tiny")
    assert os.listdir(tmp_path) == ["file"]
