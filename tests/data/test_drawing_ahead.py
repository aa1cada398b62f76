"""Epochs drawn ahead: the examples are those that are drawn without, and no process stays."""

import multiprocessing
import os
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass

import pytest

import kzoo
from kzoo.data.batches import Batches
from kzoo.data.drawing_ahead import DrawingAhead
from kzoo.errors import InputError, TrainingError
from kzoo.training.batches import Drawn
from kzoo.training.stages import Budget, Data, Stage

TASK = kzoo.tasks.get("copy")
STAGE = Stage(Budget(4, 2), data=Data(fresh=True, batch_size=3, curriculum=(10, 15)))


def preprocessor():
    from kzoo.preprocessing.seq2seq_preprocessor import Seq2SeqPreprocessor

    return Seq2SeqPreprocessor(TASK.vocabulary)


def drawn():
    return Drawn(STAGE, 0, TASK, 6)


def test_the_batches_of_every_epoch_are_the_same():
    made = {}
    for ahead in (0, 2):
        found = Batches(drawn(), preprocessor(), 3, 0, steps=2, draw_ahead=ahead, last=3)
        rows = made[ahead] = []
        for _ in range(4):
            rows += [found[i][1].tolist() for i in range(len(found))]
            found.on_epoch_end()
        found.close()
    assert made[0] == made[2]
    assert len({str(rows) for rows in made[0]}) == 8  # all of them fresh


def test_an_epoch_in_the_middle_can_be_the_first():
    ahead = DrawingAhead(drawn(), preprocessor(), 2, last=3)
    assert ahead(2) == [preprocessor().encode(*row) for row in drawn()(2)]
    assert sorted(ahead.under_way) == [3]  # 4 is behind the last
    ahead.close()


def test_no_process_stays_behind():
    before = set(multiprocessing.active_children())
    found = Batches(drawn(), preprocessor(), 3, 0, steps=2, draw_ahead=2, last=3)
    found[0]
    made = set(multiprocessing.active_children()) - before
    assert made
    found.close()
    deadline = time.monotonic() + 30
    while set(multiprocessing.active_children()) & made and time.monotonic() < deadline:
        time.sleep(0.1)
    for process in made:
        with pytest.raises(ProcessLookupError):
            os.kill(process.pid, 0)


@pytest.mark.once
def test_the_processes_end_with_one_that_is_killed():
    script = """
        import os, signal
        from tests.data.test_drawing_ahead import Slow, preprocessor
        from kzoo.data.drawing_ahead import DrawingAhead

        if __name__ == "__main__":
            ahead = DrawingAhead(Slow(), preprocessor(), 2)
            ahead(0)
            os.kill(os.getpid(), signal.SIGKILL)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    # Its output ends when the last process that can write to it has ended.
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
    assert done.returncode == -9, done.stdout


@dataclass
class Slow:
    def __call__(self, epoch):
        time.sleep(300 if epoch else 0)
        return [("1 2", "1 2")]


@dataclass
class Failing:
    def __call__(self, epoch):
        if epoch:
            raise InputError("none is left")
        return [("1 2", "1 2")] * 6


@pytest.mark.once
def test_what_fails_in_a_process_is_raised_here():
    found = Batches(Failing(), preprocessor(), 3, 0, steps=2, draw_ahead=1)
    found[0]
    found.on_epoch_end()
    with pytest.raises(InputError, match="none is left"):
        found[0]
    found.close()


@dataclass
class Ending:
    def __call__(self, epoch):
        os._exit(1)


@pytest.mark.once
def test_a_process_that_ends_is_one_sentence():
    ahead = DrawingAhead(Ending(), preprocessor(), 1)
    with pytest.raises(TrainingError, match="a process that draws examples ahead has ended"):
        ahead(1)
    ahead.close()


@pytest.mark.parametrize("wrong", [-1, 257, 1.5])
def test_a_number_out_of_range_is_refused(wrong):
    with pytest.raises(InputError, match="draw_ahead must be"):
        Batches(drawn(), preprocessor(), 3, draw_ahead=wrong)
