"""Shared by all tests: one backend a process, few threads, no network; small models, presets, examples and
fresh processes."""

import inspect
import ipaddress
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# Nothing here may reach the real Hub: its address leads to a closed port, and so does every other one by https, in
# processes of their own too; nobody's token and cache are used; and this process connects to this machine only.
HUB_HOME = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": HUB_HOME.name}
os.environ |= {"HTTPS_PROXY": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
for variable in ("HF_TOKEN", "HF_TOKEN_PATH", "HF_HUB_CACHE", "HF_XET_CACHE", "KZOO_HUB_OWNER"):
    os.environ.pop(variable, None)


def _on_this_machine(address):
    host = address[0] if isinstance(address, tuple) else "127.0.0.1"  # anything else is a socket in a file
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _guarded(connect):
    def guard(self, address):
        if not _on_this_machine(address):
            raise AssertionError(f"a test tried to reach {address}")
        return connect(self, address)

    return guard


socket.socket.connect, socket.socket.connect_ex = _guarded(socket.socket.connect), _guarded(socket.socket.connect_ex)
# Compiling is most of the time on JAX: it is done fast, not well, and models and processes of one session share it.
QUICK = (
    "--xla_backend_optimization_level=0",
    "--xla_cpu_use_fusion_emitters=false",
    "--xla_cpu_parallel_codegen_split_count=1",
)
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " " + " ".join(QUICK)
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")

ROOT = Path(__file__).parent.parent
COMPILED = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
LIMIT = 2 * 2**30  # bytes of compiled functions, after which pytest's cache of them begins anew
SMALL = {"embedding_units": 6, "encoder_units": 5, "units": 12, "hidden_units": 10}


def pytest_configure(config):
    """Keeps what JAX compiles in pytest's cache, from one run to the next; without it, for this run."""
    folder = Path(COMPILED.name)
    if config.pluginmanager.hasplugin("cacheprovider"):
        folder = config.cache.mkdir("jax_compiled")
        sizes = [path.stat().st_size for path in folder.iterdir()]
        if sum(sizes) > LIMIT and not hasattr(config, "workerinput"):
            shutil.rmtree(folder, ignore_errors=True)
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(folder))


def pytest_collection_modifyitems(config, items):
    """Orders the files that several processes share: those with slow tests first, then those with many tests."""
    if not hasattr(config, "workerinput"):
        return
    slow = {item.path for item in items if item.get_closest_marker("slow") or item.get_closest_marker("all_presets")}
    tests = Counter(item.path for item in items)
    items.sort(key=lambda item: (item.path not in slow, -tests[item.path], str(item.path)))


@pytest.fixture(autouse=True)
def seeds():
    """The same start for every test: Keras draws the seeds that nobody gives from Python's generator."""
    random.seed(0)


@pytest.fixture(scope="session")
def root():
    """The root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def run_examples():
    """A function that runs the examples in a docstring, of which there has to be one."""

    def run(thing, **names):
        import kzoo

        examples = re.findall(r"```python\n(.*?)```", inspect.getdoc(thing) or "", re.DOTALL)
        assert examples
        for example in examples:
            exec(textwrap.dedent(example), {"np": np, "kzoo": kzoo, **names})

    return run


def small_model(cls=None, seed=0, **config):
    """Returns a small model for ReCopy, with the same random weights on every backend."""
    import kzoo
    from kzoo.registry import parameters_of
    from kzoo.saving.weights import limit_parameters, named_variables

    cls = cls or kzoo.models.RecurrentSeq2Seq
    small = {key: value for key, value in SMALL.items() if key in parameters_of(cls)}
    with limit_parameters(10**6, ROOT, blank=True):
        model = cls.from_task("recopy", **{**small, **config})
    rng = np.random.default_rng(seed)
    for variable in named_variables(model).values():  # large enough that the outputs differ from step to step
        variable.assign(rng.normal(0, 0.9, variable.shape).astype("float32"))
    return model


@pytest.fixture(scope="session")
def make_model():
    """The function `small_model`."""
    return small_model


@pytest.fixture(scope="session")
def preset(make_model, tmp_path_factory):
    """The folder of a small preset; read only."""
    folder = tmp_path_factory.mktemp("presets") / "tiny_recopy"
    make_model().save_to_preset(folder)
    return folder


@pytest.fixture
def own_preset(preset, tmp_path):
    """The folder of a small preset that the test may change."""
    return Path(shutil.copytree(preset, tmp_path / "tiny_recopy"))


@pytest.fixture
def python(tmp_path):
    """A function that runs code in a fresh process.

    `without` names modules that cannot be imported there; further keywords set environment variables, None unsets one.
    """

    def run(code, *arguments, without=(), timeout=120, **environment):
        blocked = f"import sys; sys.modules.update(dict.fromkeys({list(without)!r}))\n"
        variables = {**os.environ, "KERAS_HOME": str(tmp_path / "keras"), **environment}
        return subprocess.run(
            [sys.executable, "-c", blocked + code, *map(str, arguments)],
            env={key: value for key, value in variables.items() if value is not None},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def browser():
    """A real browser, for the files that `python -m tests --web` runs."""
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert found, "these tests need Chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])  # as root it has none
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser, site):
    """A function that opens an address below `site`, which is the file's own fixture.

    An error on a page, an answer that says one, or a request to another host fails the test.
    """
    contexts, wrong = [], []

    def open_(address="", until="load", **options):
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
        page.on("request", lambda asked: asked.url.startswith((site, "data:", "blob:")) or wrong.append(asked.url))
        page.on("response", lambda answer: answer.status < 400 or wrong.append(f"{answer.status} {answer.url}"))
        page.goto(site + address, wait_until=until)
        return page

    yield open_
    assert wrong == []
    for context in contexts:
        context.close()
