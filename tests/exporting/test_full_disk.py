"""A disk that is full while a model is exported: one sentence, and nothing is left."""

import sys

import keras
import pytest

from kzoo.exporting.export import FORMATS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the limit is one of Unix")
WRITE = """
import resource, signal
from pathlib import Path
import kzoo
from kzoo.cli.main import main
model = kzoo.models.RecurrentSeq2Seq.from_task("recopy", embedding_units=16, encoder_units=16)
model.save_to_preset(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for name in sys.argv[3:]:
    whole = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, whole[1]))  # bytes of a file, as if no more were free
    code = main(["export", sys.argv[1], "--format", name, "--output", sys.argv[2] + FORMATS[name]])
    resource.setrlimit(resource.RLIMIT_FSIZE, whole)
    print(name, code, sorted(path.name for path in Path(sys.argv[2]).parent.iterdir()))
"""


@pytest.mark.once
def test_a_full_disk_is_told_and_nothing_is_left(python, tmp_path):
    names = [name for name, format in FORMATS.items() if keras.config.backend() in format.backends]
    if keras.config.backend() == "jax":
        names.remove("saved_model")  # TensorFlow writes it, which is tried on its own backend
    (tmp_path / "out").mkdir()
    suffixes = {name: FORMATS[name].suffix for name in names}
    done = python(
        WRITE.replace("FORMATS", repr(suffixes)), tmp_path / "tiny", tmp_path / "out" / "x", *names, timeout=280
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = [line.split(" ", 2) for line in done.stdout.splitlines()]
    assert [name for name, _, _ in told] == names
    assert all(code in "12" and left == "[]" for _, code, left in told), told
    assert done.stderr.count("kzoo: ") == len(names) and "Traceback" not in done.stderr
