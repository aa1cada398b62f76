"""TensorFlow's start-up notes, which no setting of it silences."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator

from kzoo import backend


def quiet_tensorflow() -> None:
    """Lets the command import TensorFlow without its notes on stderr; if the import fails, they are shown."""
    backend.around_import = _silenced


@contextlib.contextmanager
def _silenced(chosen: str) -> Iterator[None]:
    if chosen != "tensorflow":
        yield
        return
    sys.stderr.flush()
    own = os.dup(2)
    with tempfile.TemporaryFile() as notes:
        os.dup2(notes.fileno(), 2)
        try:
            yield
        except BaseException:
            os.dup2(own, 2)
            notes.seek(0)
            os.write(2, notes.read())
            raise
        finally:
            os.dup2(own, 2)
            os.close(own)
