"""Exporting a model to a file, and the check that the file does what the model does."""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kzoo import checks
from kzoo.backend import ensure_backend
from kzoo.errors import BackendError, InputError
from kzoo.models.protocols import Generates
from kzoo.saving.files import expand, writing

if TYPE_CHECKING:
    from kzoo.exporting.program import Program

LENGTHS = (3, 6, 12)
PERTURBATION = 1e-5
CHECKED = ((LENGTHS[0], 3), (LENGTHS[1], 1), (LENGTHS[2], 3))  # (length, batch size) of each run of an artifact


@dataclass(frozen=True)
class Format:
    """A format: its file name's end, the backends that write it rightly, and why others do not."""

    suffix: str
    backends: tuple[str, ...] = ("jax", "torch", "tensorflow")
    reason: str = ""


FORMATS = {
    "keras": Format(".keras"),
    "safetensors": Format(".safetensors"),
    "saved_model": Format("", ("jax", "tensorflow"), "PyTorch has no way to a TensorFlow SavedModel"),
    "onnx": Format(
        ".onnx", ("torch",), "the converters from JAX and TensorFlow lack operations that our loops and attentions need"
    ),
    "torch": Format(".pt2", ("torch",), "an exported program of PyTorch is made by PyTorch"),
}


def export(model: Any, path: str | Path, format: str) -> Path:
    """Writes a model as a file that others can run, and compares what the file answers with what the model does.

    | format        | what is written                                        | backends        |
    |---------------|--------------------------------------------------------|-----------------|
    | "keras"       | Keras' archive, for `keras.saving.load_model`          | all             |
    | "safetensors" | the weights by name, and the model's config            | all             |
    | "saved_model" | a folder for TensorFlow, and all that serves it        | jax, tensorflow |
    | "onnx"        | a file for onnxruntime and other engines               | torch           |
    | "torch"       | an exported program of PyTorch (.pt2)                  | torch           |

    The last three hold the whole way from the ids of a source to the answer, see `kzoo.exporting.program.Program`: of a
    model that generates all of greedy decoding. They take sources of any length, in batches of any size.

    The file is run again at three lengths and two batch sizes before it gets its name.

    Args:
        model: a model of kzoo with a preprocessor.
        path: str or Path. A file, or for "saved_model" a folder, that does not exist.
        format: str. See above.

    Returns:
        Path. What was written.

    Raises:
        BackendError: the backend in force cannot write the format, or a package for it is not installed.
        InputError: the format is unknown, something is at `path`, or the file does not do what the model does; then
            nothing is left behind.

    Example:

    ```python
    kzoo.export(kzoo.from_preset("onestep_recopy"), "onestep_recopy.keras", format="keras")
    ```
    """
    form = FORMATS[checks.choice("format", format, FORMATS)]
    backend = ensure_backend()
    if backend not in form.backends:
        way = " or ".join(f"KERAS_BACKEND={name}" for name in form.backends)
        raise BackendError(f"the {backend} backend does not write {format}: {form.reason}; run it with {way}")
    from kzoo.exporting.program import Program
    from kzoo.models import SequenceModel

    if not isinstance(model, SequenceModel):
        raise InputError(f"only models of kzoo are exported, not a {type(model).__name__}")
    program = Program(model)
    if format == "onnx" and model.compute_dtype != "float32":
        raise InputError(f"onnx is for models that compute in float32, and this one does in {model.compute_dtype}")
    target = expand(path)
    if format == "keras" and target.suffix != form.suffix:
        raise InputError(f"Keras reads a model from a file that ends in .keras, and {target.name!r:.100} does not")
    if target.exists():
        raise InputError(f"{path} exists; nothing was written")
    beside = target.parent / f".{target.name}.new-{os.getpid()}{form.suffix}"
    with writing(target):
        try:
            run = WRITERS[format](program, beside)
            compare(program, run, format)
            os.rename(beside, target)
        finally:
            shutil.rmtree(beside, ignore_errors=True) if beside.is_dir() else beside.unlink(missing_ok=True)
    return target


Sources = list[list[int]]
Runner = Callable[[Sources], dict[str, np.ndarray]]


def _keras(program: "Program", path: Path) -> Runner:
    import keras

    from kzoo.backend import no_other_backend

    with no_other_backend():
        program.model.save(path)
        model = keras.saving.load_model(path, compile=False)
    return lambda sources: answers(model, sources)


def _safetensors(program: "Program", path: Path) -> Runner:
    import json

    from kzoo.saving.files import write_bytes
    from kzoo.saving.weights import load_weights, serialize

    write_bytes(path, serialize(program.model, kzoo=json.dumps(program.description())))
    model = type(program.model).from_config(program.model.get_config())
    load_weights(model, path)
    return lambda sources: answers(model, sources)


def _saved_model(program: "Program", path: Path) -> Runner:
    from kzoo.exporting.saved_model import run_saved_model, write_saved_model

    write_saved_model(program, path)
    return run_saved_model(path, program)


def _onnx(program: "Program", path: Path) -> Runner:
    from kzoo.exporting.to_torch import run_onnx, write_onnx

    write_onnx(program, path)
    return run_onnx(path, program)


def _torch(program: "Program", path: Path) -> Runner:
    from kzoo.exporting.to_torch import run_torch, write_torch

    write_torch(program, path)
    return run_torch(path, program)


WRITERS = {"keras": _keras, "safetensors": _safetensors, "saved_model": _saved_model, "onnx": _onnx, "torch": _torch}


def compare(program: "Program", run: Runner, format: str) -> None:
    """Raises `InputError` unless an artifact answers as the model does, at three lengths and two batch sizes.

    Written tokens must be the same up to where the model itself, its weights a hundred-thousandth other, would write
    another; logits must be within a thousandth.
    """
    batches = [examples(program, length)[:size] for length, size in CHECKED]
    together = [source for batch in batches for source in batch]
    expected = answers(program.model, together)
    if program.generates:
        with _perturbed(program.model):
            perturbed = answers(program.model, together)
        # From where on rounding decides, no two programs need to agree.
        other = expected["output_ids"] != perturbed["output_ids"]
        expected["sure"] = np.where(other.any(axis=1), other.argmax(axis=1), np.iinfo(int).max)
    first = 0
    for (length, size), batch in zip(CHECKED, batches, strict=True):
        try:
            found = run(batch)
        except Exception as error:
            reason = " ".join(str(error).split())
            raise InputError(f"what was written as {format} does not run at length {length}: {reason:.300}") from error
        wanted = {name: values[first : first + size] for name, values in expected.items()}
        if not _alike(wanted, found, program.preprocessor.tokenizer.pad_id):
            raise InputError(
                f"what was written as {format} differs from the model at length {length} and batch size {size}; "
                "nothing was kept"
            )
        first += size


def answers(model: Any, sources: Sources) -> dict[str, np.ndarray]:
    """Returns what a model answers to encoded sources, in the form of `Program`."""
    from kzoo.preprocessing.padding import bucket

    if isinstance(model, Generates):
        return {"output_ids": model.generator.decode(sources)}
    inputs = model.preprocessor.sources(sources, bucket(max(map(len, sources))))
    logits = np.asarray(model.predict_on_batch(inputs))
    return {"label_ids": np.argmax(logits, axis=-1), "logits": logits}


def examples(program: "Program", length: int) -> Sources:
    """Returns three encoded sources: of this length, and of two lesser."""
    lengths = (length, length - 1, max(2, length // 2))
    return [program.preprocessor.encode_source(program.example(n)) for n in lengths]


def _alike(expected: dict[str, np.ndarray], found: dict[str, np.ndarray], pad_id: int) -> bool:
    sizes = {len(values) for values in (*expected.values(), *found.values())}
    if set(expected) - {"sure"} != set(found) or len(sizes) != 1:
        return False
    if "logits" in expected:
        same = np.allclose(expected["logits"], found["logits"], rtol=1e-3, atol=1e-4)
        return same and bool(np.array_equal(found["label_ids"], np.argmax(found["logits"], axis=-1)))
    ids = (expected["output_ids"], found["output_ids"])
    columns = max(rows.shape[1] for rows in ids)
    first, second = (np.pad(rows, [(0, 0), (0, columns - rows.shape[1])], constant_values=pad_id) for rows in ids)
    return bool(((first == second) | (np.arange(columns) >= expected["sure"][:, None])).all())


@contextlib.contextmanager
def _perturbed(model: Any) -> Iterator[None]:
    """Changes every weight by about a hundred-thousandth of itself, for a while."""
    rng = np.random.default_rng(0)
    kept = model.get_weights()
    model.set_weights([(w * (1 + PERTURBATION * rng.standard_normal(w.shape))).astype(w.dtype) for w in kept])
    try:
        yield
    finally:
        model.set_weights(kept)
