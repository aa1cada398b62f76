"""Functions of a model, compiled where the backend compiles."""

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import keras
from keras import ops

from kzoo.annotations import Structure
from kzoo.errors import InputError

NO_MEMORY = re.compile(r"RESOURCE_EXHAUSTED|out of memory|allocate memory|bad_alloc", re.IGNORECASE)


def compile_for_backend(
    model: keras.Model, function: Callable[[Structure, int], Structure]
) -> Callable[[Structure, int], Structure]:
    """Returns `function(arrays, length)` compiled where the backend compiles, without gradients.

    Weights are arguments of the compiled function, so it stays right, and is not compiled again, when they change. Any
    number of threads may call it.
    """
    backend = keras.config.backend()
    if backend == "jax":
        import jax

        def stateless(values: Any, arrays: Structure, length: int) -> Structure:
            with keras.StatelessScope(state_mapping=list(zip(model.variables, values, strict=True))):
                return function(arrays, length)

        run = jax.jit(stateless, static_argnums=2)
        return lambda arrays, length: run([v.value for v in model.variables], arrays, length)
    if backend == "tensorflow":
        import tensorflow as tf

        return tf.function(function)
    import torch

    return torch.no_grad()(
        lambda arrays, length: function(keras.tree.map_structure(ops.convert_to_tensor, arrays), length)
    )


@contextlib.contextmanager
def memory_errors(rows: int, tokens: int) -> Iterator[None]:
    """Turns a backend's error that memory does not suffice into a sentence.

    Args:
        rows: int. Sequences that are computed together.
        tokens: int. Length of the longest.

    Raises:
        InputError: memory does not suffice.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, MemoryError) or NO_MEMORY.search(str(error)):
            raise InputError(
                f"memory does not suffice for {rows:,} x {tokens:,} tokens; give shorter inputs"
            ) from error
        raise
