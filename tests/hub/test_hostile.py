"""A Hub that answers wrongly on purpose: a sentence, nothing outside the cache, and no token for anybody else."""

import logging
import re
import traceback

import hub_server  # which conftest.py has loaded
import pytest

import kzoo
from kzoo.errors import HubError, KzooError

pytestmark = pytest.mark.once
TOKEN = "hf_writer"
FRIEND = "hf://friend/tiny_recopy"
INFO = "GET /api/models/friend/tiny_recopy$"
PARTS = [{"rfilename": name, "size": 9} for name in ("config.json", "tokenizer.json", "metadata.json")]
PARTS += [{"rfilename": "model.safetensors", "size": 9}]
WHOLE = {"id": "friend/tiny_recopy", "sha": "0" * 40, "siblings": PARTS}
ANSWERS = {
    "no JSON": b"{",
    "nothing": b"",
    "no text": b"\xff\xfe",
    "a list": [],
    "null": None,
    "a number": 5,
    "siblings that are none": {**WHOLE, "siblings": 5},
    "a sibling that is none": {**WHOLE, "siblings": [5]},
    "siblings without a name": {**WHOLE, "siblings": [{}]},
    "names that are none": {**WHOLE, "siblings": [{"rfilename": [1]}]},
    "sizes that are texts": {**WHOLE, "siblings": [{**part, "size": "9"} for part in PARTS]},
    "sizes below 0": {**WHOLE, "siblings": [{**part, "size": -9} for part in PARTS]},
    "no commit": {**WHOLE, "sha": None},
    "a commit that leads away": {**WHOLE, "sha": "../../../../../../gone"},
    "a commit with capitals": {**WHOLE, "sha": "A" * 40},
    "a date that is none": {**WHOLE, "lastModified": "yesterday"},
    "nested deeply": b"[" * 100_000,
}


@pytest.mark.parametrize("case", ANSWERS)
def test_an_answer_of_another_form_is_one_sentence(case, hub, put, whole_preset, tmp_path):
    put(whole_preset)
    hub.fault(INFO, status=200, content=ANSWERS[case], times=9)
    before = {path for path in tmp_path.rglob("*") if not path.is_relative_to(hub.cache)}
    with pytest.raises(KzooError) as error:
        kzoo.from_preset(FRIEND)
    assert "\n" not in str(error.value) and len(str(error.value)) < 500
    assert not hub.asked("/resolve/")
    assert {path for path in tmp_path.rglob("*") if not path.is_relative_to(hub.cache.parent)} <= before


@pytest.mark.parametrize("pattern", [INFO, "GET .*/resolve/.*/config.json"])
def test_another_host_gets_no_token(pattern, hub, put, whole_preset):
    other = hub_server.HubServer()
    try:
        put(whole_preset)
        elsewhere = other.url.replace("127.0.0.1", "localhost")
        hub.fault(pattern, status=302, headers={"Location": f"{elsewhere}/stolen"})
        with pytest.raises(KzooError) as error:
            kzoo.from_preset(FRIEND)
        assert "\n" not in str(error.value)
        assert any(header == f"Bearer {TOKEN}" for header in hub.authorizations)
        assert not any(header for header in other.authorizations)
    finally:
        other.stop()


@pytest.mark.parametrize("endpoint", ["http://example.org", "http://10.0.0.1:8000", "ftp://127.example.org", "x"])
def test_nothing_is_asked_of_another_machine_by_plain_http(endpoint, hub, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", endpoint)
    with pytest.raises(HubError, match="HF_ENDPOINT must begin with https:// unless it is this machine"):
        kzoo.from_preset(FRIEND)


def test_files_of_gigabytes_beside_a_preset_are_not_asked_for(hub, put, whole_preset):
    large = {f"{name}.safetensors": hub_server.File(b"x", True) for name in ("a", "b", "optimizer")}
    put(whole_preset, **large)
    for file in large.values():
        file.size = 40 * 2**30
    assert kzoo.from_preset(FRIEND)
    assert {name for asked in hub.asked("/resolve/") for name in re.findall(r"(\w+\.safetensors)", asked)} == {
        "model.safetensors"
    }


@pytest.mark.parametrize("status", [401, 403, 404, 418, 500])
def test_no_traceback_has_the_token(status, hub, put, whole_preset, waits, caplog, capsys):
    caplog.set_level(logging.DEBUG)
    put(whole_preset)
    hub.fault("GET", status=status, times=99)
    with pytest.raises(KzooError) as error:
        kzoo.from_preset(FRIEND)
    shown = "".join(traceback.format_exception(error.value)) + caplog.text + "".join(capsys.readouterr())
    assert TOKEN not in shown and hub.authorizations
