"""Presets from the Hub: found, checked, cached; every failure is one sentence."""

import json
import os
import pty
import shutil
import subprocess
import sys
import termios

import pytest

import kzoo
from kzoo.cards.card import render_card
from kzoo.errors import AccessError, InputError, KzooError, NotOnHubError, PresetError, UnreachableError
from kzoo.hub.address import Address
from kzoo.hub.download import FILES, fetch
from kzoo.saving.files import sha256
from kzoo.saving.save import write_metadata
from kzoo.saving.weights import serialize
from kzoo.training.recipe import load_recipe

pytestmark = pytest.mark.once
FRIEND = "hf://friend/tiny_recopy"


def refused(error, call, *words):
    """Checks that a call fails with this very error, in one sentence that has these words in it."""
    with pytest.raises(KzooError) as caught:
        call()
    message = str(caught.value)
    assert type(caught.value) is error, message
    assert "\n" not in message and all(word in message for word in words), message


def test_a_preset_comes_from_the_hub(hub, put, whole_preset):
    put(whole_preset, **{"notes.txt": b"mine", "pickle.bin": b"cos\nsystem", "../up.json": b"{}"})
    model = kzoo.from_preset(FRIEND)
    assert serialize(model) == (whole_preset / "model.safetensors").read_bytes()
    assert model.preset_name == "tiny_recopy" and model.task_name == "recopy"
    assert kzoo.models.RecurrentSeq2Seq.from_preset(FRIEND).preset_name == "tiny_recopy"
    info = kzoo.preset_info(FRIEND)
    assert info["preset"] == "tiny_recopy" and {path.name for path in fetch(Address.parse(FRIEND)).iterdir()} <= set(
        FILES
    )
    assert not [asked for asked in hub.requests if "notes" in asked or "pickle" in asked or "up.json" in asked]


@pytest.mark.parametrize("revision", ["v1", "main", "commit"])
def test_a_revision_stays_what_it_was(revision, hub, put, whole_preset, make_model, own):
    first = put(whole_preset)
    repository = hub.repositories["friend/tiny_recopy"]
    repository.tags["v1"] = first
    make_model(seed=1).save_to_preset(own)
    put(own)
    at = first if revision == "commit" else revision
    weights = (whole_preset if revision != "main" else own) / "model.safetensors"
    assert serialize(kzoo.from_preset(f"{FRIEND}@{at}")) == weights.read_bytes()


def test_a_cached_commit_costs_no_request(hub, put, whole_preset):
    commit = put(whole_preset)
    kzoo.from_preset(f"{FRIEND}@{commit}")
    assert len(hub.asked("^GET .*/resolve/")) == 6
    hub.requests.clear()
    kzoo.from_preset(f"{FRIEND}@{commit}")
    assert hub.requests == []


def test_a_cached_branch_is_asked_for_but_not_downloaded_again(hub, put, whole_preset):
    put(whole_preset)
    kzoo.from_preset(FRIEND)
    hub.requests.clear()
    kzoo.from_preset(FRIEND)
    assert hub.requests == ["GET /api/models/friend/tiny_recopy"]


@pytest.mark.parametrize("revision", ["", "@v1", "@main", "@commit"])
@pytest.mark.parametrize("how", ["server stopped", "offline mode"])
def test_offline_works_once_cached(how, revision, hub, put, whole_preset, monkeypatch, capsys):
    commit = put(whole_preset)
    hub.repositories["friend/tiny_recopy"].tags["v1"] = commit
    preset = FRIEND + revision.replace("commit", commit)
    kzoo.from_preset(preset)
    capsys.readouterr()
    if how == "offline mode":
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    hub.stop()
    assert serialize(kzoo.from_preset(preset)) == (whole_preset / "model.safetensors").read_bytes()
    said = capsys.readouterr().err
    # Only what may have changed meanwhile is told.
    expected = "" if "commit" in revision else f"taking the copy in the cache, {FRIEND}@{commit}\n"
    assert said.endswith(expected) and len(said.splitlines()) == bool(expected)


def test_offline_without_a_copy_is_one_sentence(hub, put, whole_preset, monkeypatch):
    commit = put(whole_preset)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    refused(UnreachableError, lambda: kzoo.from_preset(FRIEND), "HF_HUB_OFFLINE is set", FRIEND)
    refused(UnreachableError, lambda: kzoo.from_preset(f"{FRIEND}@{commit}"), "HF_HUB_OFFLINE is set", commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    hub.stop()
    refused(UnreachableError, lambda: kzoo.from_preset(FRIEND), "the Hub cannot be reached for", "and it is not in the")


def test_a_partial_copy_is_no_copy(hub, put, whole_preset, monkeypatch):
    commit = put(whole_preset)
    folder = fetch(Address.parse(f"{FRIEND}@{commit}"))
    (folder / "config.json").unlink()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    refused(UnreachableError, lambda: kzoo.from_preset(f"{FRIEND}@{commit}"), "HF_HUB_OFFLINE is set")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    kzoo.from_preset(f"{FRIEND}@{commit}")


@pytest.mark.parametrize("token", [None, "hf_reader", "hf_nobody"])
def test_what_is_not_there_is_one_sentence(token, hub, put, whole_preset, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", token) if token else monkeypatch.delenv("HF_TOKEN")
    commit = put(whole_preset)
    hub.repository("friend/secret", private=True).commit({"config.json": b"{}"})
    hub.repository("friend/gated", gated=True).commit({"config.json": b"{}"})
    known = token != "hf_nobody"
    error = NotOnHubError if known else AccessError
    refused(error, lambda: kzoo.from_preset("hf://friend/nothing"), "hf://friend/nothing")
    if token == "hf_reader":
        refused(
            NotOnHubError, lambda: kzoo.from_preset("hf://friend/secret"), "is no preset of kzoo: it has no tokenizer"
        )
    else:
        refused(error, lambda: kzoo.from_preset("hf://friend/secret"), "token")
        refused(AccessError, lambda: kzoo.from_preset("hf://friend/gated"), "gated" if known else "token")
    if known:
        refused(NotOnHubError, lambda: kzoo.from_preset(f"{FRIEND}@v9"), f"{FRIEND} has no revision 'v9'")
        refused(NotOnHubError, lambda: kzoo.from_preset(f"{FRIEND}@{commit[::-1]}"), "has no revision")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "metadata.json", "model.safetensors"])
def test_a_repository_that_lacks_a_file_is_no_preset(name, hub, put, whole_preset):
    put(whole_preset, **{name: None})
    refused(NotOnHubError, lambda: kzoo.from_preset(FRIEND), f"{FRIEND} is no preset of kzoo: it has no {name}")
    assert not hub.asked("/resolve/")


def test_a_listed_file_that_is_gone_is_one_sentence(hub, put, whole_preset):
    put(whole_preset)
    hub.fault("HEAD .*/tokenizer.json", times=99, call=lambda: lose(hub, "tokenizer.json"))
    refused(NotOnHubError, lambda: kzoo.from_preset(FRIEND), f"{FRIEND} lacks a file that it lists")


def lose(hub, name):
    for files in hub.repositories["friend/tiny_recopy"].commits.values():
        files.pop(name, None)


@pytest.mark.parametrize("name, limit", [("model.safetensors", 512 * 1024**2), ("config.json", 1_000_000)])
def test_a_file_over_its_size_is_not_downloaded(name, limit, hub, put, whole_preset):
    put(whole_preset)
    for files in hub.repositories["friend/tiny_recopy"].commits.values():
        if name in files:
            files[name].size = limit + 1
    refused(PresetError, lambda: kzoo.from_preset(FRIEND), name, f"kzoo loads at most {limit:,}")
    assert not hub.asked("/resolve/")


def test_a_damaged_download_is_one_sentence(hub, put, whole_preset):
    put(whole_preset, **{"model.safetensors": (whole_preset / "model.safetensors").read_bytes()[:-1] + b"x"})
    refused(PresetError, lambda: kzoo.from_preset(FRIEND), "is not the file of metadata.json (its SHA-256 differs)")


def test_a_busy_hub_is_asked_again(hub, put, whole_preset, waits):
    put(whole_preset)
    hub.fault("GET /api/models/friend/tiny_recopy$", status=503, times=2)
    hub.fault("/tree/", status=500)
    hub.fault("HEAD .*/config.json", status=502)
    hub.fault("GET .*/resolve/.*/tokenizer.json", status=429)
    kzoo.from_preset(FRIEND)
    assert waits and all(fault.times == 0 for fault in hub.faults)


@pytest.mark.parametrize("pattern", ["GET /api/models/friend/tiny_recopy$", "/tree/", "HEAD", "GET .*/resolve/"])
def test_a_hub_that_stays_broken_is_one_sentence(pattern, hub, put, whole_preset, waits):
    put(whole_preset)
    hub.fault(pattern, status=500, times=10**6)
    refused(UnreachableError, lambda: kzoo.from_preset(FRIEND), "the Hub has trouble with", "HTTP status 500")


def test_a_cut_connection_is_taken_up_where_it_broke(hub, put, whole_preset, waits, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 500)  # what is lost when it breaks
    put(whole_preset)
    hub.fault("GET .*model.safetensors", cut=1000)
    hub.fault("GET .*model.safetensors", cut=2000)
    assert serialize(kzoo.from_preset(FRIEND)) == (whole_preset / "model.safetensors").read_bytes()
    assert hub.ranges == ["bytes=1000-", "bytes=3000-"]


def test_a_connection_that_stays_cut_leaves_no_half_file(hub, put, whole_preset, waits):
    commit = put(whole_preset)
    hub.fault("GET .*model.safetensors", cut=0, times=10**6)
    refused(UnreachableError, lambda: kzoo.from_preset(FRIEND), "the Hub cannot be reached")
    refused(UnreachableError, lambda: kzoo.from_preset(f"{FRIEND}@{commit}"), "the Hub cannot be reached")
    assert not [path for path in hub.cache.rglob("*") if path.name == "model.safetensors" or "incomplete" in path.name]
    hub.faults.clear()
    assert serialize(kzoo.from_preset(FRIEND)) == (whole_preset / "model.safetensors").read_bytes()


@pytest.mark.slow
def test_two_processes_download_at_once(hub, put, whole_preset, root):
    commit = put(whole_preset)
    command = [sys.executable, "-m", "kzoo", "download", f"{FRIEND}@{commit}", "--json"]
    environment = {**os.environ, **hub.environment}
    both = [
        subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    answers = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], answers
    folders = {json.loads(out)["folder"] for out, _ in answers}
    assert folders == {str(hub.cache / "models--friend--tiny_recopy" / "snapshots" / commit)}
    hub.stop()
    assert serialize(kzoo.from_preset(f"{FRIEND}@{commit}")) == (whole_preset / "model.safetensors").read_bytes()


@pytest.fixture
def shelf(hub, put, whole_preset, tmp_path, monkeypatch):
    """An empty shelf of bundled presets, with a record of one on the Hub: "tiny_recopy"."""
    commit = put(whole_preset, "zoo/tiny_recopy")
    files = {p.name: {"bytes": p.stat().st_size, "sha256": sha256(p)} for p in whole_preset.iterdir()}
    record = {"address": f"hf://zoo/tiny_recopy@{commit}", "files": files}
    (tmp_path / "shelf" / "tiny_recopy").mkdir(parents=True)
    (tmp_path / "shelf" / "tiny_recopy" / "pin.json").write_text(json.dumps(record))
    monkeypatch.setattr("kzoo.saving.catalogue.bundled_folder", lambda: tmp_path / "shelf")
    return tmp_path / "shelf"


def test_a_known_name_is_fetched_at_its_commit(hub, shelf, put, whole_preset, own, make_model):
    make_model(seed=1).save_to_preset(own)
    put(own, "zoo/tiny_recopy")  # a later commit, which nobody asked for
    model = kzoo.from_preset("tiny_recopy")
    assert serialize(model) == (whole_preset / "model.safetensors").read_bytes()
    assert model.preset_name == "tiny_recopy" == kzoo.preset_info("tiny_recopy")["preset"]
    hub.stop()
    assert kzoo.from_preset("tiny_recopy").generate("4", max_length=3) == model.generate("4", max_length=3)
    with pytest.raises(KzooError, match="did you mean 'tiny_recopy'"):
        kzoo.from_preset("tiny_recop")


def test_another_owner_can_be_named(hub, shelf, monkeypatch):
    monkeypatch.setenv("KZOO_HUB_OWNER", "mirror")
    refused(NotOnHubError, lambda: kzoo.from_preset("tiny_recopy"), "hf://mirror/tiny_recopy")
    hub.repositories["mirror/tiny_recopy"] = hub.repositories.pop("zoo/tiny_recopy")
    kzoo.from_preset("tiny_recopy")


def test_a_known_name_with_other_content_is_refused(hub, shelf, whole_preset, own, make_model):
    record = shelf / "tiny_recopy" / "pin.json"
    make_model(seed=1).save_to_preset(own)  # a preset in itself, but another one
    files = {path.name: path.read_bytes() for path in own.iterdir()}
    repository = hub.repositories["zoo/tiny_recopy"]
    commit = json.loads(record.read_text())["address"].partition("@")[2]
    for name in files:
        repository.commits[commit][name].content = files[name]
        repository.commits[commit][name].__post_init__()
    refused(PresetError, lambda: kzoo.from_preset("tiny_recopy"), "is not the file of kzoo's own record of tiny_recopy")


@pytest.mark.parametrize("damage", [{"address": "hf://zoo/tiny_recopy@main"}, {"files": {}}, {"address": None}])
def test_a_record_that_pins_nothing_is_refused(damage, hub, shelf):
    path = shelf / "tiny_recopy" / "pin.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **damage}))
    with pytest.raises(KzooError):
        kzoo.from_preset("tiny_recopy")
    assert not hub.requests


def test_the_command_downloads(hub, shelf, kzoo_command):
    code, out, err = kzoo_command("download", "tiny_recopy", "--json")
    folder = json.loads(out)["folder"]
    assert code == 0 and json.loads(out)["preset"] == "tiny_recopy"
    assert kzoo_command("download", "tiny_recopy")[1] == folder + "\n"
    assert len(hub.asked("^GET .*/resolve/")) == 6
    assert kzoo_command("download", "tiny_recopy", "--force")[0] == 0 and len(hub.asked("^GET .*/resolve/")) == 12
    code, out, err = kzoo_command("list")
    assert code == 0 and "tiny_recopy" in out and "see kzoo info tiny_recopy" in out
    assert json.loads(kzoo_command("list", "--json")[1])[0]["preset"] == "tiny_recopy"
    assert kzoo_command("evaluate", "tiny_recopy", "--write")[0] == 2


def test_a_progress_bar_is_shown_on_a_terminal(hub, put, whole_preset, root):
    """A pseudo-terminal takes the place of stderr; nothing but the folder goes to stdout."""
    put(whole_preset)
    terminal, other_end = pty.openpty()
    termios.tcsetwinsize(other_end, (24, 80))
    command = [sys.executable, "-m", "kzoo", "download", FRIEND]
    environment = {**os.environ, **hub.environment}
    done = subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=other_end, text=True)
    out, _ = done.communicate(timeout=120)
    shown = os.read(terminal, 100_000).decode()
    os.close(terminal), os.close(other_end)
    assert done.returncode == 0 and len(out.splitlines()) == 1
    assert "100%" in shown and "6/6" in shown


def test_the_commands_take_addresses(hub, put, whole_preset, kzoo_command, tmp_path):
    put(whole_preset)
    assert "RecurrentSeq2Seq" in kzoo_command("info", FRIEND)[1]
    expected = kzoo.from_preset(whole_preset).generate("4 7", max_length=3)
    assert kzoo_command("generate", FRIEND, "4 7", "--max-length", 3)[1] == expected + "\n"
    code, out, err = kzoo_command("evaluate", FRIEND, "--lengths", 2, "--examples", 3, "--json")
    assert code == 0 and json.loads(out)["preset"] == "tiny_recopy"
    assert kzoo_command("card", FRIEND)[1] == render_card(whole_preset) + "\n"
    assert load_recipe(FRIEND) == load_recipe(whole_preset)
    code, out, err = kzoo_command("evaluate", FRIEND, "--write")
    assert (code, out) == (2, "") and "is on the Hub and cannot be changed here" in err
    code, out, err = kzoo_command("info", "hf://friend/nothing")
    assert (code, out) == (2, "") and len(err.splitlines()) == 1
    hub.stop()
    code, out, err = kzoo_command("download", "hf://friend/other")
    assert (code, out) == (1, "") and len(err.splitlines()) == 1 and "cannot be reached" in err


@pytest.mark.parametrize("key", ["init_from", "calibration"])
@pytest.mark.parametrize("start", ["/etc", "../mine", "mine", "~/mine"])
def test_a_recipe_from_the_hub_reads_no_folder_of_this_machine(key, start, hub, put, own):
    recipe = load_recipe(own).to_config()
    recipe[key] = start if key == "init_from" else {"preset": start}
    if key == "calibration":
        recipe["model"] = {"class": "TransformerSeq2Seq", "config": {}}
    (own / "recipe.json").write_text(json.dumps(recipe))
    write_metadata(own)
    put(own)
    with pytest.raises(InputError, match=f"{key} of a recipe on the Hub must name a preset of kzoo or of the Hub"):
        load_recipe(FRIEND)


def test_downloading_needs_no_backend(hub, put, whole_preset, hub_python):
    put(whole_preset)
    code = "from kzoo.cli.main import main; sys.exit(main(['download', sys.argv[1]]))"
    done = hub_python(code, FRIEND, without=["keras", "jax", "torch", "tensorflow"])
    assert done.returncode == 0 and "snapshots" in done.stdout, done.stderr


def test_a_cache_gone_bad_is_refused_and_healed(hub, put, whole_preset):
    commit = put(whole_preset)
    address = Address.parse(f"{FRIEND}@{commit}")
    blob = (fetch(address) / "model.safetensors").resolve()
    blob.write_bytes(blob.read_bytes()[:-1] + b"x")
    refused(PresetError, lambda: kzoo.from_preset(str(address)), "is not the file of metadata.json")
    fetch(address, force=True)
    assert serialize(kzoo.from_preset(str(address))) == (whole_preset / "model.safetensors").read_bytes()
    hub.stop()
    refused(UnreachableError, lambda: fetch(address, force=True), "cannot be reached")


def test_a_copy_of_the_cache_is_a_preset_folder(hub, put, whole_preset, tmp_path):
    put(whole_preset)
    folder = shutil.copytree(fetch(Address.parse(FRIEND)), tmp_path / "copy")
    assert serialize(kzoo.from_preset(folder)) == (whole_preset / "model.safetensors").read_bytes()
