"""Files: whole or not at all; JSON within bounds."""

import ast
import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from kzoo.errors import OutputError, PresetError
from kzoo.saving import files


def test_a_file_is_replaced_as_a_whole(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    files.write_bytes(path, b"old")
    files.write_bytes(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o644

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="full"):
        files.write_bytes(path, b"half")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_what_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("kept")
    for write in (lambda path: files.write_bytes(path, b"new"), lambda path: files.replace_folder(path).__enter__()):
        with pytest.raises(OutputError, match=r"^\S*/file/new cannot be written \(\S*/file is no folder\)$"):
            write(tmp_path / "file" / "new")
        with pytest.raises(OutputError, match=r"cannot be written \(Not a directory\)"):
            write(tmp_path / "file" / "more" / "new")
    assert (tmp_path / "file").read_text() == "kept" and os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes are those of POSIX")
def test_a_pipe_is_written_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor() as pool:
        read = pool.submit((tmp_path / "pipe").read_bytes)
        files.write_bytes(tmp_path / "pipe", b"all of it")
        assert read.result() == b"all of it" and not (tmp_path / "pipe").is_file()


def test_json_comes_back_and_can_be_read_by_people(tmp_path):
    value = {
        "format": 1,
        "rows": [{"length": 15, "value": 1.0}, {"length": 30, "value": None}],
        "note": "é",
        "list": [1],
    }
    files.write_json(tmp_path / "a.json", value)
    assert files.read_json(tmp_path / "a.json") == value
    text = (tmp_path / "a.json").read_text(encoding="utf-8")
    assert text.endswith("}\n") and "é" in text
    assert '    {"length": 15, "value": 1.0},\n' in files.dump_json({"rows": [value["rows"][0]] * 5}) + "\n"
    assert json.loads(files.dump_json({})) == {}


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "is not valid JSON"),
        (b'{"a": 1', "is not valid JSON"),
        (b"\xff\xfe", "is not valid JSON"),
        (b'{"a": 1, "a": 2}', "a key is named twice"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{"a": -Infinity}', "-Infinity is not a JSON number"),
        (b"[1, 2]", "must hold one JSON object"),
        (b"[" * 200_000, "is not valid JSON"),
        (b'{"a": ' + b"1" * 10_000 + b"}", "is not valid JSON"),
        (b'{"a": "' + b"x" * files.MAX_JSON + b'"}', "is larger than 1,000,000 bytes"),
    ],
    ids=["empty", "cut", "bytes", "twice", "nan", "infinity", "list", "deep", "digits", "large"],
)
def test_bad_json_is_one_sentence(content, message, tmp_path):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(PresetError, match=message) as error:
        files.read_json(tmp_path / "a.json")
    assert "\n" not in str(error.value) and "a.json" in str(error.value)


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(PresetError, match=r"a\.json is missing"):
        files.read_json(tmp_path / "a.json")


def test_text_is_read_and_written_as_utf_8(root):
    for folder in ("kzoo", "layers", "tasks"):
        for path in (path for path in (root / folder).rglob("*.py") if not path.is_symlink()):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and _opens_text(node):
                    given = {keyword.arg for keyword in node.keywords}
                    first = node.args[:1] if node.func.attr == "read_text" else node.args[1:2]
                    stated = "encoding" in given or any(getattr(word, "value", None) == "utf-8" for word in first)
                    assert stated, f"{path}:{node.lineno} states no encoding"


def _opens_text(call):
    name = getattr(call.func, "attr", None) or getattr(call.func, "id", None)
    if name in ("read_text", "write_text"):
        return True
    words = [getattr(word, "value", "") for word in [*call.args, *(keyword.value for keyword in call.keywords)]]
    module = getattr(getattr(call.func, "value", None), "id", None)
    return name in ("open", "fdopen") and module != "os" and not any(isinstance(w, str) and "b" in w for w in words)


def test_sha256_is_the_known_one(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert files.sha256(tmp_path / "a") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
