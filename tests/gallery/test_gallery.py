"""The gallery's folder is complete, and what it says is what the presets' files say."""

import json
import re
import shutil
import socket
import struct
import threading
import urllib.request

import pytest

import kzoo
from kzoo.cards.explain import in_words
from kzoo.cli.gallery import server
from kzoo.cli.main import main
from kzoo.errors import InputError
from kzoo.gallery import write_gallery

pytestmark = pytest.mark.once
MOST_BYTES = 5_000_000
# A preset of each kind of attention, bias, weighting and block that the page has.
FAMILIES = ["waypoint_lookup", "bi_relative_lookup", "content_copy", "onestep_reverse_copy", "theorem_sorter"]
FAMILIES += ["hinted_sorter", "plain_sorter", "abc_addition", "vanilla_addition", "long_ndr_arithmetic"]
FAMILIES += ["pushdown_arithmetic", "pushdown_modular_arithmetic", "pushdown_solve_equation"]
FAMILIES += ["neural_gpu_tagger_binary_multiplication"]
FAMILIES += ["noisy_ndr_arithmetic", "transformer_ctl_forward", "tape_odds_first", "tape_duplicate_string"]


@pytest.fixture(scope="module")
def page(root):
    return {path.relative_to(root / "kzoo/gallery/page").as_posix(): path for path in files(root / "kzoo/gallery/page")}


def files(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_the_folder_has_every_file_and_no_other(folder, page):
    written = {path.relative_to(folder).as_posix() for path in files(folder)}
    listed = json.loads((folder / "gallery.json").read_text())["files"]
    assert written == set(listed) and len(listed) == len(set(listed))
    assert {"index.html", "app.js", "service-worker.js", "style.css"} <= set(page) <= written
    for name, path in page.items():
        assert (folder / name).read_bytes() == path.read_bytes()


def test_presets_are_those_of_the_zoo(folder, data):
    assert json.loads((folder / "gallery.json").read_text()) == data
    shown = {name for p in data["pages"] for name in p.get("presets", {})}
    shown |= {name for p in data["pages"] for duel in p.get("duels", []) for name in duel["presets"]}
    assert shown == set(data["presets"])
    for name, about in data["presets"].items():
        preset = kzoo.Preset.find(name)
        weights = folder / "weights" / f"{name}.safetensors"
        assert weights.read_bytes() == (preset.folder / "model.safetensors").read_bytes()
        assert len(weights.read_bytes()) == about["bytes"] <= MOST_BYTES
        assert (about["config"], about["sha256"]) == (preset.config, preset.weights_sha256)
        assert about["supervision"] == preset.supervision and about["task"]["name"] == preset.task
        measured = {r["length"]: r["value"] for r in preset.rows if r["metric"] == "sequence_accuracy" and r["length"]}
        assert {row["length"]: row["value"] for row in about["rows"]} == measured and len(measured) > 4
        task = kzoo.tasks.get(preset.task)
        for example in about["examples"]:
            split = list(example["source"]) if task.characters else example["source"].split()
            assert ("" if task.characters else " ").join(task.solve(tuple(split))) == example["target"]


def test_mechanisms_are_told_in_words(data):
    found = {about["mechanism"]["name"]: about["mechanism"]["about"] for about in data["presets"].values()}
    assert len(found) >= 10 and found["onestep"] == in_words("onestep") and "pointer" in found["onestep"]


def test_the_title_leads_to_the_site_that_it_is_part_of(folder, tmp_path):
    part = (write_gallery(tmp_path / "part", home="../?a&b") / "index.html").read_text()
    link = '<a href="../?a&amp;b">kzoo</a>'
    assert part.count(link) == 1 and part.replace(link, "kzoo") == (folder / "index.html").read_text()


def test_duels_are_of_one_task_and_unlike_models(data):
    (page,) = (p for p in data["pages"] if "duels" in p)
    for duel in page["duels"]:
        first, second = (data["presets"][name] for name in duel["presets"])
        assert first["task"] == second["task"] and first["sha256"] != second["sha256"]
        longest = max(row["length"] for row in first["rows"])
        assert duel["lengths"][0] < second["trained"][1] < duel["lengths"][1] <= longest


def test_nothing_is_loaded_from_elsewhere(page):
    for name, path in page.items():
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//[a-z0-9-]+\.[a-z]{2,}/|\beval\(", text), name
        assert not re.search(r"""(src|href)=["']/""", text), name  # addresses are relative: it runs in any folder


def test_the_page_asks_for_all_its_modules_at_once(page):
    # Otherwise each is found only when the one that imports it is there: a dozen ways to the server and back.
    asked = re.findall(r'rel="modulepreload" href="(.*)"', page["index.html"].read_text(encoding="utf-8"))
    modules = {name for name in page if name.endswith(".js")}
    assert sorted(asked) == sorted(modules - {"app.js", "service-worker.js"})


def test_modules_are_short_and_import_what_is_there(page):
    for name, path in page.items():
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) < 250, name
        for address in re.findall(r'^import .* from "(.*)";$', text, re.MULTILINE) if name.endswith(".js") else []:
            assert (path.parent / address).is_file(), (name, address)


def test_a_folder_with_something_in_it_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine").write_text("")
    with pytest.raises(InputError, match="exists and is not empty; nothing was written"):
        write_gallery(tmp_path)
    assert main(["gallery", "--output", tmp_path]) == 2
    assert "is not empty" in capsys.readouterr().err and [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_it_is_served_on_this_machine(folder, capfd):
    with server(folder, 0) as serving:
        assert serving.server_address[0] == "127.0.0.1"
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        types = {"": "text/html", "app.js": "text/javascript", "gallery.json": "application/json"}
        for name, kind in types.items():
            with urllib.request.urlopen(f"http://127.0.0.1:{serving.server_port}/{name}") as answer:  # noqa: S310
                assert answer.headers.get_content_type() == kind
        with socket.create_connection(serving.server_address) as client:  # a browser that goes away
            client.sendall(b"GET /weights/onestep_copy.safetensors HTTP/1.0\r\n\r\n")
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with pytest.raises(InputError, match="--port 0 takes a free one"):
            server(folder, serving.server_port)
        serving.shutdown()
    assert capfd.readouterr().err == ""
    with pytest.raises(InputError, match="port 70000 cannot be served"):
        server(folder, 70_000)


if shutil.which("node"):  # `python -m tests --web`, which needs it, compares every preset on 200 inputs

    def test_the_models_of_the_page_answer_as_python_does(under_node, golden_of):
        found = under_node({name: golden_of(name, 4) for name in FAMILIES})
        assert list(found) == FAMILIES
        for name, one in found.items():
            assert (one["cases"], one["wrong"], one["unsolved"]) == (4, [], []), name
            assert one["difference"] < 1e-4, name
