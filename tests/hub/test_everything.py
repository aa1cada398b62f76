"""Publishing all at once: presets, data sets, a Space and a collection; a run that was cut short goes on."""

import json
import re

import pytest
from huggingface_hub import RepoCard

import kzoo
from kzoo.errors import AccessError, InputError, KzooError
from kzoo.hub import datasets
from kzoo.hub.address import Address
from kzoo.hub.datasets import data_files, json_lines
from kzoo.hub.everything import publish_all
from kzoo.saving import catalogue
from kzoo.tasks import Example, Split, Task

pytestmark = pytest.mark.once


class Doubled(Task):
    """Every digit twice."""

    name, vocabulary, test_lengths, length_unit = "doubled", tuple("0123456789"), (4,), "digits"
    paper, version = "Nobody, 2026 (arXiv:2601.00001), Table 1", 3
    splits = {"train": Split((1, 2), 5), "validation": Split((2, 3), 3), "test": Split((1, 2), 4)}

    def sample(self, rng, length):
        digits = tuple(map(str, rng.integers(0, 10, length)))
        return Example(digits, tuple(digit for digit in digits for _ in "12"))


@pytest.fixture
def small(monkeypatch, rendered):
    """A zoo of two presets and one task, whose files were checked before."""
    monkeypatch.setattr(catalogue, "list_presets", lambda *_: ["one", "two"])
    monkeypatch.setattr("kzoo.hub.publish.contents", lambda preset, address: dict(rendered))
    monkeypatch.setattr("kzoo.tasks.names", lambda: ["doubled"])
    monkeypatch.setattr("kzoo.tasks.get", lambda name: Doubled())


@pytest.fixture
def page(tmp_path):
    """A page as a builder leaves it."""
    (tmp_path / "page" / "part").mkdir(parents=True)
    (tmp_path / "page" / "index.html").write_text("<title>kzoo</title>")
    (tmp_path / "page" / "part" / "a.js").write_text("1")
    return tmp_path / "page"


def test_all_of_it_goes_to_the_hub(hub, small, page):
    done = list(publish_all("me", tag="v1", page=page))
    kinds = {"one": "model", "two": "model", "kzoo_doubled": "dataset", "kzoo": "space"}
    assert hub.kinds == {f"me/{name}": kind for name, kind in kinds.items()}
    assert [item.split("/")[-1].split("@")[0] for item in (p.address for p in done[:-1])] == list(kinds)
    assert all(hub.repositories[name].tags["v1"] == hub.repositories[name].branches["main"] for name in hub.kinds)
    assert hub.collections == {"me/kzoo-1": [(kind, f"me/{name}") for name, kind in kinds.items()]}
    repository = hub.repositories["me/kzoo"]
    files = repository.commits[repository.branches["main"]]
    assert {"index.html", "part/a.js", "README.md"} <= set(files)
    assert b"sdk: static" in files["README.md"].content and b"- me/one" in files["README.md"].content


def test_a_run_that_was_cut_short_goes_on(hub, small, waits):
    hub.fault("POST /api/datasets/.*/commit/", status=400)
    run = publish_all("me")
    with pytest.raises(KzooError, match="kzoo_doubled"):
        list(run)
    assert hub.collections == {}
    sent = [repository.messages[1:] for repository in hub.repositories.values()]
    again = list(publish_all("me"))
    assert [p.changed == [] for p in again[:-1]] == [True, True, False] and len(sent) == 3
    assert len(hub.collections["me/kzoo-1"]) == 3
    assert [p.changed for p in publish_all("me")] == [[], [], [], []] and len(hub.collections["me/kzoo-1"]) == 3


def test_a_dry_run_asks_nothing(hub, small, page, kzoo_command, monkeypatch):
    monkeypatch.delenv("HF_TOKEN")
    code, out, _ = kzoo_command("publish", "--all", "hf://me", "--dry-run", "--page", page)
    assert code == 0 and hub.requests == []
    assert [line.split()[0] for line in out.splitlines()] == [
        "hf://me/one", "hf://me/two", "hf://datasets/me/kzoo_doubled", "hf://spaces/me/kzoo", "collection",
    ]  # fmt: skip
    code, out, _ = kzoo_command("publish", "--all", "hf://me", "--dry-run", "--json")
    assert [json.loads(line)["address"] for line in out.splitlines()][2:] == [
        "hf://datasets/me/kzoo_doubled", "collection me/kzoo: length generalisation, 3 items",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.all_presets
@pytest.mark.timeout(1800)
def test_all_of_kzoo_goes_to_the_hub(hub, page, kzoo_command, monkeypatch):
    """Every preset is checked and built; every file of every task's data is written, with few lines in each."""
    monkeypatch.delenv("KZOO_CFQ", raising=False)
    whole = datasets.json_lines
    monkeypatch.setattr(
        datasets,
        "json_lines",
        lambda task, split, size=20, length=None: whole(task, split, min(size, 20), length=length),
    )
    code, out, err = kzoo_command("publish", "--all", "hf://me", "--tag", "v1", "--page", page, "--json")
    assert code == 0, err
    sent = [json.loads(line) for line in out.splitlines()]
    missing = set(re.findall(r"no data set of (\w+):", err))
    data_sets = {f"kzoo_{name}" for name in kzoo.tasks.names() if name not in missing}
    assert missing <= {"cfq"} and len(data_sets) >= 30
    assert {*hub.repositories} == {f"me/{name}" for name in {*kzoo.list_presets(), *data_sets, "kzoo"}}
    assert sent[-1]["address"].endswith(f"{len(hub.repositories)} items") and len(sent) == len(hub.repositories) + 1
    for name, repository in hub.repositories.items():
        commit = repository.branches["main"]
        files = repository.commits[commit]
        assert repository.tags == {"v1": commit} and len(repository.messages) == 2, name
        card = RepoCard(files["README.md"].content.decode())
        assert card.data.license == "apache-2.0", name
        if hub.kinds[name] == "model":
            assert {"model.safetensors", "config.json", "results.json", f"{name[3:]}.svg"} <= set(files), name
            assert files["model.safetensors"].sha256 == kzoo.Preset.find(name[3:]).weights_sha256
        elif hub.kinds[name] == "dataset":
            paths = {entry["path"] for config in card.data.configs for entry in config["data_files"]}
            assert paths == {path for path in files if path.endswith(".jsonl")} and len(paths) >= 3, name
    (collection,) = hub.collections.values()
    assert {item for _, item in collection} == {*hub.repositories}


def test_every_preset_is_in_the_plan(monkeypatch):
    sent = []
    monkeypatch.setattr("kzoo.hub.everything.upload_preset", lambda uri, preset, *_: sent.append((uri, preset)))
    monkeypatch.setattr("kzoo.hub.everything._others", lambda *_: [])
    list(publish_all("me", dry_run=True))
    assert sent == [(f"hf://me/{name}", name) for name in kzoo.list_presets()] and len(sent) >= 50


def test_data_that_are_not_here_are_named(monkeypatch, capsys):
    monkeypatch.setattr(catalogue, "list_presets", lambda *_: [])
    monkeypatch.setattr("kzoo.tasks.names", lambda: ["cfq"])
    monkeypatch.delenv("KZOO_CFQ", raising=False)
    (last,) = publish_all("me", dry_run=True)
    assert last.address.endswith("0 items") and "kzoo: no data set of cfq: " in capsys.readouterr().err


def test_what_is_refused(small, tmp_path, kzoo_command, hub, monkeypatch):
    with pytest.raises(InputError, match="hf://owner/name"):
        list(publish_all("me/too/much", dry_run=True))
    with pytest.raises(InputError, match="has no index.html"):
        list(publish_all("me", dry_run=True, page=tmp_path))
    for wrong in (["hf://me/one"], ["one", "hf://me", "--all"], ["one", "hf://me/one", "--page", tmp_path]):
        code, _, err = kzoo_command("publish", *wrong)
        assert code == 2 and err.startswith("kzoo: kzoo publish takes PRESET hf://owner/name, or --all hf://owner")
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(AccessError, match="token"):
        list(publish_all("me"))


def test_the_data_of_a_task(tmp_path):
    from huggingface_hub import DatasetCard

    files = data_files(Doubled(), Address("me", "kzoo_doubled"))
    assert set(files) == {"README.md", "train.jsonl", "validation.jsonl", "test.jsonl", "test_4.jsonl"}
    lines = [json.loads(line) for line in files["test_4.jsonl"].decode().splitlines()]
    assert len(lines) == 4 and all(len(line["source"].split()) == 4 for line in lines)
    assert all(line["target"].split()[::2] == line["source"].split() for line in lines)
    card = DatasetCard(files["README.md"].decode())
    assert card.data.license == "apache-2.0" and card.data.size_categories == ["n<1K"]
    (config,) = card.data.configs
    assert {entry["path"] for entry in config["data_files"]} == set(files) - {"README.md"}
    assert "| `test_4.jsonl` | 4 | 4 |" in card.text and "| `train.jsonl` | 1 to 2 | 5 |" in card.text
    assert "(version 3)" in card.text and "arXiv:2601.00001" in card.text and "Every digit twice." in card.text


def test_of_a_split_that_is_very_large_the_first_lines_are_sent(monkeypatch):
    task, address = Doubled(), Address("me", "kzoo_doubled")
    whole = data_files(task, address)
    monkeypatch.setattr(datasets, "MOST", 4)
    files = data_files(task, address)
    assert files["train.jsonl"].splitlines() == whole["train.jsonl"].splitlines()[:4]
    assert files["test.jsonl"] == whole["test.jsonl"] and len(whole["train.jsonl"].splitlines()) == 5
    assert b"Of train these are the first" in files["README.md"] and b"these are the first" not in whole["README.md"]
    for name in kzoo.tasks.names():  # which is only right where examples are drawn one after another
        splits = {} if name == "cfq" else kzoo.tasks.get(name).splits
        for split in (split for split, own in splits.items() if own.size > 150_000):
            assert json_lines(kzoo.tasks.get(name), split, 60).startswith(json_lines(kzoo.tasks.get(name), split, 30))


def test_the_lines_are_those_of_the_command(kzoo_command):
    code, out, _ = kzoo_command("data", "addition", "--split", "test", "--examples", "3")
    assert code == 0 and out == json_lines(kzoo.tasks.get("addition"), "test", 3) and len(out.splitlines()) == 3
