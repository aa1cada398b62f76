"""No test reaches beyond this machine."""

import socket
import threading

import pytest

pytestmark = pytest.mark.once


def test_connections_go_to_this_machine_only():
    for address in (("huggingface.co", 443), ("192.0.2.1", 443), ("2001:db8::1", 443)):
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        for method in ("connect", "connect_ex"):
            with socket.socket(family) as client, pytest.raises(AssertionError, match="a test tried to reach"):
                getattr(client, method)(address)
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as client:
            server.accept()[0].close()
            assert client.recv(1) == b""


def test_the_hub_is_nowhere():
    from huggingface_hub import constants, get_token

    assert constants.ENDPOINT == "http://127.0.0.1:9" and constants.HF_HUB_OFFLINE and get_token() is None


def test_the_guard_holds_in_the_hubs_own_client(monkeypatch):
    from huggingface_hub import HfApi

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    found = []

    def ask():
        try:
            HfApi(endpoint="http://192.0.2.1").model_info("a/b", timeout=1)
        except BaseException as error:
            found.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join(30)
    assert "a test tried to reach" in found[0]


def test_the_guard_holds_in_other_processes(python):
    code = """
from huggingface_hub import HfApi
for endpoint in (None, "https://huggingface.co"):
    try:
        HfApi(endpoint=endpoint).model_info("a/b", timeout=5)
    except Exception as error:
        print(type(error).__name__)
"""
    assert python(code, HF_HUB_OFFLINE="0").stdout.split() == ["ConnectError", "ConnectError"]
