"""What JAX compiled is kept for the next process, unless it is switched off."""

import pytest

from kzoo import compilation_cache

pytestmark = pytest.mark.once
CODE = "import sys, kzoo; print(kzoo.from_preset(sys.argv[1]).generate('4 7 9 8', max_length=5))"
# Everything is kept, however fast it was compiled: what takes longer than the usual bound depends on the machine.
OWN = {"KERAS_BACKEND": "jax", "JAX_COMPILATION_CACHE_DIR": None, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}


@pytest.mark.slow
def test_the_second_process_compiles_nothing(python, preset, tmp_path):
    said, kept = [], []
    for _ in range(2):
        done = python(CODE, preset, XDG_CACHE_HOME=str(tmp_path), **OWN)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
        kept.append({path.name for path in tmp_path.glob("kzoo/jax/*/*-cache")})
    assert said[0] == said[1] and kept[0] == kept[1] and kept[0]


@pytest.mark.parametrize("switch", ["0", "off"])
@pytest.mark.slow
def test_it_can_be_switched_off(switch, python, preset, tmp_path):
    done = python(CODE, preset, XDG_CACHE_HOME=str(tmp_path), KZOO_COMPILATION_CACHE=switch, **OWN)
    assert done.returncode == 0 and not (tmp_path / "kzoo").exists(), done.stderr


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_is_no_error(python, preset, tmp_path):
    (tmp_path / "file").write_text("")
    done = python(CODE, preset, KZOO_COMPILATION_CACHE=str(tmp_path / "file"), **OWN)
    assert done.returncode == 0 and done.stderr == "", done.stderr


@pytest.mark.parametrize(("asked", "seconds"), [(None, compilation_cache.SECONDS), ("7", 7.0)])
@pytest.mark.slow
def test_the_shortest_time(asked, seconds, python, tmp_path):
    code = "from kzoo.backend import ensure_backend; ensure_backend(); import jax; print(jax.config.{})"
    environment = {**OWN, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": asked, "XDG_CACHE_HOME": str(tmp_path)}
    done = python(code.format("jax_persistent_cache_min_compile_time_secs"), **environment)
    assert done.returncode == 0 and float(done.stdout) == seconds, done.stderr


def test_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("KZOO_COMPILATION_CACHE", raising=False)
    own = compilation_cache.folder()
    assert own.parent == tmp_path / "kzoo" / "jax"
    monkeypatch.setattr(compilation_cache.platform, "machine", lambda: "another processor")
    assert compilation_cache.folder() != own
    monkeypatch.setenv("KZOO_COMPILATION_CACHE", str(tmp_path / "mine"))
    assert compilation_cache.folder().parent == tmp_path / "mine"
