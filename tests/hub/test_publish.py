"""Publishing: checked first, one commit, then the tag; a failure at any point leaves the repository whole."""

import json
import logging
import os
import subprocess
import sys
import traceback

import pytest
from huggingface_hub import HfApi, ModelCard

import kzoo
from kzoo.cards.card import render_card
from kzoo.errors import AccessError, HubError, InputError, KzooError, NotOnHubError, PresetError, UnreachableError
from kzoo.hub.address import Address
from kzoo.saving.documents import PARTS
from kzoo.saving.files import read_json, sha256, write_json
from kzoo.saving.save import write_metadata
from kzoo.saving.weights import serialize

pytestmark = pytest.mark.once
MINE = "hf://me/tiny_recopy"
FILES = {*PARTS, "recipe.json", "results.json", "README.md", "tiny_recopy.svg"}
both_ways = pytest.mark.parametrize("hub", ["plain", "xet"], indirect=True)


def refused(error, call, *words):
    """Checks that a call fails with this very error, in one sentence that has these words in it."""
    with pytest.raises(KzooError) as caught:
        call()
    message = str(caught.value)
    assert type(caught.value) is error, message
    assert "\n" not in message and all(word in message for word in words), message
    assert "hf_writer" not in "".join(traceback.format_exception(caught.value))


@both_ways
def test_a_preset_goes_there_and_back(hub, own, make_model, complete, monkeypatch):
    done = kzoo.upload_preset(MINE, own, tag="v1")
    repository = hub.repositories["me/tiny_recopy"]
    commit = repository.branches["main"]
    assert done.address == f"{MINE}@{commit}" and repository.tags == {"v1": commit} and not repository.private
    assert set(done.changed) == set(done.files) == FILES == set(repository.commits[commit]) - {".gitattributes"}
    assert len(repository.messages) == 2  # the Hub's own, and one commit of all files
    for name, entry in done.files.items():
        file = repository.commits[commit][name]
        assert (entry["bytes"], entry["sha256"]) == (file.size, file.sha256)
        assert name in ("README.md", "tiny_recopy.svg") or entry["sha256"] == sha256(own / name)
    assert repository.commits[commit]["README.md"].content.decode() == render_card(own, Address.parse(MINE))

    weights = (own / "model.safetensors").read_bytes()
    make_model(seed=1).save_to_preset(own)
    complete(own)
    later = kzoo.upload_preset(MINE, own, tag="v2")
    assert {"model.safetensors", "metadata.json", "results.json", "README.md"} <= set(later.changed) < FILES
    for revision in ("v1", commit):
        assert serialize(kzoo.from_preset(f"{MINE}@{revision}")) == weights
    for revision in ("", "@v2"):
        assert serialize(kzoo.from_preset(MINE + revision)) == (own / "model.safetensors").read_bytes()
    hub.stop()
    assert serialize(kzoo.from_preset(f"{MINE}@v1")) == weights
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert serialize(kzoo.from_preset(f"{MINE}@{commit}")) == weights


@both_ways
def test_the_way_it_is_sent(hub, ready):
    kzoo.upload_preset(MINE, ready)
    assert len(hub.asked("POST .*/commit/")) == 1
    assert bool(hub.asked("xet-write-token")) == bool(hub.xet_folder)
    assert bool(hub.asked("PUT /objects/")) == (not hub.xet_folder)


@both_ways
def test_publishing_the_same_again_changes_nothing(hub, ready):
    first = kzoo.upload_preset(MINE, ready)
    again = kzoo.upload_preset(MINE, ready)
    assert again.address == first.address and again.changed == [] and again.files == first.files
    tagged = kzoo.upload_preset(MINE, ready, tag="v1")
    assert tagged.address == first.address and kzoo.upload_preset(MINE, ready, tag="v1") == tagged
    assert len(hub.repositories["me/tiny_recopy"].messages) == 2


def test_the_card_is_one_that_the_hub_understands(hub, own):
    kzoo.upload_preset(MINE, own)
    head = hub.repositories["me/tiny_recopy"].branches["main"]
    content = hub.repositories["me/tiny_recopy"].commits[head]["README.md"].content.decode()
    card = ModelCard(content).data
    assert (card.library_name, card.license, card.model_name) == ("kzoo", "apache-2.0", "tiny_recopy")
    assert [(r.dataset_args["length"], r.metric_value) for r in card.eval_results] == [(15, 1.0), (100, 0.95)]
    assert f'kzoo.from_preset("{MINE}")' in content and "![accuracy by length](tiny_recopy.svg)" in content


def test_a_dry_run_asks_nobody_and_needs_no_token(hub, own, kzoo_command, monkeypatch):
    monkeypatch.delenv("HF_TOKEN")
    plan = kzoo.upload_preset(MINE, own, tag="v1", dry_run=True)
    assert (plan.address, plan.tag, set(plan.files)) == (MINE, "v1", FILES)
    code, out, err = kzoo_command("publish", own, MINE, "--tag", "v1", "--dry-run")
    assert code == 0 and f"{MINE}, tag v1" in out and all(name in out for name in FILES)
    assert f"{(own / 'model.safetensors').stat().st_size:,}" in out
    assert hub.requests == []


def test_the_command_publishes_and_its_json_is_a_record(hub, own, kzoo_command, tmp_path, monkeypatch):
    code, out, err = kzoo_command("publish", own, MINE, "--tag", "v1", "--json")
    assert code == 0
    (tmp_path / "shelf" / "tiny_recopy").mkdir(parents=True)
    (tmp_path / "shelf" / "tiny_recopy" / "pin.json").write_text(out)
    monkeypatch.setattr("kzoo.saving.catalogue.bundled_folder", lambda: tmp_path / "shelf")
    assert serialize(kzoo.from_preset("tiny_recopy")) == (own / "model.safetensors").read_bytes()
    code, out, err = kzoo_command("publish", own, MINE, "--tag", "v1")
    assert code == 0 and out.startswith("nothing was sent, all of it is there")


def test_a_private_repository_stays_private(hub, ready, monkeypatch):
    kzoo.upload_preset(MINE, ready, private=True)
    assert hub.repositories["me/tiny_recopy"].private
    kzoo.upload_preset(MINE, ready)
    assert hub.repositories["me/tiny_recopy"].private
    monkeypatch.delenv("HF_TOKEN")
    refused(NotOnHubError, lambda: kzoo.from_preset(MINE), "private")


def test_nothing_private_is_sent_to_a_public_repository(hub, ready):
    hub.repository("me/tiny_recopy")
    refused(HubError, lambda: kzoo.upload_preset(MINE, ready, private=True), "public; nothing was sent")
    assert not hub.asked("preupload|commit")


@pytest.mark.parametrize("token", [None, "hf_reader", "hf_nobody"])
@pytest.mark.parametrize("there", [True, False])
def test_no_permission_is_one_sentence(there, token, hub, ready, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", token) if token else monkeypatch.delenv("HF_TOKEN")
    if there:
        hub.repository("me/tiny_recopy")
    refused(AccessError, lambda: kzoo.upload_preset(MINE, ready), "token")
    assert [len(repository.messages) for repository in hub.repositories.values()] == [1] * there


@both_ways
def test_a_race_is_lost_without_a_trace(hub, ready):
    repository = hub.repository("me/tiny_recopy")
    hub.fault("POST .*/commit/", call=lambda: repository.commit({"README.md": b"mine"}, "the other's"))
    refused(HubError, lambda: kzoo.upload_preset(MINE, ready, tag="v1"), "changed by someone else meanwhile")
    assert repository.messages[1:] == ["the other's"] and not repository.tags
    assert set(repository.commits[repository.branches["main"]]) == {".gitattributes", "README.md"}
    kzoo.upload_preset(MINE, ready, tag="v1")
    assert set(repository.commits[repository.tags["v1"]]) > FILES


def test_a_race_for_the_tag_is_told(hub, ready):
    repository = hub.repository("me/tiny_recopy")
    first = repository.branches["main"]
    hub.fault("POST .*/tag/", call=lambda: repository.tags.update(v1=first))
    refused(HubError, lambda: kzoo.upload_preset(MINE, ready, tag="v1"), "someone else has taken the tag 'v1'")
    assert repository.tags == {"v1": first}


@pytest.mark.parametrize("case", ["older commit", "other content"])
def test_a_tag_is_never_moved(case, hub, ready):
    repository = hub.repository("me/tiny_recopy")
    repository.tags["v1"] = repository.branches["main"]
    if case == "older commit":
        kzoo.upload_preset(MINE, ready)
    before = dict(repository.branches), dict(repository.tags)
    refused(HubError, lambda: kzoo.upload_preset(MINE, ready, tag="v1"), "a tag 'v1' already", "nothing was sent")
    assert (repository.branches, repository.tags) == before


STEPS = ["repos/create", "GET /api/models/me/tiny_recopy$", "refs", "validate-yaml", "preupload"]
STEPS += ["POST .*/commit/", "/tag/", "objects/batch", "PUT /objects/", "/verify"]


@pytest.mark.parametrize("pattern", STEPS)
def test_a_busy_hub_is_asked_again(pattern, hub, ready, waits):
    hub.fault(pattern, status=503, times=2)
    done = kzoo.upload_preset(MINE, ready, tag="v1")
    assert serialize(kzoo.from_preset(done.address)) == (ready / "model.safetensors").read_bytes()
    assert len(hub.repositories["me/tiny_recopy"].messages) == 2 and waits


@pytest.mark.parametrize("pattern", STEPS)
def test_a_hub_that_fails_leaves_all_or_nothing(pattern, hub, ready, waits):
    hub.fault(pattern, status=500, times=10**6)
    refused(
        UnreachableError, lambda: kzoo.upload_preset(MINE, ready, tag="v1"), "the Hub has trouble", "HTTP status 500"
    )
    whole = [set(files) >= FILES for repository in hub.repositories.values() for files in repository.commits.values()]
    assert whole in ([], [False], [False, True])  # nothing, the Hub's own first commit, and ours with all files
    hub.faults.clear()
    done = kzoo.upload_preset(MINE, ready, tag="v1")
    repository = hub.repositories["me/tiny_recopy"]
    assert len(repository.messages) == 2 and repository.tags == {"v1": done.address.partition("@")[2]}


@pytest.mark.parametrize("pattern", ["repos/create", "POST .*/commit/", "/tag/"])
def test_an_answer_that_is_lost_does_no_harm(pattern, hub, ready, waits):
    hub.fault(pattern, cut=0)  # what was asked is done, but the client never hears of it
    kzoo.upload_preset(MINE, ready, tag="v1")
    repository = hub.repositories["me/tiny_recopy"]
    assert len(repository.messages) == 2 and repository.tags == {"v1": repository.branches["main"]}


KILLED = """
import os, sys
import kzoo.hub.publish
from huggingface_hub import HfApi

def die(*arguments, **options):
    if sys.argv[3] == "after":
        plain(*arguments, **options)
    os.kill(os.getpid(), 9)

plain = getattr(HfApi, sys.argv[2])
setattr(HfApi, sys.argv[2], die)
kzoo.hub.publish.upload_preset("hf://me/tiny_recopy", sys.argv[1], tag="v1")
"""


@pytest.mark.parametrize("step", ["create_repo", "create_commit", "create_tag"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.slow
def test_a_kill_at_any_point_leaves_all_or_nothing(when, step, hub, own, hub_python):
    # Without a backend: the process starts sooner, and the preset was loaded by the other tests.
    done = hub_python(KILLED, own, step, when, without=["keras", "jax", "torch", "tensorflow"])
    assert done.returncode == -9, done.stderr
    for repository in hub.repositories.values():
        assert len(repository.messages) <= 2
        assert all(
            set(files) in ({".gitattributes"}, FILES | {".gitattributes"}) for files in repository.commits.values()
        )
    kzoo.upload_preset(MINE, own, tag="v1")
    repository = hub.repositories["me/tiny_recopy"]
    assert len(repository.messages) == 2 and repository.tags == {"v1": repository.branches["main"]}


@pytest.mark.slow
def test_a_killed_upload_of_weights_leaves_nothing(hub, own, root):
    code = "import sys; sys.modules.update(dict.fromkeys(['keras', 'jax', 'torch', 'tensorflow']))\n"
    code += "import kzoo; kzoo.upload_preset('hf://me/tiny_recopy', sys.argv[1])"
    hub.fault("PUT /objects/", call=lambda: process.kill())
    process = subprocess.Popen([sys.executable, "-c", code, str(own)], env={**os.environ, **hub.environment}, cwd=root)
    assert process.wait(120) == -9
    assert hub.repositories["me/tiny_recopy"].messages == ["initial commit"]
    kzoo.upload_preset(MINE, own)
    assert len(hub.repositories["me/tiny_recopy"].messages) == 2


def test_the_token_is_shown_to_nobody_but_the_hub(hub, own, kzoo_command, caplog, waits, monkeypatch):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr("huggingface_hub.constants.HF_DEBUG", True)
    hub.fault("POST .*/commit/", status=500)
    shown = "".join(map(str, kzoo_command("publish", own, MINE, "--tag", "v1", "--json")))
    hub.fault("POST", status=403, times=10**6)
    code, out, err = kzoo_command("publish", own, MINE, "--tag", "v2")
    assert code == 2 and "is published, but not tagged" in err and err.splitlines()[-1].endswith("wrong or not enough")
    head = hub.repositories["me/tiny_recopy"].commits[hub.repositories["me/tiny_recopy"].branches["main"]]
    sent = b"".join(file.content for file in head.values()).decode(errors="replace")
    assert "hf_writer" not in shown + out + err + caplog.text + sent and caplog.text
    assert not [path for path in own.parent.rglob("*") if path.is_file() and b"hf_writer" in path.read_bytes()]


def edit(name, change, fitting=True):
    """Returns a damage that edits a JSON file, and makes metadata.json fit."""

    def damage(folder):
        value = read_json(folder / name)
        change(value)
        write_json(folder / name, value)
        if fitting:
            write_metadata(folder)

    return damage


def other_weights(folder):
    content = bytearray((folder / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (folder / "model.safetensors").write_bytes(content)
    write_metadata(folder)


def other_header(folder, header):
    header %= (b"9" * 4_000, b"9" * 4_000)
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"0000")
    results = read_json(folder / "results.json")
    for row in results["rows"]:
        row["weights_sha256"] = sha256(folder / "model.safetensors")
    write_json(folder / "results.json", results)
    write_metadata(folder)


def unlist(folder):
    value = read_json(folder / "metadata.json")
    del value["files"]["recipe.json"]
    write_json(folder / "metadata.json", value)


UNFIT = {
    "no results": (lambda folder: (folder / "results.json").unlink(), "results.json is missing"),
    "no recipe": (lambda folder: (folder / "recipe.json").unlink(), "recipe.json is missing"),
    "results of other weights": (other_weights, "belong to other weights: evaluate the preset again"),
    "results of another task": (
        edit("results.json", lambda value: [row.update(task="copy") for row in value["rows"]]),
        "are of another task than recopy",
    ),
    "a file was changed": (
        edit("recipe.json", lambda value: value.update(epochs=2), False),
        "recipe.json is not the file of metadata.json",
    ),
    "an unlisted file": (unlist, "does not list recipe.json"),
    "a recipe that is none": (edit("recipe.json", lambda value: value.update(epochs=0)), "epochs must be an integer"),
    "a recipe that begins with a folder": (
        edit("recipe.json", lambda value: value.update(start="../mine")),
        "init_from of a recipe on the Hub must name a preset of kzoo or of the Hub, not '../mine'",
    ),
    "a stale card": (lambda folder: (folder / "README.md").write_text("# old"), "is not the card of these files"),
    "a file too large": (lambda folder: (folder / "README.md").write_text("x" * 1_000_001), "is larger than 1,000,000"),
    "wrong parameters": (
        edit("metadata.json", lambda value: value.update(parameters=5), False),
        "speaks of 5 parameters, and the weights are",
    ),
    "a config that does not load": (
        edit("config.json", lambda value: value["config"].update(dropout=7)),
        "dropout must be a number from 0 to 0.99",
    ),
    "weights that do not fit": (
        edit("config.json", lambda value: value["config"].update(embedding_units=5)),
        "but the model needs",
    ),
    "weights of a shape of 8,000 digits": (
        lambda folder: other_header(folder, b'{"a": {"dtype": "F32", "shape": [%s, %s], "data_offsets": [0, 4]}}'),
        "its header is no safetensors header",
    ),
    "accuracies that are none": (
        edit("results.json", lambda value: value["rows"][0].update(value="high")),
        "results.json must have",
    ),
}


@pytest.mark.parametrize("case", UNFIT)
def test_what_is_not_fit_is_not_published(case, hub, own):
    damage, words = UNFIT[case]
    damage(own)
    with pytest.raises(KzooError, match=words) as error:
        kzoo.upload_preset(MINE, own)
    assert "\n" not in str(error.value) and hub.requests == []


@pytest.mark.parametrize(
    "uri, options, words",
    [
        ("me/tiny_recopy", {}, "an address on the Hub is hf://owner/name"),
        (MINE + "@main", {}, "tagged with `tag`"),
        (MINE, {"tag": "v 1"}, "an address on the Hub is"),
        (MINE, {"tag": "main"}, "may not look like"),
        (MINE, {"tag": "0" * 40}, "may not look like"),
    ],
)
def test_a_wrong_address_or_tag_is_one_sentence(uri, options, words, hub, own):
    refused(InputError, lambda: kzoo.upload_preset(uri, own, **options), words)
    refused(PresetError, lambda: kzoo.upload_preset(MINE, "hf://a/b"), "is on the Hub already")
    assert hub.requests == []


def test_a_fresh_card_in_the_folder_is_welcome(hub, own):
    (own / "README.md").write_text(render_card(own, Address.parse(MINE)))
    assert set(kzoo.upload_preset(MINE, own).files) == FILES


def test_publishing_needs_no_backend(hub, own, hub_python):
    code = "from kzoo.cli.main import main; sys.exit(main(['publish', sys.argv[1], 'hf://me/tiny_recopy', '--json']))"
    done = hub_python(code, own, without=["keras", "jax", "torch", "tensorflow"])
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)["files"]) == FILES
    assert "no Keras backend is installed, so whether the preset loads was not tried" in done.stderr


def test_docstring_example(hub, run_examples):
    run_examples(kzoo.upload_preset)
    assert hub.requests == []


def test_what_huggingface_hub_itself_sees(hub, ready):
    done = kzoo.upload_preset(MINE, ready, tag="v1")
    api = HfApi(endpoint=hub.url)
    assert set(api.list_repo_files("me/tiny_recopy")) == FILES | {".gitattributes"}
    info = api.model_info("me/tiny_recopy", revision="v1")
    assert f"{MINE}@{info.sha}" == done.address
