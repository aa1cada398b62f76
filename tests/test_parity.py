"""The same file gives the same model on the three backends.

Logits agree within 1e-5 of the largest at trained lengths. Rounding adds up from step to step in mechanisms that move
by the position they had: at length 100 it is 6e-5 of the largest in the worst preset, and the bound 1e-4. So is that of
`PAST_THE_END` behind the end of a target, where no training says how to move.
"""

import os
import random
import subprocess
import sys

import numpy as np
import pytest

import kzoo

# Every preset on every backend, in one fixture.
pytestmark = [pytest.mark.once, pytest.mark.all_presets, pytest.mark.timeout(2400)]
BACKENDS = ("jax", "torch", "tensorflow")
PAST_THE_END = ("tape_duplicate_string",)
LONG = ("monotonic_inv_recopy", "hinted_sorter")  # the worst of each kind
# Logits of fixed examples, and greedy output, of each preset: written by a process of each backend. Presets that differ
# in nothing but their weights share one model, so that it is compiled once.
WRITE = """
import functools, sys
import keras, kzoo, numpy as np
from pathlib import Path
@functools.cache
def examples(task, *options):
    return kzoo.tasks.get(task).examples(*options)
assert keras.config.backend() == sys.argv[2]
found, compiled = {}, {}
for folder in sys.argv[4:]:
    loaded = kzoo.from_preset(folder)
    task = kzoo.tasks.get(loaded.task_name)
    architecture = [(Path(folder) / file).read_text() for file in ("config.json", "tokenizer.json")]
    model = compiled.setdefault("".join(architecture), loaded)
    model.set_weights(loaded.get_weights())
    given = examples(loaded.task_name, "train", 8, 7)
    x, _, weight = model.preprocessor(given)
    name = Path(folder).name
    found[f"{name}/logits"], found[f"{name}/weight"] = model.predict_on_batch(x), weight
    if name in sys.argv[3].split(","):
        longest = max(length for length in task.test_lengths if length <= 100)
        x, _, weight = model.preprocessor(examples(loaded.task_name, "test", 2, 7, longest))
        found[f"{name}/long"] = np.asarray(model.predict_on_batch(x)) * (weight > 0)[..., None]
    length = {"max_length": 40} if isinstance(model, kzoo.models.Generates) else {}
    found[f"{name}/generated"] = model.generate([" ".join(e.source) for e in given], **length)
np.savez(sys.argv[1], **found)
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What each backend found for every bundled preset and a small untrained one."""
    folder = tmp_path_factory.mktemp("parity")
    random.seed(0)  # from which Keras draws the seeds of the weights
    model = kzoo.models.RecurrentSeq2Seq.from_task("recopy", embedding_units=16, encoder_units=12)
    model.save_to_preset(folder / "untrained_recopy")
    presets = [str(folder / "untrained_recopy"), *(kzoo.preset_info(name)["folder"] for name in kzoo.list_presets())]
    arrays = {}
    for backend in BACKENDS:
        command = [sys.executable, "-c", WRITE, str(folder / f"{backend}.npz"), backend, ",".join(LONG), *presets]
        variables = {**os.environ, "KERAS_BACKEND": backend, "XLA_FLAGS": ""}  # compiled as users have it
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        arrays[backend] = dict(np.load(folder / f"{backend}.npz"))
    return arrays


@pytest.mark.parametrize("backend", BACKENDS[1:])
@pytest.mark.parametrize("name", ["untrained_recopy", *kzoo.list_presets()])
def test_logits_and_outputs_agree_with_jax(name, backend, found):
    logits, expected = found[backend][f"{name}/logits"], found["jax"][f"{name}/logits"]
    assert np.ptp(expected) > 1
    # Logits reach 14, where float32 itself is good for 1e-6: the largest of them is the scale.
    scale = max(1.0, np.abs(expected).max())
    differences = np.abs(logits - expected)
    if name in PAST_THE_END:
        assert differences.max() <= 1e-4 * scale
        differences = differences[found["jax"][f"{name}/weight"] > 0]
    assert differences.max() <= 1e-5 * (1.0 if name == "onestep_recopy" else scale)
    assert found[backend][f"{name}/generated"].tolist() == found["jax"][f"{name}/generated"].tolist()


@pytest.mark.parametrize("backend", BACKENDS[1:])
@pytest.mark.parametrize("name", LONG)
def test_logits_of_long_inputs_agree_with_jax(name, backend, found):
    logits, expected = found[backend][f"{name}/long"], found["jax"][f"{name}/long"]
    assert np.abs(logits - expected).max() <= 1e-4 * np.abs(expected).max()
