"""A model as an exported program of PyTorch, and from there as ONNX."""

import contextlib
import importlib.util
import io
import json
import logging
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import torch

from kzoo.errors import BackendError, InputError
from kzoo.exporting.program import Program
from kzoo.saving.files import UNSEEN, write_bytes
from kzoo.saving.weights import named_variables

DESCRIPTION = "kzoo.json"
NEEDS_ONNX = 'onnx needs packages that are not installed: pip install "kzoo[export]"'
Runner = Callable[[list[list[int]]], dict[str, np.ndarray]]


def write_torch(program: Program, path: Path) -> None:
    """Writes a .pt2 file: `torch.export.load(path).module()(token_ids)` runs it, without Keras and kzoo."""
    extra = {DESCRIPTION: json.dumps(program.description())}
    content = io.BytesIO()  # PyTorch ends the process where it cannot write to a file
    torch.export.save(trace(program), content, extra_files=extra)
    write_bytes(path, content.getvalue())


def write_onnx(program: Program, path: Path) -> None:
    """Writes an .onnx file with the weights in it; its description is in its metadata under the key "kzoo".

    Raises:
        BackendError: onnxscript is not installed.
    """
    if importlib.util.find_spec("onnxscript") is None:
        raise BackendError(NEEDS_ONNX)
    traced = trace(program)
    with quiet(), one_sentence():
        onnx: Any = torch.onnx.export(
            traced,
            dynamo=True,
            input_names=["token_ids"],
            output_names=list(program.outputs),
            optimize=True,
            verbose=False,
        )
    onnx.model.metadata_props["kzoo"] = json.dumps(program.description())
    write_bytes(path, onnx.model_proto.SerializeToString())


def trace(program: Program) -> Any:
    """Returns the program as `torch.export` traces it, for any batch size and length; weights go by kzoo's names.

    Raises:
        InputError: PyTorch cannot.
    """
    shortest = program.preprocessor.shortest
    example = torch.zeros((2, shortest + 3), dtype=torch.int32)  # sizes that stand for any: not 1, not the shortest
    sizes = {0: torch.export.Dim("batch", min=1), 1: torch.export.Dim("length", min=shortest)}
    module = Module(program).eval()
    with torch.no_grad(), quiet(), one_sentence():
        return torch.export.export(module, (example,), dynamic_shapes=(sizes,), strict=False)


@contextlib.contextmanager
def one_sentence() -> Iterator[None]:
    """Turns what PyTorch says of a model that it cannot write, pages of it, into one sentence."""
    try:
        yield
    except Exception as error:
        said = UNSEEN.sub(" ", str(error)).split(".")[0]
        words = f"PyTorch cannot write this model for inputs of any length ({' '.join(said.split()):.100})"
        raise InputError(f"{words}; the formats keras and safetensors take every model") from error


class Module(torch.nn.Module):
    """A program as a PyTorch module, its weights as parameters under the names that `model.safetensors` has."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program
        self.traced: list[tuple[Any, torch.nn.Module, str]] = []
        for name, variable in named_variables(program.model).items():
            *path, last = name.split(".")
            part: torch.nn.Module = self
            for word in path:
                if word not in part._modules:
                    part.add_module(word, torch.nn.Module())
                part = part.get_submodule(word)
            values = variable.value.detach().clone().cpu()
            part.register_parameter(last, torch.nn.Parameter(values, requires_grad=False))
            self.traced.append((variable, part, last))

    def forward(self, token_ids: torch.Tensor) -> tuple[torch.Tensor, ...]:
        values = [(variable, getattr(part, name)) for variable, part, name in self.traced]
        with keras.StatelessScope(state_mapping=values), keras.device("cpu"):
            found = self.program(token_ids)
        return tuple(found[name] for name in self.program.outputs)


def run_torch(path: Path, program: Program) -> Runner:
    """Returns a function from encoded sources to the outputs of a .pt2 file by name."""
    with quiet():
        module = torch.export.load(path).module()

    def run(sources: list[list[int]]) -> dict[str, np.ndarray]:
        found = module(torch.from_numpy(program.padded(sources)))
        return {name: value.numpy() for name, value in zip(program.outputs, found, strict=True)}

    return run


def run_onnx(path: Path, program: Program) -> Runner:
    """Returns a function from encoded sources to the outputs of an .onnx file by name.

    Raises:
        BackendError: onnxruntime is not installed.
    """
    try:
        import onnxruntime
    except ImportError:
        raise BackendError(NEEDS_ONNX) from None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda sources: dict(zip(names, session.run(names, {"token_ids": program.padded(sources)}), strict=True))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keeps the exporters' notes on their own insides from the user."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
