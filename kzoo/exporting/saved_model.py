"""A model as a TensorFlow SavedModel, from TensorFlow itself or from JAX."""

import json
from pathlib import Path
from typing import Any

import keras
import numpy as np

from kzoo.errors import BackendError, InputError
from kzoo.exporting.program import Program

SIGNATURE = "serving_default"
PLATFORMS = ("cpu", "cuda")


def write_saved_model(program: Program, path: Path) -> None:
    """Writes a SavedModel folder with one signature, from `token_ids`; its description is `assets.extra/kzoo.json`.

    Raises:
        BackendError: TensorFlow is not installed.
    """
    tf = _tensorflow()
    module = tf.Module()
    if keras.config.backend() == "jax":
        from jax.experimental import jax2tf

        module.weights = [tf.Variable(np.asarray(v.value), trainable=False) for v in program.model.variables]

        def stateless(values: Any, token_ids: Any) -> Any:
            with keras.StatelessScope(state_mapping=list(zip(program.model.variables, values, strict=True))):
                return program(token_ids)

        function = jax2tf.convert(
            stateless,
            polymorphic_shapes=[None, "(batch, length)"],
            with_gradient=False,
            native_serialization_platforms=PLATFORMS,
        )
        answer = lambda token_ids: function(module.weights, token_ids)  # noqa: E731
    else:
        module.weights = [v.value for v in program.model.variables]
        answer = program
    spec = tf.TensorSpec((None, None), tf.int32, name="token_ids")
    module.answer = tf.function(answer, input_signature=[spec], autograph=False)
    try:
        tf.saved_model.save(module, str(path), signatures={SIGNATURE: module.answer})
    except tf.errors.OpError as error:  # as a full disk
        raise InputError(f"{path.parent} cannot be written ({' '.join(str(error).split()):.200})") from error
    (path / "assets.extra").mkdir()
    (path / "assets.extra" / "kzoo.json").write_text(json.dumps(program.description()), encoding="utf-8")


def run_saved_model(path: Path, program: Program) -> Any:
    """Returns a function from encoded sources to the outputs of a SavedModel folder by name."""
    tf = _tensorflow()
    loaded = tf.saved_model.load(str(path))

    def run(sources: list[list[int]]) -> dict[str, np.ndarray]:
        found = loaded.signatures[SIGNATURE](token_ids=tf.constant(program.padded(sources)))
        return {name: value.numpy() for name, value in found.items()}

    return run


def _tensorflow() -> Any:
    try:
        import tensorflow as tf
    except ImportError:
        raise BackendError(
            'saved_model needs TensorFlow, which is not installed: pip install "kzoo[tensorflow]"'
        ) from None
    return tf
