"""A Hub on loopback for every test here, and presets fit to be published."""

import importlib.util
import json
import shutil
import sys
from pathlib import Path

import pytest

from kzoo.cli.main import main
from kzoo.evaluation.report import Report
from kzoo.evaluation.results import add_results, results_document
from kzoo.hub.address import Address
from kzoo.hub.contents import contents
from kzoo.saving.files import sha256

_spec = importlib.util.spec_from_file_location("hub_server", Path(__file__).parent / "hub_server.py")
hub_server = sys.modules["hub_server"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(hub_server)

TOKEN = "hf_writer"
RECIPE = {
    "task": "recopy",
    "model": {"class": "RecurrentSeq2Seq", "config": {"embedding_units": 6, "encoder_units": 5}},
    "epochs": 1,
}


@pytest.fixture(params=["plain"])
def hub(request, tmp_path, monkeypatch):
    """A running HubServer that this process takes for the Hub, with a cache of its own and a token that may write.

    Weights go by plain HTTP and LFS, or, with the parameter "xet", through a Xet store in a folder.
    """
    from huggingface_hub import constants
    from huggingface_hub.utils import _xet

    xet = request.param == "xet"
    (tmp_path / "store").mkdir()
    server = hub_server.HubServer(tmp_path / "store" if xet else None)
    home = tmp_path / "home"
    settings = {
        "ENDPOINT": server.url,
        "HUGGINGFACE_CO_URL_TEMPLATE": server.url + "/{repo_id}/resolve/{revision}/{filename}",
        "HF_HUB_OFFLINE": False,
        "HF_HUB_CACHE": str(home / "hub"),
        "HF_XET_CACHE": str(home / "xet"),
        "HF_TOKEN_PATH": str(home / "token"),
        "HF_HUB_DISABLE_XET": not xet,
    }
    for name, value in settings.items():
        assert hasattr(constants, name)
        monkeypatch.setattr(constants, name, value)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    _xet.XET_CONNECTION_INFO_CACHE.clear()
    server.environment = {  # for processes of their own
        "HF_ENDPOINT": server.url,
        "HF_HUB_OFFLINE": "0",
        "HF_HOME": str(home),
        "HF_TOKEN": TOKEN,
        "HF_HUB_DISABLE_XET": "0" if xet else "1",
    }
    server.cache = home / "hub"
    yield server
    server.stop()


@pytest.fixture
def waits(monkeypatch):
    """The seconds that were waited for; nobody really waits."""
    found = []
    monkeypatch.setattr("time.sleep", found.append)
    return found


def add_documents(folder):
    """Gives a preset a recipe and results, so that it can be published."""
    (folder / "recipe.json").write_text(json.dumps(RECIPE))
    row = {"preset": folder.name, "task": "recopy", "metric": "sequence_accuracy", "n": 2000, "seed": 0}
    row |= {"backend": "jax", "weights_sha256": sha256(folder / "model.safetensors"), "version": "0", "low": 0.9}
    rows = [row | {"length": 15, "value": 1.0, "high": 1.0, "paper": 1.0}]
    rows.append(row | {"length": 100, "value": 0.95, "high": 1.0, "paper": None})
    run = {"seed": 0, "backend": "jax", "epoch": 1, "steps": 1, "examples_seen": 16, "seconds": 1.0}
    add_results(folder, results_document(Report(folder.name, "recopy", "jax", rows), [run]))


@pytest.fixture(scope="session")
def whole_preset(preset, tmp_path_factory):
    """The folder of a small preset with recipe and results; read only."""
    folder = Path(shutil.copytree(preset, tmp_path_factory.mktemp("whole") / "tiny_recopy"))
    add_documents(folder)
    return folder


@pytest.fixture(scope="session")
def complete():
    """A function that gives a freshly saved preset a recipe, and results of its weights."""
    return add_documents


@pytest.fixture
def own(whole_preset, tmp_path):
    """The same, which the test may change."""
    return Path(shutil.copytree(whole_preset, tmp_path / "tiny_recopy"))


@pytest.fixture
def ready(whole_preset, rendered, monkeypatch):
    """A preset whose files were checked and whose card was rendered once for all tests that only send them."""
    monkeypatch.setattr("kzoo.hub.publish.contents", lambda preset, address: dict(rendered))
    return whole_preset


@pytest.fixture(scope="session")
def rendered(whole_preset):
    return contents(whole_preset, Address("me", "tiny_recopy"))


@pytest.fixture
def put(hub):
    """A function that puts a preset on the Hub without kzoo, as a friend's repository; returns the commit."""

    def put(folder, name="friend/tiny_recopy", **changes):
        repository = hub.repositories.get(name) or hub.repository(name)
        files = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
        files = {name: hub_server.File(content, name.endswith(".safetensors")) for name, content in files.items()}
        return repository.commit({**files, **changes})

    return put


@pytest.fixture
def kzoo_command(capsys):
    """A function that runs the command in this process and returns exit code, stdout and stderr."""

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def hub_python(hub, python):
    """The fixture `python`, in processes that take the server for the Hub."""

    def run(code, *arguments, **environment):
        return python(code, *arguments, **{**hub.environment, **environment})

    return run
